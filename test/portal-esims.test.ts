import { expect, test } from "vitest";
import { listSessions, viewAs } from "../src/core/accounts/sessions.ts";
import { listAudit } from "../src/core/audit/list.ts";
import { recordUsage } from "../src/core/esims/usage.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { person, startPages } from "./support/pages.ts";
import { create, lines } from "./support/quotes.ts";

async function sold() {
  const platform = await startPages();
  const caller = await platform.caller({ slug: "acme", live: true });
  await platform.fund(caller.partnerId, 10_000);
  const ids = await addProducts(platform.store, [{ sku: "EU-1", price_cents: 990, data_amount_mb: 5120 }]);
  const iccids = await addStock(platform.store, "EU-1", 3);
  const { body } = await create(caller, lines([ids["EU-1"], 2]));
  await platform.fulfill();
  // Those that are sold are the oldest ones.
  const [iccid = "", second = "", unsold = ""] = iccids;
  return { platform, caller, order: body, iccid, second, unsold };
}

test("an agent lists eSIMs, filters them, and opens one with its codes, QR code, links and usage", async () => {
  const { platform, order, iccid, second } = await sold();
  const report = { iccid, used_mb: 1024, total_mb: 5120, country: "FR", network: "Net", at: null };
  await platform.store.write(recordUsage, { reports: [report], actor: "test" });
  const agent = await person(platform, { partner: "acme", role: "agent" });
  const list = await agent.get("/portal/esims?status=inactive");
  expect(list.text).toContain(iccid);
  expect(list.text).toContain("1 GB of 5 GB");
  const used = list.page.querySelectorAll("meter").map((meter) => meter.getAttribute("value"));
  expect(used.sort()).toEqual(["0", "1024"]);
  expect((await agent.get("/portal/esims?status=expired")).text).toContain("No eSIMs here");
  expect((await agent.get(`/portal/esims?order=${order.order_number}`)).text).toContain(second);
  expect((await agent.get(`/portal/esims?order=${order.id}&product=EU-1`)).text).toContain(second);
  for (const none of ["order=ORD-1", "product=US-9", "expires_before=2026-04-01"]) {
    expect((await agent.get(`/portal/esims?${none}`)).text).toContain("No eSIMs here");
  }
  const csv = await agent.get("/portal/esims?format=csv");
  expect(csv.html.trim().split("\n")).toHaveLength(3);
  const one = await agent.get(`/portal/esims/${iccid}`);
  expect(one.text).toContain("1 GB of 5 GB");
  expect(one.text).toContain("LPA:1$smdp.example.net$MATCH");
  const [qr, install] = [
    one.page.querySelector("img.qr")?.getAttribute("src"),
    /\/install\/[\w-]+/.exec(one.html)?.[0],
  ];
  expect(qr).toMatch(/^\/qr\/[\w-]+\.png$/);
  expect((await agent.get(qr ?? "")).headers.get("content-type")).toBe("image/png");
  expect((await agent.get(install ?? "")).text).toContain("smdp.example.net");
});

test("an eSIM of another partner, one in stock and what is no ICCID are not found", async () => {
  const { platform, iccid, unsold } = await sold();
  await platform.caller({ slug: "globex", live: true });
  const viewer = await person(platform, { partner: "acme", role: "viewer" });
  expect((await viewer.get(`/portal/esims/${iccid}`)).status).toBe(200);
  for (const one of [unsold, "12", "x'y"]) expect((await viewer.get(`/portal/esims/${one}`)).status).toBe(404);
  const other = await person(platform, { partner: "globex", role: "owner" });
  const foreign = await other.get(`/portal/esims/${iccid}`);
  expect([foreign.status, foreign.text]).toEqual([404, expect.not.stringContaining("LPA")]);
  // The sandbox has its own.
  const there = await viewer.get("/portal/esims");
  const sandbox = await viewer.send(there, { environment: "sandbox" }, "/environment");
  expect([sandbox.status, (await viewer.get("/portal/esims")).text]).toEqual([
    200,
    expect.stringContaining("No eSIMs"),
  ]);
  expect((await viewer.get(`/portal/esims/${iccid}`)).status).toBe(404);
  const developer = await person(platform, { partner: "acme", role: "developer" });
  expect((await developer.get("/portal/esims")).status).toBe(403);
  expect((await developer.get(`/portal/esims/${iccid}`)).status).toBe(403);
});

test("staff that look at a partner's portal leave a line in the audit trail where they see codes", async () => {
  const { platform, caller, order, iccid } = await sold();
  const { store } = platform;
  const staff = await person(platform, { role: "support" });
  const [session] = await store.read(listSessions, staff.id);
  if (session === undefined) throw new Error("there is no session");
  await store.write(viewAs, { id: session.id, partnerId: caller.partnerId, actor: "test" });
  expect((await staff.get(`/portal/esims/${iccid}`)).text).toContain("LPA:1$");
  const [line] = await store.read(listAudit, { target: order.id, limit: 1 });
  expect(line).toMatchObject({ action: "orders.read-codes", actor: `user:${staff.id}`, note: "1 eSIM" });
});
