import { expect, test } from "vitest";
import { listAudit } from "../src/core/audit/list.ts";
import { walletBalances } from "../src/core/wallet/balances.ts";
import { addProducts, addStock, suppliedProducts } from "./support/catalog.ts";
import { type Person, person, startPages } from "./support/pages.ts";

/** A partner with money, and a way to place orders over the API. */
async function setUp() {
  const platform = await startPages();
  const products = await addProducts(platform.store, [
    ...suppliedProducts,
    { sku: "EU-5", price_cents: 500 },
    { sku: "SIM", price_cents: 700, product_type: "physical_sim", delivery_method: "shipping" },
  ]);
  const caller = await platform.caller({ slug: "acme", live: true });
  await platform.fund(caller.partnerId, 10_000);
  const place = async (sku: string, quantity: number) => {
    const line_items = [{ product_id: products[sku], quantity }];
    const headers = { "idempotency-key": crypto.randomUUID() };
    const { body } = await caller.send("POST", "/api/v1/orders", { line_items }, headers);
    await platform.fulfill();
    return { id: body.id as string, number: body.order_number as string, path: `/console/orders/${body.id}` };
  };
  const balance = async () =>
    (await platform.store.read(walletBalances, caller.partnerId)).balances.map(({ balance_cents }) => balance_cents);
  return { ...platform, place, balance, support: await person(platform, { role: "support" }) };
}

/** Gives the second factor where it is asked for. */
async function proved(who: Person, shown: Awaited<ReturnType<Person["get"]>>) {
  return shown.status === 403 ? who.send(shown, { code: who.code() }) : shown;
}

test("support finds an order in review, sees what an approval takes from stock, and approves it once", async () => {
  const { store, place, support, fulfill } = await setUp();
  const order = await place("EU-5", 2);
  const queue = await support.get("/console/orders?waiting=review");
  expect(queue.text).toContain(order.number);
  const shown = await support.get(order.path);
  expect(shown.text).toMatch(/waiting review.*acme \(production\).*10\.00 AUD.*ordered: 2 × EU-5/);
  const short = await support.get(`${order.path}/approve`);
  expect([short.status, short.text]).toEqual([409, expect.stringContaining("EU-5")]);
  const iccids = await addStock(store, "EU-5", 3);
  const foreseen = await support.get(`${order.path}/approve`);
  expect(foreseen.text).toContain("waiting review → fulfilled");
  expect(foreseen.text).toContain(`2 eSIMs of EU-5 (${iccids.slice(0, 2).join(", ")}) taken from stock`);
  const approved = await support.send(foreseen, {}, "/approve");
  expect([approved.path, approved.text]).toEqual([order.path, expect.stringContaining("is approved")]);
  expect((await support.send(foreseen, {}, "/approve")).text).toContain("nothing was done again");
  await fulfill();
  expect((await support.get(order.path)).text).toMatch(/Statusfulfilled/);
  const audit = await store.read(listAudit, { target: order.id, limit: 10 });
  expect(audit.find(({ action }) => action === "orders.approve")?.actor).toBe(`user:${support.id}`);
});

test("a cancellation asks for the second factor, shows the money that goes back, and moves it once", async () => {
  const { place, support, clock, balance } = await setUp();
  const order = await place("EU-5", 2);
  clock.advance(11 * 60_000);
  const form = await support.get(`${order.path}/cancel`);
  const missing = await proved(support, await support.send(form, { reason: " " }));
  expect([missing.status, missing.text]).toEqual([400, expect.stringContaining("Reason is required")]);
  const foreseen = await support.send(form, { reason: "ordered twice" });
  expect(foreseen.text).toMatch(/waiting review → cancelled.*10\.00 AUD go back to the wallet/);
  expect(await balance()).toEqual([9_000]);
  const done = await support.send(foreseen, {}, "/cancel");
  expect([done.path, done.text]).toEqual([order.path, expect.stringContaining("cancelled: ordered twice")]);
  await support.send(foreseen, {}, "/cancel");
  expect(await balance()).toEqual([10_000]);
  const again = await support.send(form, { reason: "ordered twice" });
  expect([again.status, again.text]).toEqual([409, expect.stringContaining("cancelled")]);
});

test("a part is refunded, and SIM cards are shipped and corrected", async () => {
  const { place, support, balance } = await setUp();
  const order = await place("SIM", 2);
  expect((await support.get("/console/orders?waiting=shipping")).text).toContain(order.number);
  const act = async (verb: string, typed: Record<string, string>) => {
    const foreseen = await support.send(await support.get(`${order.path}/${verb}`), typed);
    return [foreseen.text, (await support.send(foreseen, {}, `/${verb}`)).text] as const;
  };
  const [foreseen, shipped] = await act("ship", { carrier: "AusPost", tracking: "AP1" });
  expect(foreseen).toMatch(/paid → fulfilled.*2 × SIM count as shipped/);
  expect(shipped).toContain("AusPost, AP1");
  expect((await act("correct", { carrier: "AusPost", tracking: "AP2" }))[1]).toContain("AusPost, AP2");
  const bad = { carrier: "AusPost", tracking: "AP3", tracking_url: "javascript:alert(1)" };
  expect((await support.send(await support.get(`${order.path}/correct`), bad)).status).toBe(400);
  expect((await act("refund", { reason: "one is broken", units: "1", line: "1" }))[0]).toContain("7.00 AUD go back");
  expect(await balance()).toEqual([9_300]);
});

test("staff record by hand that a supplier failed", async () => {
  const { place, support } = await setUp();
  const order = await place("API", 1);
  const page = await support.get(order.path);
  const link = page.page.querySelectorAll("main a").find((one) => one.textContent === "northwind");
  const item = await support.get(link?.getAttribute("href") ?? "");
  expect(item.text).toContain(`Request to northwind for ${order.number}`);
  const form = await support.get(`${item.path}/fail`);
  const foreseen = await support.send(form, { error: "no_profile", message: "none left" });
  expect(foreseen.text).toMatch(/→ failed.*fails for good/);
  const failed = await support.send(foreseen, {}, "/fail");
  expect([failed.path, failed.text]).toEqual([item.path, expect.stringContaining("no_profile: none left")]);
  const history = failed.page.querySelector(".timeline")?.text;
  expect(history).toMatch(/item 1 \(northwind\) failed.*supplier item 1 \(northwind\) .*audit Pat support:.*fail/s);
  expect((await support.get(`${item.path}/retry`)).status).toBe(409);
  const other = await place("API", 1);
  expect((await support.get(item.path.replace(order.id, other.id))).status).toBe(404);
});

test("the list is filtered by its address, comes as CSV, and roles without the permission act on nothing", async () => {
  const platform = await setUp();
  const order = await platform.place("EU-5", 1);
  await platform.caller({ slug: "other", live: true });
  const listed = async (query: string) => (await platform.support.get(`/console/orders${query}`)).text;
  for (const query of [
    "",
    "?partner=acme",
    "?status=waiting_review",
    "?sku=EU-5",
    "?since=2026-03-02&until=2026-03-02",
  ])
    expect(await listed(query)).toContain(order.number);
  for (const query of ["?partner=other", "?status=paid", "?environment=sandbox", "?until=2026-03-01"])
    expect(await listed(query)).not.toContain(order.number);
  const csv = await platform.support.get("/console/orders?format=csv&status=waiting_review");
  expect(csv.html.split("\n")[1]).toMatch(new RegExp(`^${order.number},acme,waiting_review,EU-5,1,5.00,`));
  for (const role of ["finance", "viewer"] as const) {
    const reader = await person(platform, { role });
    const page = await reader.get(order.path);
    expect([page.status, page.text]).toEqual([200, expect.not.stringContaining("Approve")]);
    expect((await reader.get(`${order.path}/approve`)).status).toBe(403);
    expect((await reader.post(`${order.path}/cancel`, { reason: "x", confirmed: "yes" })).status).toBe(403);
  }
  expect((await platform.support.get(`/console/orders/${crypto.randomUUID()}`)).status).toBe(404);
});
