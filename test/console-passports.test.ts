import { expect, test } from "vitest";
import { listAudit } from "../src/core/audit/list.ts";
import { person, startPages } from "./support/pages.ts";
import { importRecords, passport } from "./support/passports.ts";

/** An agent's pool with one record, and a member of the support staff. */
async function setUp(who: { reveal?: boolean } = {}) {
  const platform = await startPages();
  const agent = await platform.caller({ slug: "agency", agent: true });
  const record = passport({ first_name: "Ottoline", last_name: "Farrowgate", passport_no: "PA7714209" });
  const [id = ""] = await importRecords(agent, [record]);
  const support = await person(platform, { role: "support", ...who });
  const audit = async () => platform.store.read(listAudit, { target: id, limit: 10 });
  return { ...platform, agent, record, id, path: `/console/passports/${id}`, support, audit };
}

const secrets = /Farrowgate|PA7714209|1975-03-13|Banksia/;

test("support verifies what awaits it, after the consequence was shown", async () => {
  const { id, path, record, support, audit } = await setUp();
  const queue = await support.get("/console/passports?verification=pending");
  expect(queue.text).toContain(record.reference);
  expect(queue.text).toContain("O. F.");
  expect(queue.html).not.toMatch(secrets);
  expect((await support.get("/console/passports?format=csv")).html).toContain(
    `${record.reference},agency,sandbox,O. F.`,
  );
  const shown = await support.get(path);
  expect(shown.text).toMatch(/Verificationpending.*Number••••••209/);
  expect(shown.html).not.toMatch(secrets);
  const foreseen = await support.send(await support.get(`${path}/verify`), { onshore: "onshore" });
  expect(foreseen.text).toMatch(/pending → verified; its holder is onshore.*can be drawn/);
  const done = await support.send(foreseen, {}, "/verify");
  expect([done.path, done.text]).toEqual([path, expect.stringContaining("Verificationverified")]);
  expect((await support.get("/console/passports")).text).toContain("Nothing awaits verification");
  expect((await audit()).find(({ action }) => action === "passports.verify")?.actor).toBe(`user:${support.id}`);
  const found = await support.send(queue, { number: "pa 7714209" }, "/search");
  expect([found.path, found.text]).toEqual(["/console/passports/search", expect.stringContaining(record.reference)]);
  expect(found.html).toContain(id);
  expect(found.html).not.toMatch(/7714209/);
});

test("a rejection needs a reason, which the page shows", async () => {
  const { path, support } = await setUp();
  const form = await support.get(`${path}/reject`);
  const missing = await support.send(form, { reason: "" });
  expect([missing.status, missing.text]).toEqual([400, expect.stringContaining("Reason is required")]);
  const foreseen = await support.send(missing, { reason: "photo page not legible" });
  expect(foreseen.text).toContain("It is drawn no more");
  const done = await support.send(foreseen, {}, "/reject");
  expect(done.text).toMatch(/Verificationrejected.*photo page not legible/);
});

test("a passport is revealed by the grant and a code, and the audit trail has who saw it", async () => {
  const { path, support, audit, clock } = await setUp({ reveal: true });
  const page = await support.get(path);
  expect(page.html).not.toMatch(/PA7714209|1975-03-13|Banksia/);
  clock.advance(11 * 60_000);
  const asked = await support.send(page, {}, "/reveal");
  expect(asked.status).toBe(403);
  expect(asked.html).not.toMatch(/PA7714209/);
  const shown = await support.send(asked, { code: support.code() });
  expect(shown.text).toMatch(/PA7714209.*219 Banksia Street/);
  expect(shown.headers.get("cache-control")).toBe("no-store");
  const line = (await audit()).find(({ action }) => action === "passports.reveal");
  expect(line?.actor).toBe(`user:${support.id}`);
});

test("roles without the permission reveal and decide nothing", async () => {
  const platform = await setUp();
  const { path, support } = platform;
  expect((await support.post(`${path}/reveal`, {})).status).toBe(403);
  const viewer = await person(platform, { role: "viewer" });
  const page = await viewer.get(path);
  expect([page.status, page.text]).toEqual([200, expect.not.stringContaining("Verify")]);
  expect((await viewer.post(`${path}/verify`, { onshore: "onshore", confirmed: "yes" })).status).toBe(403);
  const finance = await person(platform, { role: "finance" });
  expect((await finance.get("/console/passports")).status).toBe(403);
  expect((await finance.get(path)).status).toBe(403);
  expect((await support.get(`/console/passports/${crypto.randomUUID()}`)).status).toBe(404);
});
