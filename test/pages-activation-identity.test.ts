import { expect, test } from "vitest";
import { requireActivation } from "../src/core/activations/activation.ts";
import { openKyc } from "../src/core/activations/identity.ts";
import { listAudit } from "../src/core/audit/list.ts";
import { prepareExchanges } from "../src/daemon/workers/activations.ts";
import { ACTIVATIONS, expectNoIdentity, request } from "./support/activations.ts";
import { person, startPages } from "./support/pages.ts";
import { importRecords, makeDrawable, passport } from "./support/passports.ts";
import { csrfOf } from "./support/visitor.ts";

/** A partner with a pending request, its agent, and a member of the support staff. */
async function setUp() {
  const platform = await startPages();
  const acme = await platform.caller({ slug: "acme", agent: true, live: true });
  const { status, body } = await acme.send("POST", ACTIVATIONS, request({ activation_date: "2026-03-02" }));
  if (status !== 201) throw new Error(JSON.stringify(body));
  const id: string = body.id;
  const identity = (of = id) =>
    platform.store.read(async (q) => openKyc(q, await requireActivation(q, of as never))?.reveal(), null);
  const edits = async () =>
    (await platform.store.read(listAudit, { target: id, limit: 10 })).filter(
      ({ action }) => action === "activations.edit_identity",
    );
  const agent = await person(platform, { partner: "acme", role: "agent" });
  const support = await person(platform, { role: "support" });
  return { platform, acme, id, iccid: String(body.iccid), identity, edits, agent, support };
}

const at = (face: "portal" | "console", id: string) => `/${face}/activations/${id}`;

for (const face of ["portal", "console"] as const) {
  test(`${face}: a correction shows nothing of what is there, and what is left out stays`, async () => {
    const { id, iccid, identity, edits, agent, support } = await setUp();
    const who = face === "portal" ? agent : support;
    const before = await identity();
    const page = await who.get(at(face, id));
    expect(page.page.querySelector(`a[href="${at(face, id)}/identity"]`)?.textContent).toBe("Correct the identity");
    const form = await who.get(`${at(face, id)}/identity`);
    expect(form.status).toBe(200);
    expectNoIdentity(form.html.replaceAll(iccid, ""));
    expect(form.html).not.toMatch(/Philippa|Underwold|philippa/);
    expect(form.page.querySelectorAll("main input[type=text], main input[type=date]").length).toBe(16);
    const typed = { passport_no: "QX8342076", last_name: " Underwood ", empty_suburb: "yes" };
    const done = await who.send(form, typed, "/identity");
    expect([done.status, done.path]).toEqual([200, at(face, id)]);
    expect(done.text).toContain("The identity is corrected");
    expectNoIdentity(done.html.replaceAll(iccid, ""));
    expect(await identity()).toEqual({ ...before, passport_no: "QX8342076", last_name: "Underwood", suburb: null });
    // Sent twice, it is corrected once.
    expect((await who.send(form, typed, "/identity")).path).toBe(at(face, id));
    expect(await edits()).toMatchObject([{ actor: `user:${who.id}`, fields: ["last_name", "passport_no", "suburb"] }]);
  });
}

test("what is wrong is said beside its field, and nothing of the request is in the answer", async () => {
  const { id, iccid, identity, edits, agent } = await setUp();
  const before = await identity();
  const form = await agent.get(`${at("portal", id)}/identity`);
  for (const [typed, field, words] of [
    [{ puk: "1" }, "puk", "PUK must be 4 to 20 digits."],
    [{ customer_email: "no address" }, "customer_email", "E-mail must be"],
    [{ passport_expiry: "2026-03-01" }, "passport_expiry", "Passport expiry"],
    [{ suburb: "Dickson", empty_suburb: "yes" }, "suburb", "is to be emptied, too"],
  ] as const) {
    const refused = await agent.send(form, typed, "/identity");
    expect([refused.status, refused.page.querySelector(`#f-${field}-error`)?.textContent]).toEqual([
      400,
      expect.stringContaining(words),
    ]);
    // What was typed just now is there again, as in the form of a new request, kept by no cache; and nothing else.
    const shown = refused.page.querySelectorAll("main input[type=text], main input[type=date]");
    const filled = shown.flatMap((one) => {
      const value = one.getAttribute("value");
      return value === undefined ? [] : [[one.getAttribute("name"), value]];
    });
    expect(filled).toEqual([[field, Object(typed)[field]]]);
    expect(refused.headers.get("cache-control")).toBe("no-store");
    expectNoIdentity(refused.html.replaceAll(iccid, ""));
  }
  const missing = await agent.send(form, { empty_puk: "yes" }, "/identity");
  expect([missing.status, missing.text]).toEqual([400, expect.stringContaining("also needs: puk")]);
  expectNoIdentity(missing.html.replaceAll(iccid, ""));
  const none = await agent.send(form, {}, "/identity");
  expect([none.status, none.text]).toEqual([400, expect.stringContaining("Nothing was filled in")]);
  expect([await identity(), await edits()]).toEqual([before, []]);
});

test("a drawn passport goes back to the pool where another document takes its place", async () => {
  const { platform, acme, agent, identity } = await setUp();
  const { store } = platform;
  await makeDrawable(store, await importRecords(acme, [passport()]));
  const { passport_no: _, ...line } = request();
  const { body } = await acme.send("POST", `${ACTIVATIONS}/bulk`, { lines: [line] });
  const id: string = body.results[0].activation.id;
  await agent.send(await agent.get(`${at("portal", id)}/identity`), { passport_no: "ZZ1234567" }, "/identity");
  const row = await store.read((q) => requireActivation(q, id as never), null);
  expect([row.passport_id, (await identity(id))?.passport_no]).toEqual([null, "ZZ1234567"]);
});

test("a request with the carrier, another partner's, and roles that may not change are refused", async () => {
  const { platform, id, agent, support, identity } = await setUp();
  const before = await identity();
  await platform.caller({ slug: "globex", agent: true });
  const other = await person(platform, { partner: "globex", role: "owner" });
  const viewer = await person(platform, { partner: "acme", role: "viewer" });
  const finance = await person(platform, { role: "finance", reveal: true });
  const typed = { last_name: "Underwood" };
  for (const [who, face, status] of [
    [other, "portal", 404],
    [viewer, "portal", 403],
    [finance, "console", 403],
  ] as const) {
    const csrf = csrfOf(await who.get(`/${face}/account`));
    const path = `${at(face, id)}/identity`;
    expect([(await who.get(path)).status, (await who.post(path, { ...csrf, ...typed })).status]).toEqual([
      status,
      status,
    ]);
  }
  expect((await viewer.get(at("portal", id))).text).not.toContain("Correct the identity");
  expect((await support.get(`${at("console", crypto.randomUUID())}/identity`)).status).toBe(404);
  const form = await agent.get(`${at("portal", id)}/identity`);
  platform.clock.advance(5_000);
  await prepareExchanges(platform.store, new AbortController().signal);
  const late = await agent.send(form, typed, "/identity");
  expect([late.status, late.text]).toEqual([409, expect.stringContaining("only a pending one can be changed")]);
  expect((await support.get(`${at("console", id)}/identity`)).status).toBe(409);
  expect((await support.get(at("console", id))).text).not.toContain("Correct the identity");
  expect(await identity()).toEqual(before);
});
