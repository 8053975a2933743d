import { expect, test } from "vitest";
import { iccid, startActivationPlatform } from "./support/activations.ts";
import { startCarrier, useHttpCarrier } from "./support/carrier.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { deskOf } from "./support/desk.ts";

/** Two days ago: an order whose stock is short, SIM cards to ship, and a SIM that staff activate by hand. */
async function waitingWork() {
  const platform = await startActivationPlatform({ start: new Date(Date.now() - 2 * 86_400_000).toISOString() });
  const { store, clock, submit, work, fulfill, fund } = platform;
  const desk = deskOf(platform);
  const products = await addProducts(store, [
    { sku: "PLAN" },
    { sku: "CARD", product_type: "physical_sim", delivery_method: "shipping" },
  ]);
  const acme = await platform.caller({ slug: "acme", live: true });
  await fund(acme.partnerId, 100_000);
  const place = async (sku: string) => {
    const line_items = [{ product_id: products[sku], quantity: 1 }];
    const { body } = await acme.send("POST", "/api/v1/orders", { line_items }, { "idempotency-key": sku });
    await fulfill();
    return body;
  };
  const at = () => new Date(clock.now()).toISOString();
  const since = { short: at(), card: "", sim: "" };
  const short = await place("PLAN");
  clock.advance(60_000);
  since.card = at();
  const card = await place("CARD");
  const sim = iccid();
  const today = new Intl.DateTimeFormat("en-CA", { timeZone: "Australia/Sydney" }).format(clock.now());
  const id = await submit(acme, { iccid: sim, activation_date: today, passport_expiry: "2034-01-01" });
  expect(await desk.json(`activations show ${sim}`)).toMatchObject({ partner: "acme", waiting: null });
  clock.advance(5_000);
  since.sim = at();
  await work();

  const waits = {
    short: { for: "operator", act: "approve", on: "stock", since: since.short },
    card: { for: "operator", act: "ship", on: "shipping", since: since.card },
    sim: { for: "operator", act: "complete", on: "carrier", since: since.sim },
  };
  return { ...platform, ...desk, short, card, sim, id, waits };
}

test("work that waits for a person shows for whom and since when, in lists, show and status", async () => {
  const { store, clock, fulfill, json, run, short, card, sim, id, waits } = await waitingWork();
  expect(await json(`orders show ${short.id}`)).toMatchObject({ partner: "acme", waiting: waits.short });
  expect(await json(`orders show ${card.id}`)).toMatchObject({ waiting: waits.card });
  expect(await json(`activations show ${sim}`)).toMatchObject({ waiting: waits.sim });
  expect((await json("orders list")).data).toMatchObject([{ waiting: waits.card }, { waiting: waits.short }]);
  expect((await json("orders queue")).data).toMatchObject([{ id: short.id, waiting: waits.short }]);
  expect((await json("activations list")).data).toMatchObject([{ id, waiting: waits.sim }]);
  expect((await json("activations queue")).data).toMatchObject([{ id, waiting: waits.sim }]);
  const all = [waits.short, waits.card, waits.sim].map((one) => ({ ...one, waiting: 1 }));
  expect((await json("status")).waiting).toEqual(all);
  const words = /waiting +for operator: approve \(stock\), since \d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ \(2 d\)/;
  expect((await run(`orders show ${short.id}`)).stdout).toMatch(words);
  expect((await run("status")).stdout).toMatch(/operator +approve +stock +1 +\d{4}-.*\(2 d\)/);

  // A carrier that is no longer worked by hand is sent what waits by retry alone.
  const carrier = await startCarrier();
  await useHttpCarrier(store, carrier.url);
  expect(await json(`activations show ${sim}`)).toMatchObject({ waiting: { ...waits.sim, act: "retry" } });
  await json(`activations retry ${sim}`);
  expect(await json(`activations show ${sim}`)).toMatchObject({ waiting: null });

  await addStock(store, "PLAN", 1);
  await json(`orders approve ${short.id} --yes`);
  expect(await json(`orders show ${short.id}`)).toMatchObject({ status: "waiting_review", waiting: null });
  expect((await json("status")).waiting).toMatchObject([{ act: "ship" }]);
  await json(`orders ship ${card.id} --carrier Post --tracking T1`);
  // The terminal acts at the present time.
  clock.advance(3 * 86_400_000);
  await fulfill();
  expect(await json(`orders show ${short.id}`)).toMatchObject({ status: "fulfilled", waiting: null });
  expect((await json("status")).waiting).toEqual([]);
});
