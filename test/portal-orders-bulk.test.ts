import { expect, test } from "vitest";
import { addProducts, addStock } from "./support/catalog.ts";
import { person, startPages } from "./support/pages.ts";
import { createBulk, lines } from "./support/quotes.ts";
import type { Seen } from "./support/visitor.ts";

const HEAD = "external_order_id,sku,quantity,customer_email,customer_name";
const file = (...rows: string[]) => new Blob([[HEAD, ...rows].join("\n")], { type: "text/csv" });
const shown = (seen: Seen) => seen.page.querySelectorAll("tbody tr").map((row) => row.textContent.replace(/\s+/g, " "));

async function shop() {
  const platform = await startPages();
  const caller = await platform.caller({ slug: "acme", live: true });
  await platform.fund(caller.partnerId, 5_000);
  const ids = await addProducts(platform.store, [{ sku: "EU-1", price_cents: 1000 }]);
  await addStock(platform.store, "EU-1", 20);
  return { platform, caller, ids, agent: await person(platform, { partner: "acme", role: "agent" }) };
}

test("an agent places the orders of a file after their prices; it acts once, also with the API", async () => {
  const { caller, ids, agent } = await shop();
  const mia = { email: "mia@example.com", name: "Mia Chen" };
  await createBulk(caller, [{ external_order_id: "shop-1", ...lines([ids["EU-1"], 1]), customer: mia }]);
  const form = await agent.get("/portal/orders/bulk");
  const sent = file(
    "shop-1,EU-1,1,mia@example.com,Mia Chen",
    "shop-2,EU-1,1,ola@example.com,Ola Berg",
    "shop-2,EU-1,1,ola@example.com,Ola Berg",
    "shop-3,EU-1,9,ola@example.com,Ola Berg",
    "shop-4,US-1,1,ola@example.com,Ola Berg",
    "shop-5,EU-1,x,ola@example.com,Ola Berg",
    "shop-6,EU-1,1,nothing,Ola Berg",
    "shop-7,EU-1,1,ola@example.com,Ola Berg",
    "shop-7,EU-1,1,mia@example.com,Mia Chen",
  );
  const asked = await agent.send(form, { file: sent });
  expect([asked.status, asked.text]).toEqual([200, expect.stringContaining("Place 2 orders?")]);
  expect(shown(asked)).toEqual([
    "shop-11 × EU-110.00 AUDplaced before, nothing is charged",
    "shop-21 × EU-1, 1 × EU-120.00 AUDplaced",
    expect.stringMatching(/^shop-3.*90\.00 AUDrefused: /),
    expect.stringContaining("No product is called US-1."),
    expect.stringMatching(/^shop-5.*refused: line_items\.0\.quantity must be/),
    expect.stringMatching(/^shop-6.*refused: customer\.email must be/),
    expect.stringContaining("Line 10 names another customer."),
  ]);
  expect(asked.text).toContain("the wallet holds 40.00 AUD.");
  expect(asked.html).not.toContain("ola@example.com");
  const done = await agent.send(asked, {}, "/orders/bulk");
  expect([done.path, done.text]).toEqual(["/portal/orders", expect.stringContaining("2 orders placed.")]);
  await agent.send(asked, {}, "/orders/bulk");
  expect(shown(done).filter((text) => text.includes("ORD-"))).toHaveLength(2);
  expect((await agent.get("/portal/wallet")).text).toContain("20.00 AUD");
});

test("an order that got dearer since its price was shown is refused, and others are placed", async () => {
  const { platform, agent } = await shop();
  await addProducts(platform.store, [{ sku: "EU-2", price_cents: 100 }]);
  await addStock(platform.store, "EU-2", 1);
  const rows = file("a,EU-1,1,ola@example.com,Ola", "b,EU-2,1,ola@example.com,Ola");
  const asked = await agent.send(await agent.get("/portal/orders/bulk"), { file: rows });
  // What was shown in production is not placed in the sandbox.
  const here = await agent.send(asked, { environment: "sandbox" }, "/environment");
  expect((await agent.send(asked, {}, "/orders/bulk")).text).toContain("has to be chosen again");
  await agent.send(here, { environment: "production" }, "/environment");
  await addProducts(platform.store, [{ sku: "EU-1", price_cents: 1200 }]);
  const done = await agent.send(asked, {}, "/orders/bulk");
  expect(done.text).toContain("1 order placed, 1 refused");
  expect(shown(done)).toEqual([expect.stringMatching(/^a.*refused: .*12\.00/)]);
});

test("a viewer and a developer may not order, and a file without any order that can be placed says so", async () => {
  const { platform, agent } = await shop();
  const none = await agent.send(await agent.get("/portal/orders/bulk"), { file: file("a,US-1,1,x@example.com,X") });
  expect([none.status, none.text]).toEqual([409, expect.stringContaining("No order can be placed")]);
  expect((await agent.send(await agent.get("/portal/orders/bulk"), { file: new Blob([]) })).status).toBe(400);
  for (const role of ["viewer", "developer"] as const) {
    const one = await person(platform, { partner: "acme", role });
    expect((await one.get("/portal/orders/bulk")).status).toBe(403);
    expect((await one.post("/portal/orders/bulk", { confirmed: "yes" })).status).toBe(403);
  }
});
