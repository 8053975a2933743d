import { expect, test } from "vitest";
import { listAudit } from "../src/core/audit/list.ts";
import { prepareExchanges } from "../src/daemon/workers/activations.ts";
import { ACTIVATIONS, expectNoIdentity, request } from "./support/activations.ts";
import { type Person, person, startPages } from "./support/pages.ts";

/** A partner's requests, and a member of the support staff. */
async function setUp(who: { reveal?: boolean } = {}) {
  const platform = await startPages();
  const caller = await platform.caller({ slug: "acme", live: true });
  const submit = async (fields: Record<string, unknown> = {}) => {
    const { status, body } = await caller.send("POST", ACTIVATIONS, request(fields));
    if (status !== 201) throw new Error(JSON.stringify(body));
    return { id: body.id as string, iccid: body.iccid as string, path: `/console/activations/${body.id}` };
  };
  /** Its day has come: its carrier is worked by hand. */
  const submitDue = async () => {
    const due = await submit({ activation_date: "2026-03-02" });
    platform.clock.advance(5_000);
    await prepareExchanges(platform.store, new AbortController().signal);
    return due;
  };
  const dates = async () =>
    (await caller.get(`${ACTIVATIONS}?limit=100`)).body.data.map((one: Record<string, string>) => one.activation_date);
  const audit = async (target: string) => platform.store.read(listAudit, { target, limit: 10 });
  const support = await person(platform, { role: "support", ...who });
  return { ...platform, submit, submitDue, dates, audit, support };
}

const titled = (shown: Awaited<ReturnType<Person["get"]>>, title: string) =>
  shown.page.querySelectorAll(`td[data-title="${title}"]`).map((cell) => cell.textContent);

test("thirty requests are moved by two days, of which one is refused and named", async () => {
  const { submit, submitDue, dates, support, audit } = await setUp();
  const due = await submitDue();
  const open: Awaited<ReturnType<typeof submit>>[] = [];
  for (let made = 0; made < 29; made++) open.push(await submit());
  const list = await support.get("/console/activations?partner=acme");
  const chosen = list.page.querySelectorAll('input[name="id"]').map((box) => box.getAttribute("value") ?? "");
  expect(chosen).toHaveLength(30);
  const missing = await support.send(list, { id: chosen, act: "move" }, "/bulk");
  expect([missing.status, missing.text]).toEqual([400, expect.stringContaining("a new date is required")]);
  const foreseen = await support.send(missing, { id: chosen, days: "2", act: "move" }, "/bulk");
  expect(foreseen.text).toMatch(/^Move 29 activations\?1 request refused/);
  expect(new Set(titled(foreseen, "New date"))).toEqual(new Set(["2026-03-12", "–"]));
  const refused = foreseen.page.querySelectorAll("tr").find((row) => row.textContent.includes("it is processing"));
  expect(refused?.textContent).toContain(due.iccid);
  expect(new Set(await dates())).toEqual(new Set(["2026-03-10", "2026-03-02"]));
  const confirmed = { id: chosen };
  const moved = await support.send(foreseen, confirmed, "/bulk");
  expect(moved.text).toMatch(/^29 requests moved\./);
  expect(moved.text).toContain("only a pending request can be changed");
  expect((await support.send(foreseen, confirmed, "/bulk")).text).toContain("nothing was done again");
  expect((await dates()).filter((date: string) => date === "2026-03-12")).toHaveLength(29);
  const [line] = await audit(open[0]?.id ?? "");
  expect(line).toMatchObject({ actor: `user:${support.id}`, action: "activations.edit" });
});

test("a request is moved to a day or cancelled on its own page", async () => {
  const { submit, support } = await setUp();
  const { path } = await submit();
  const past = await support.send(await support.get(path), { date: "2026-01-01", act: "move" }, "/bulk");
  expect(past.text).toMatch(/^Nothing can be changed.*the date is past in Sydney/);
  const foreseen = await support.send(await support.get(path), { date: "2026-03-20", act: "move" }, "/bulk");
  const moved = await support.send(foreseen, {}, "/bulk");
  expect([moved.path, moved.text]).toEqual([path, expect.stringMatching(/1 request moved.*2026-03-20 \(Sydney\)/)]);
  const cancelling = await support.send(moved, { reason: "not traveling", act: "cancel" }, "/bulk");
  const cancelled = await support.send(cancelling, {}, "/bulk");
  expect(cancelled.text).toMatch(/Statuscancelled.*cancelled: not traveling/);
  expect(cancelled.text).not.toContain("Move or cancel");
});

test("a customer is searched for by a name that is in no address, and is shown as initials", async () => {
  const { submit, support } = await setUp();
  const { iccid } = await submit({ first_name: "Ottoline", last_name: "Farrowgate" });
  const other = await submit();
  const found = await support.send(await support.get("/console/activations"), { customer: "farrow" });
  expect(found.path).toBe("/console/activations/search");
  expect(found.text).toContain(iccid);
  expect(found.text).toContain("O. F.");
  expect(found.html).not.toMatch(/Farrowgate/);
  expect(found.text).not.toContain(other.iccid);
  const none = await support.send(found, { customer: "Xanthippe" }, "/search");
  expect(none.text).toContain("No activation names such a customer");
  const csv = await support.get("/console/activations?format=csv&status=pending&from=2026-03-10&to=2026-03-10");
  expect(csv.html.trim().split("\n")).toHaveLength(3);
  expect(csv.html).toContain(`${iccid},acme,2026-03-10,pending,O. F.,`);
});

test("staff confirm, complete and correct by hand what waits for them; a failure is shown first", async () => {
  const { submitDue, support } = await setUp();
  const { path, iccid } = await submitDue();
  expect((await support.get("/console/activations?waiting=staff")).text).toContain(iccid);
  expect((await support.get("/console/activations?waiting=carrier")).text).not.toContain(iccid);
  const act = async (verb: string, typed: Record<string, string>) => {
    const foreseen = await support.send(await support.get(`${path}/${verb}`), typed);
    return [foreseen.text, foreseen.status === 200 ? (await support.send(foreseen, {}, `/${verb}`)).text : ""] as const;
  };
  expect((await act("confirm", { number: "CN-1" }))[0]).toMatch(/of P\. U\. is confirmed with CN-1.*→ confirmed/);
  expect((await act("fail", { error: "sim_blocked", message: "blocked" }))[0]).toContain("fails for good");
  expect((await support.get(`${path}/retry`)).status).toBe(409);
});

test("a completed request shows the last digits of its number", async () => {
  const { submitDue, support } = await setUp();
  const { path } = await submitDue();
  const wrong = await support.send(await support.get(`${path}/complete`), { mobile: "12" });
  expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining("Mobile number must be")]);
  const foreseen = await support.send(wrong, { mobile: "0491570156" });
  expect(foreseen.text).toMatch(/completed for good with the number \+61491570156.*processing → completed/);
  const done = await support.send(foreseen, {}, "/complete");
  expect(done.text).toMatch(/Mobile number•••156.*number •••156/);
  const corrected = await support.send(await support.get(`${path}/correct`), { mobile: "+61491570157" });
  expect(corrected.text).toContain("from •••156 to +61491570157");
  expect((await support.send(corrected, {}, "/correct")).text).toContain("Mobile number•••157");
});

test("an identity is revealed by the grant and a code, and the audit trail has who saw it", async () => {
  const { submit, support, audit, clock } = await setUp({ reveal: true });
  const { id, path } = await submit();
  const page = await support.get(path);
  expectNoIdentity(page.text);
  clock.advance(11 * 60_000);
  const asked = await support.send(page, {}, "/reveal");
  expect([asked.status, asked.text]).toEqual([403, expect.stringContaining("second factor")]);
  expect((await audit(id)).some(({ action }) => action === "activations.reveal")).toBe(false);
  const shown = await support.send(asked, { code: support.code() });
  expect(shown.text).toMatch(/QX8342075.*2029-12-20.*philippa@example\.com/);
  expect(shown.headers.get("cache-control")).toBe("no-store");
  const line = (await audit(id)).find(({ action }) => action === "activations.reveal");
  expect(line).toMatchObject({ actor: `user:${support.id}`, fields: expect.arrayContaining(["passport_no"]) });
});

test("without the grant nothing is revealed, and roles that may not write change nothing", async () => {
  const platform = await setUp();
  const { id, path } = await platform.submit();
  expect((await platform.support.get(path)).text).not.toContain("Reveal");
  expect((await platform.support.post(`${path}/reveal`, {})).status).toBe(403);
  const viewer = await person(platform, { role: "viewer" });
  const page = await viewer.get(path);
  expect([page.status, page.text]).toEqual([200, expect.not.stringContaining("Move or cancel")]);
  const finance = await person(platform, { role: "finance", reveal: true });
  for (const other of [viewer, finance]) {
    expect((await other.post("/console/activations/bulk", { id, act: "cancel", confirmed: "yes" })).status).toBe(403);
    expect((await other.post(`${path}/fail`, { error: "x", message: "x" })).status).toBe(403);
  }
  // The grant alone does not lead to records that the role does not see.
  const csrf = (await finance.get("/console/orders")).page.querySelector('input[name="_csrf"]')?.getAttribute("value");
  expect((await finance.post(`${path}/reveal`, { _csrf: csrf ?? "" })).status).toBe(403);
  expect((await platform.audit(id)).some(({ action }) => action === "activations.reveal")).toBe(false);
  expect((await platform.support.get(`/console/activations/${crypto.randomUUID()}`)).status).toBe(404);
});
