import { expect, test } from "vitest";
import { settleSandbox } from "../src/daemon/workers/all.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { type Person, person, startPages } from "./support/pages.ts";
import { CLOCK, running } from "./support/sandbox.ts";

const PAGE = "/portal/developers/sandbox";

async function opened() {
  const platform = await startPages();
  const caller = await platform.caller({ slug: "acme" });
  const developer = await person(platform, { partner: "acme", role: "developer" });
  await toSandbox(developer);
  return { platform, caller, developer };
}

async function toSandbox(who: Person): Promise<void> {
  await who.send(await who.get("/portal"), { environment: "sandbox" });
}

test("the clock is advanced by a span or to a time, and set back", async () => {
  const { developer, caller } = await opened();
  const page = await developer.get(PAGE);
  expect(page.text).toContain("Aheadnot ahead");
  const week = await developer.send(page, { advance: "7d" });
  expect(week.text).toContain("The clock shows 9 Mar 2026, 01:00 now.");
  expect(week.text).toContain("Ahead7 days");
  const month = await developer.send(week, { advance: "p1m" });
  expect(month.text).toContain("The clock shows 9 Apr 2026, 01:00 now.");
  const dated = await developer.send(month, { to: "2026-05-01T09:30" });
  expect(dated.text).toContain("The clock shows 1 May 2026, 09:30 now.");
  expect((await caller.get(CLOCK)).body.now).toBe("2026-05-01T09:30:00.000Z");
  const back = await developer.send(dated, { to: "2026-04-30T00:00" });
  expect([back.status, back.text]).toEqual([400, expect.stringContaining("Advance to must go forward.")]);
  const unclear = await developer.send(dated, { advance: "soon" });
  expect(unclear.text).toContain("Advance by must be an ISO 8601 duration such as P7D or PT36H.");
  const far = await developer.send(dated, { advance: "900d" });
  expect(far.text).toContain("would be more than 400 days ahead");
  const reset = await developer.send(dated, {}, `${PAGE}/reset`);
  expect(reset.text).toContain("The clock shows the system's time again.");
  expect((await caller.get(CLOCK)).body.ahead_ms).toBe(0);
});

test("a report moves a sandbox eSIM as its supplier's would", async () => {
  const { developer, caller, platform } = await opened();
  const products = await addProducts(platform.store, [{ sku: "EU-1", price_cents: 990, validity_days: 7 }]);
  await addStock(platform.store, "EU-1", 5);
  const order = { line_items: [{ product_id: products["EU-1"], quantity: 1 }] };
  const { body } = await caller.send("POST", "/api/v1/orders", order, { "idempotency-key": "one" });
  await platform.fulfill();
  const { body: delivered } = await caller.get(`/api/v1/orders/${body.id}/esims`);
  const { iccid } = delivered.esims[0];
  const page = await developer.get(PAGE);
  const typed = `${iccid.slice(0, 4)} ${iccid.slice(4)}`;
  const active = await developer.send(page, { iccid: typed, event: "activated" });
  expect(active.text).toContain(`eSIM ${iccid} is active, 0 of`);
  expect(active.page.querySelector("#f-iccid")?.getAttribute("value")).toBe(iccid);
  const unknown = await developer.send(active, { iccid: "8900000000000000009", event: "usage", used_mb: "5" });
  expect([unknown.status, unknown.text]).toEqual([400, expect.stringContaining("ICCID is no eSIM of your sandbox.")]);
  expect(unknown.page.querySelector("#f-used_mb")?.getAttribute("value")).toBe("5");
  expect(unknown.page.querySelector("#f-iccid")?.getAttribute("value")).toBe("8900000000000000009");
  const silent = await developer.send(active, { event: "usage" });
  expect([silent.status, silent.text]).toEqual([400, expect.stringContaining("Megabytes used in all is required")]);
  expect((await developer.send(active, { event: "usage", used_mb: "-1" })).status).toBe(400);
  const used = await developer.send(active, { event: "usage", used_mb: "900" });
  expect(used.text).toMatch(/is active, 900 of [\d,]+ MB used/);
  await developer.send(used, { advance: "8d" });
  expect((await developer.get(PAGE)).text).toContain("What came due is being done");
  await settleSandbox(platform, running);
  expect((await caller.get(`/api/v1/esims/${iccid}/status`)).body.status).toBe("expired");
  const refused = await developer.send(used, { event: "suspended" });
  expect(refused.status).toBe(409);
  expect((await developer.send(page, { iccid: "123", event: "expired" })).status).toBe(400);

  await platform.caller({ slug: "other" });
  const stranger = await person(platform, { partner: "other", role: "owner" });
  await toSandbox(stranger);
  const theirs = await stranger.send(await stranger.get(PAGE), { iccid, event: "resumed" });
  expect([theirs.status, theirs.text]).toEqual([400, expect.stringContaining("is no eSIM of your sandbox.")]);
});

test("production says where the sandbox is, and moves nothing", async () => {
  const { platform, developer } = await opened();
  const page = await developer.get(PAGE);
  await developer.send(await developer.get("/portal"), { environment: "production" });
  const elsewhere = await developer.get(PAGE);
  expect(elsewhere.text).toContain("you are in the production environment");
  expect(elsewhere.text).toContain("insufficient_balance");
  expect((await developer.send(page, { advance: "7d" })).status).toBe(403);
  const there = await developer.send(elsewhere, {}, "/environment");
  expect(there.text).toContain("You are in the sandbox now.");
  const agent = await person(platform, { partner: "acme", role: "agent" });
  expect((await agent.get(PAGE)).status).toBe(403);
});
