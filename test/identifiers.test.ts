import { expect, test } from "vitest";
import { ACTIVATIONS, iccid, startActivationPlatform } from "./support/activations.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { deskOf } from "./support/desk.ts";
import type { Caller } from "./support/platform.ts";

const customer = { email: "mia@example.com", name: "Mia Chen" };

/** A platform at the present time, as the terminal is; two partners with funds, and three kinds of products. */
async function desk() {
  const platform = await startActivationPlatform({ start: new Date().toISOString() });
  const products = await addProducts(platform.store, [
    { sku: "PLAN" },
    { sku: "CARD", product_type: "physical_sim", delivery_method: "shipping" },
    { sku: "TRIP", product_type: "esim_qr_api", delivery_method: "supplier_email", supplier: "kestrel" },
  ]);
  await addStock(platform.store, "PLAN", 9);
  const acme = await platform.caller({ slug: "acme", live: true });
  const beta = await platform.caller({ slug: "beta", live: true });
  for (const { partnerId } of [acme, beta]) await platform.fund(partnerId, 100_000);
  const book = async (partner: Caller, external_order_id: string, sku: string, quantity = 1) => {
    const product_id = products[sku];
    const traveler = { product_id, customer_email: customer.email, customer_name: customer.name };
    const day = new Date().toISOString().slice(0, 10);
    const activation_requests = Array.from({ length: quantity }, () => ({ ...traveler, activation_date: day }));
    const order = { external_order_id, line_items: [{ product_id, quantity }], customer };
    const orders = [sku === "TRIP" ? { ...order, activation_requests } : order];
    const { body } = await partner.send("POST", "/api/v1/orders/bulk", { orders });
    expect(body.summary).toMatchObject({ successful: 1 });
    const id: string = body.results[0].service_order_id;
    const shown = await partner.get(`/api/v1/orders/${id}`);
    return { id, number: String(shown.body.order_number) };
  };
  return { ...platform, ...deskOf(platform), acme, beta, book };
}

test("an order is found by number, id, booking number or ICCID, locally and at a server", async () => {
  const { acme, beta, book, fulfill, json, refusal, run, at } = await desk();
  const order = await book(acme, "B-7", "PLAN");
  const pair = await book(acme, "B-8", "PLAN", 2);
  const twins = [await book(acme, "A-1", "PLAN"), await book(beta, "A-1", "PLAN")];
  // A booking number that looks like another order's number does not hide it.
  await book(beta, order.number, "PLAN");
  await fulfill();
  const esims = (await json("orders esims B-7")).esims;
  const remote = at(acme);
  for (const given of [order.id, order.number.toLowerCase(), "B-7", esims[0].iccid, esims[0].id]) {
    expect([given, (await json(`orders show ${given}`)).id]).toEqual([given, order.id]);
    if (given === esims[0].id) continue;
    expect([given, (await remote.json(`orders show ${given}`)).id]).toEqual([given, order.id]);
  }
  for (const terminal of [{ json }, remote]) {
    expect(await terminal.json("orders esims B-7")).toMatchObject({ order_id: order.id, count: 1 });
    expect(await terminal.json(`esims status ${order.number}`)).toMatchObject({ iccid: esims[0].iccid });
    expect(await terminal.json("esims status B-7")).toMatchObject({ iccid: esims[0].iccid });
  }
  const shared = await refusal("orders show A-1");
  expect(shared).toMatchObject({ exitCode: 2, code: "ambiguous" });
  for (const { number } of twins) expect(shared.message).toContain(number);
  expect(shared.message).toMatch(/\(acme, production, fulfilled\).*\(beta, production, fulfilled\)/);
  expect(await json("orders show A-1 --partner beta")).toMatchObject({ id: twins[1]?.id });
  expect(await remote.json("orders show A-1")).toMatchObject({ id: twins[0]?.id });
  expect(await refusal("orders cancel A-1 --reason no --yes")).toMatchObject({ exitCode: 2, code: "ambiguous" });
  for (const several of [
    await refusal("esims suspend B-8 --yes"),
    await remote.refusal(`esims status ${pair.number}`),
  ]) {
    expect(several).toMatchObject({ exitCode: 2, code: "ambiguous" });
    for (const { iccid } of (await json("orders esims B-8")).esims) expect(several.message).toContain(iccid);
  }
  expect(await json("esims suspend B-7 --yes")).toMatchObject({ iccid: esims[0].iccid, status: "suspended" });
  for (const terminal of [{ refusal }, remote]) {
    expect(await terminal.refusal("orders show B-9")).toMatchObject({ exitCode: 1, code: "not_found" });
  }

  const card = await book(acme, "C-1", "CARD");
  expect(await run("orders ship C-1 --carrier Post --tracking T1")).toMatchObject({ exitCode: 0 });
  expect(await json("orders show C-1")).toMatchObject({ id: card.id, status: "fulfilled" });
});

test("the only item of an order is found by the order", async () => {
  const { acme, book, json, refusal } = await desk();
  const one = await book(acme, "T-1", "TRIP");
  await book(acme, "T-2", "TRIP", 2);
  const confirmed = await json("activations confirm T-1 --number CN-1");
  expect(confirmed).toMatchObject({ order_id: one.id, status: "confirmed" });
  const esim = `--iccid 8944590004463637008 --activation-code LPA:1$smdp.example.net$AB-12`;
  expect(await json(`activations complete ${one.number} ${esim}`)).toMatchObject({ status: "activated" });
  const several = await refusal("activations confirm T-2 --number CN-2");
  expect(several).toMatchObject({ exitCode: 2, code: "ambiguous" });
  expect(several.message).toMatch(/names 2 records: [0-9a-f-]{36} \(ORD-.*, Mia Chen, .*pending\), [0-9a-f-]{36} \(/);
  expect(await refusal("activations fail NONE-1 --error x --message x")).toMatchObject({ code: "not_found" });
});

test("an activation request is found by ICCID in every verb, also when it has ended", async () => {
  const { acme, beta, clock, submit, work, json, refusal, run, at } = await desk();
  const sim = iccid();
  const today = new Intl.DateTimeFormat("en-CA", { timeZone: "Australia/Sydney" }).format(new Date());
  const first = await submit(acme, { iccid: sim, activation_date: today, passport_expiry: "2034-01-01" });
  // No partner is named: the request has one.
  expect(await json(`activations reschedule ${sim} --note soon`)).toMatchObject({ results: [{ iccid: sim }] });
  expect(await json(`activations cancel ${sim}`)).toMatchObject({ results: [{ iccid: sim, status: "cancelled" }] });
  expect(await json(`activations show ${sim}`)).toMatchObject({ id: first, status: "cancelled", note: "soon" });
  expect(await at(acme).json(`activations show ${sim}`)).toMatchObject({ id: first, status: "cancelled" });
  expect((await run(`activations show ${sim} --reveal`)).stdout).toContain("Underwold");
  expect(await refusal("activations cancel ORD-20260301-7KQ2M --yes")).toMatchObject({ exitCode: 2, code: "usage" });

  const second = await submit(beta, { iccid: sim, activation_date: today, passport_expiry: "2034-01-01" });
  expect(await json(`activations show ${sim}`)).toMatchObject({ id: second, status: "pending" });
  const other = await submit(acme, { activation_date: today, passport_expiry: "2034-01-01" });
  const mixed = await refusal(`activations cancel ${second} ${other} --yes`);
  expect(mixed).toMatchObject({ exitCode: 2, hint: expect.stringContaining("--partner") });
  clock.advance(5_000);
  await work();
  expect(await json(`activations confirm ${sim} --number P-1`)).toMatchObject({ id: second });
  const completed = await json(`activations complete ${sim} --mobile +61491570156`);
  expect(completed).toMatchObject({ id: second, status: "completed" });

  // Ended for two partners: ambiguous.
  const lost = iccid();
  for (const partner of [acme, beta]) {
    const id = await submit(partner, { iccid: lost, activation_date: today, passport_expiry: "2034-01-01" });
    await partner.send("POST", `${ACTIVATIONS}/${id}/cancel`);
  }
  const both = await refusal(`activations show ${lost}`);
  expect(both).toMatchObject({ exitCode: 2, code: "ambiguous" });
  expect(both.message).toMatch(/\(beta, production, .*cancelled\).*\(acme, production, .*cancelled\)/);
  expect(await json(`activations show ${lost} --partner acme`)).toMatchObject({ status: "cancelled" });
});
