import { expect, test } from "vitest";
import { openEvent } from "../src/core/outbox/event-payload.ts";
import type { Read } from "../src/core/store/store.ts";
import { iccid, startActivationPlatform } from "./support/activations.ts";
import { addProducts } from "./support/catalog.ts";
import { deskOf } from "./support/desk.ts";
import { suppliedEsim } from "./support/supplies.ts";

/** A platform at the present time with two kinds of products, a partner with funds, and its SIMs at the carrier. */
async function desk() {
  const platform = await startActivationPlatform({ start: new Date().toISOString() });
  const { store, clock, submit, work } = platform;
  const products = await addProducts(store, [
    { sku: "CARD", product_type: "physical_sim", delivery_method: "shipping" },
    { sku: "TRIP", product_type: "esim_qr_api", delivery_method: "supplier_email", supplier: "kestrel" },
  ]);
  const acme = await platform.caller({ slug: "acme", live: true });
  await platform.fund(acme.partnerId, 100_000);
  const today = new Intl.DateTimeFormat("en-CA", { timeZone: "Australia/Sydney" }).format(new Date());
  return {
    ...platform,
    ...deskOf(platform),
    acme,
    /** A SIM that staff work in the carrier's portal. */
    async atCarrier() {
      const sim = iccid();
      const id = await submit(acme, { iccid: sim, activation_date: today, passport_expiry: "2034-01-01" });
      clock.advance(5_000);
      await work();
      return { id, sim };
    },
    async order(sku: string) {
      const product_id = products[sku];
      const traveler = { product_id, customer_email: "mia@example.com", customer_name: "Mia Chen" };
      const line = { line_items: [{ product_id, quantity: 1 }] };
      const activation_requests = [{ ...traveler, activation_date: new Date().toISOString().slice(0, 10) }];
      const body = sku === "TRIP" ? { ...line, activation_requests } : line;
      const { body: order } = await acme.send("POST", "/api/v1/orders", body, {
        "idempotency-key": crypto.randomUUID(),
      });
      return { id: String(order.id), number: String(order.order_number) };
    },
    eventsOf: (id: string, kind: string) =>
      store.read(async (q: Read) => {
        const rows = await q.db.select().from(q.t.events).orderBy(q.t.events.id);
        const own = rows.filter((row) => row.subject_id === id && row.kind === kind);
        return own.map((row) => Object(openEvent(q, row)?.data));
      }, null),
  };
}

test("a mobile number is checked before it is final, and can be corrected afterwards", async () => {
  const { acme, atCarrier, clock, json, refusal, run, eventsOf } = await desk();
  const { id, sim } = await atCarrier();
  for (const wrong of ["12", "+61", "04915701", "call me", "+61491570156x9"]) {
    const refused = await refusal(`activations complete ${sim} --mobile "${wrong}"`);
    expect([wrong, refused]).toMatchObject([wrong, { exitCode: 1, code: "validation" }]);
    expect(refused.message).toMatch(/\+61491570156, or a number of Australia/);
  }
  expect(await refusal(`activations correct ${sim} --mobile 0491570156`)).toMatchObject({ code: "conflict" });
  const missing = await refusal(`activations complete ${sim}`);
  expect(missing).toMatchObject({ exitCode: 2, message: expect.stringContaining("--mobile") });
  const done = await run(`activations complete ${sim} --mobile "0491 570 156"`);
  expect(done).toMatchObject({ exitCode: 0 });
  const final = "is completed for good with the number +61491570156";
  expect(done.stderr).toContain(`SIM ${sim} of Philippa Underwold ${final}`);
  const path = `/api/v1/activations/${id}`;
  expect((await acme.get(path)).body).toMatchObject({ status: "completed", mobile_number: "+61491570156" });

  clock.advance(60_000);
  const corrected = await run(`activations correct ${sim} --mobile +61491570157`);
  expect(corrected).toMatchObject({ exitCode: 0 });
  expect(corrected.stderr).toContain("its number changes from +61491570156 to +61491570157");
  expect((await acme.get(path)).body).toMatchObject({ status: "completed", mobile_number: "+61491570157" });
  const [first, second, ...none] = await eventsOf(id, "activation.activated");
  expect([first.mobile_number, first.corrected_at, none]).toEqual(["+61491570156", undefined, []]);
  expect(second).toEqual({ ...first, mobile_number: "+61491570157", corrected_at: expect.any(String) });
  expect(Date.parse(second.corrected_at)).toBeGreaterThan(Date.parse(second.activated_at));
  const { data } = await json(`audit list --target ${id}`);
  expect(data[0]).toMatchObject({ action: "activations.correct", fields: ["mobile_number"] });
  expect(JSON.stringify(data)).not.toContain("61491570157");
  const same = await refusal(`activations correct ${sim} --mobile 0491570157`);
  expect(same).toMatchObject({ exitCode: 1, code: "conflict" });
  expect(await eventsOf(id, "activation.activated")).toHaveLength(2);
});

test("the eSIM of an item is corrected while it is not in use: its links show the new code", async () => {
  const { acme, order, json, refusal, eventsOf } = await desk();
  const { id, number } = await order("TRIP");
  const [wrong, right, third] = [1, 2, 3].map(suppliedEsim);
  const typed = (esim = wrong) => `--iccid ${esim?.iccid} --activation-code ${esim?.activation_code}`;
  const { id: item } = await json(`activations complete ${number} ${typed()}`);
  const before = (await acme.get(`/api/v1/orders/${id}/esims`)).body.esims[0];
  await json(`activations correct ${number} ${typed(right)}`);
  const { esims, count } = (await acme.get(`/api/v1/orders/${id}/esims`)).body;
  expect(count).toBe(1);
  expect(esims[0]).toMatchObject({ id: before.id, qr_code_url: before.qr_code_url, ...right });
  expect((await acme.get(`/api/v1/esims/${wrong?.iccid}/status`)).status).toBe(404);
  expect((await acme.get(`/api/v1/esims/${right?.iccid}/status`)).body).toMatchObject({ order_id: id });
  const events = await eventsOf(item, "activation.activated");
  expect(events).toMatchObject([{ iccid: wrong?.iccid }, { iccid: right?.iccid, corrected_at: expect.any(String) }]);
  expect((await json(`audit list --target ${item}`)).data[0]).toMatchObject({
    action: "items.correct",
    fields: ["iccid", "activation_code"],
  });
  const twice = await order("TRIP");
  await json(`activations complete ${twice.number} ${typed(third)}`);
  expect(await refusal(`activations correct ${number} ${typed(third)}`)).toMatchObject({ code: "validation" });
  expect(await refusal(`activations correct ${number} --mobile +61491570156`)).toMatchObject({ exitCode: 2 });
  await json(`esims activate ${right?.iccid}`);
  expect(await refusal(`activations correct ${number} ${typed()}`)).toMatchObject({ exitCode: 1, code: "conflict" });
});

test("a shipment's carrier and tracking number are corrected, and the partner is notified again", async () => {
  const { acme, order, json, refusal, run, eventsOf } = await desk();
  const { id, number } = await order("CARD");
  const early = await refusal(`orders ship ${number} --correct --carrier Post --tracking T2`);
  expect(early).toMatchObject({ exitCode: 1, code: "conflict" });
  await json(`orders ship ${number} --carrier Post --tracking T1 --tracking-url https://post.example/T1`);
  const delivery = async () => (await acme.get(`/api/v1/orders/${id}`)).body.line_items[0].fulfillment;
  const { shipped_at } = await delivery();
  const corrected = await run(`orders ship ${number} --correct --carrier Courier --tracking T2`);
  expect(corrected).toMatchObject({ exitCode: 0 });
  expect(corrected.stderr).toContain(`${number}: stays fulfilled; sent by Courier, tracking T2`);
  const now = { status: "shipped", carrier: "Courier", tracking_number: "T2", tracking_url: null, shipped_at };
  expect(await delivery()).toEqual(now);
  const events = await eventsOf(id, "order.fulfilled");
  expect(events).toHaveLength(2);
  expect(events[1]).toEqual({ ...events[0], corrected_at: expect.any(String) });
  expect((await json(`audit list --target ${number}`)).data[0]).toMatchObject({
    action: "orders.correct_shipment",
    fields: ["carrier", "tracking_number", "tracking_url"],
  });
  expect(await refusal(`orders ship ${number} --correct --carrier Courier --tracking T2`)).toMatchObject({
    exitCode: 1,
    code: "conflict",
  });
});
