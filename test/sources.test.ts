import { expect, test } from "vitest";
import { findProductBySku } from "../src/core/catalog/product.ts";
import { noteFault } from "../src/core/supply/circuit.ts";
import { createMailer } from "../src/daemon/gateways/mailer.ts";
import { createSignedExchange } from "../src/daemon/gateways/signed-exchange.ts";
import { createSupplierGateway } from "../src/daemon/gateways/suppliers.ts";
import { addProducts } from "./support/catalog.ts";
import { type SupplierDesk, supplierDesk } from "./support/supplier-desk.ts";
import { placeOrder, supplyDue } from "./support/supplies.ts";

const own = { product_type: "esim_qr_api", delivery_method: "supplier_api", supplier: "ea" } as const;

async function sold({ platform }: SupplierDesk, sku: string) {
  await addProducts(platform.store, [{ sku, currency: "USD", price_cents: 300, ...own }]);
}

test("a product's sources are added, changed, listed by priority, and removed", async () => {
  const here = await supplierDesk();
  const { desk, platform, provider } = here;
  await sold(here, "JP");
  await desk.json(`suppliers set two --adapter esimaccess --url ${provider.url} --secret ${provider.secret}`);
  const add = "sources add JP --supplier";
  expect(await desk.json(`${add} ea --supplier-sku CJP101 --priority 2 --cost 0.7 --currency usd`)).toEqual({
    ...{ sku: "JP", supplier: "ea", supplier_sku: "CJP101", days: null, priority: 2 },
    ...{ cost: "0.7000", currency: "USD", status: "active" },
  });
  await desk.json(`${add} two --supplier-sku DJP1 --days 7 --priority 1`);
  expect(await desk.json("sources list JP")).toMatchObject({
    data: [
      { supplier: "two", supplier_sku: "DJP1", days: 7, priority: 1, cost: null, currency: null },
      { supplier: "ea", priority: 2, cost: "0.7000", currency: "USD" },
    ],
    count: 2,
  });
  // The first source is what the product costs; again with the same supplier changes the source.
  expect(await platform.store.read(findProductBySku, "JP")).toMatchObject({
    supplier: "two",
    cost: null,
    sourced: true,
  });
  await desk.json(`${add} ea --supplier-sku CJP101 --priority 1 --cost 0.65 --currency USD`);
  await desk.json(`${add} two --supplier-sku DJP1 --days 7 --priority 3`);
  const first = { supplier: "ea", cost: 6_500, cost_currency: "USD" };
  expect(await platform.store.read(findProductBySku, "JP")).toMatchObject(first);
  // Another plan is another thing: its cost is not known.
  expect(await desk.json(`${add} ea --supplier-sku CJP103 --priority 1`)).toMatchObject({ cost: null, currency: null });

  const unasked = await desk.run("sources remove JP --supplier two");
  expect([unasked.exitCode, unasked.stderr]).toEqual([2, expect.stringContaining("--yes")]);
  expect(await desk.json("sources remove JP --supplier two --yes")).toEqual({ sku: "JP", supplier: "two" });
  expect(await desk.refusal("sources remove JP --supplier ea --yes")).toMatchObject({ code: "conflict" });
  await desk.json("products update JP --status inactive");
  await desk.json("sources remove JP --supplier ea --yes");
  expect((await desk.run("sources list JP")).stdout).toContain("no sources");
});

test("a source that cannot be bought is refused by name", async () => {
  const here = await supplierDesk();
  const { desk, platform } = here;
  await sold(here, "JP");
  await addProducts(platform.store, [{ sku: "STOCKED" }]);
  await desk.json("suppliers set kestrel --adapter email --to orders@kestrel.example");
  const refusal = async (line: string) => {
    const { code, message } = await desk.refusal(`sources add ${line}`);
    return `${code}: ${message}`;
  };
  const plan = "--supplier ea --supplier-sku CJP101 --priority 1";
  expect(await refusal(`JP --supplier kestrel --supplier-sku X --priority 1`)).toContain("provider's API");
  expect(await refusal(`JP --supplier none --supplier-sku X --priority 1`)).toContain("not_found");
  expect(await refusal(`NONE ${plan}`)).toContain("not_found");
  expect(await refusal(`STOCKED ${plan}`)).toContain("stock");
  expect(await refusal(`JP ${plan} --cost 1.2`)).toContain("needs its currency");
  expect(await refusal(`JP ${plan} --cost 1.23456 --currency USD`)).toContain("plain decimal");
  expect(await refusal(`JP ${plan} --cost 1.2 --currency XXY`)).toContain("ISO 4217");
  expect(await refusal(`JP ${plan} --days 0`)).toContain("usage");
  expect(await refusal(`JP --supplier ea --supplier-sku CJP101 --priority 0`)).toContain("usage");
  expect((await desk.json("sources list JP")).count).toBe(0);
});

test("an order shows where each unit is bought, at what cost and why; its partner sees none of that", async () => {
  const here = await supplierDesk();
  const { desk, platform, provider } = here;
  const { store } = platform;
  const [live] = [await platform.caller({ slug: "acme", live: true })];
  await platform.fund(live.partnerId, 100_000, "USD");
  await desk.json(`suppliers set down --adapter esimaccess --url ${provider.url} --secret ${provider.secret}`);
  await desk.json("suppliers sync ea --markup 35 --only JP");
  await desk.json("sources add CJP101 --supplier ea --supplier-sku CJP101 --priority 2");
  await desk.json("sources add CJP101 --supplier down --supplier-sku CJP101 --priority 1 --cost 0.6 --currency USD");
  const fault = { supplier: "down", probe: null, reason: "no answer" };
  for (let nth = 0; nth < 5; nth++) await store.write(noteFault, fault);
  const { suppliers } = await desk.json("status");
  expect(suppliers).toMatchObject([
    { name: "down", circuit: "open", since: expect.any(String), reason: expect.stringContaining("no answer") },
    { name: "ea", circuit: "closed", since: null, reason: null },
  ]);
  expect((await desk.run("status")).stdout).toMatch(/Nothing is bought from down since .*no answer/);

  const id = await placeOrder(live, (await store.read(findProductBySku, "CJP101"))?.id, 2);
  const exchange = createSignedExchange(platform.clock.now);
  const gateway = createSupplierGateway({ exchange, mailer: createMailer(undefined), publicUrl: "http://esim.test" });
  const log = { error: console.error, warn() {}, info() {} };
  for (let round = 0; round < 6; round++) {
    await supplyDue({ store, gateway, log });
    platform.clock.advance(10_000);
  }
  await exchange.close();
  const shown = await desk.json(`orders show ${id}`);
  expect(shown.items).toHaveLength(2);
  for (const item of shown.items) {
    expect(item).toMatchObject({
      ...{ supplier: "ea", supplier_sku: "CJP101", cost: "0.7000", cost_currency: "USD" },
      reason: expect.stringMatching(/priority 2.*down \(circuit open/),
    });
  }
  expect((await desk.run(`orders show ${id}`)).stdout).toContain("0.7000 USD");
  expect(JSON.stringify(await desk.json(`orders show ${id} --partner acme`))).not.toContain("cost");
  expect((await live.get(`/api/v1/orders/${id}`)).body).not.toHaveProperty("items");
});
