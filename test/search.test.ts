import fc from "fast-check";
import { expect, test } from "vitest";
import { findStory } from "../src/core/find/find.ts";
import { keysOfPerson, nameWords } from "../src/core/kernel/people-keys.ts";
import { shipOrder } from "../src/core/orders/ship.ts";
import { indexRecords } from "../src/core/store/sealing/people.ts";
import type { Tx } from "../src/core/store/store.ts";
import { ACTIVATIONS, iccid, request } from "./support/activations.ts";
import { addProducts } from "./support/catalog.ts";
import { passport } from "./support/passports.ts";
import { type Caller, startPlatform } from "./support/platform.ts";

const customer = { email: "Zoe.A@Example.com", name: "Zoë Ågren", phone: "+61 2 9876 5432" };

/** Two partners who have the same customer; the first one in both environments. */
async function rivals() {
  const platform = await startPlatform();
  const { store } = platform;
  const { SIM } = await addProducts(store, [{ sku: "SIM", product_type: "physical_sim", delivery_method: "shipping" }]);
  const acme = await platform.caller({ slug: "acme", live: true, agent: true });
  const sandbox = await platform.credential("acme", {});
  const beta = await platform.caller({ slug: "beta", live: true, agent: true });
  for (const { partnerId } of [acme, beta]) await platform.fund(partnerId, 100_000);
  const orders = [{ external_order_id: "A-1", customer, line_items: [{ product_id: SIM, quantity: 1 }] }];
  const order = async (caller: Caller): Promise<string> => {
    const { body } = await caller.send("POST", "/api/v1/orders/bulk", { orders });
    return body.results[0].service_order_id;
  };
  const activate = async (caller: Caller): Promise<string> => {
    const more = { iccid: iccid(), activation_date: "2026-05-10", first_name: "Zoë", last_name: "Ågren" };
    const { body } = await caller.send("POST", ACTIVATIONS, request({ ...more, customer_phone: customer.phone }));
    return body.id;
  };
  const pool = async (caller: Caller): Promise<string> => {
    const records = [passport({ first_name: "Zoë", last_name: "Ågren" })];
    return (await caller.send("POST", "/api/v1/kyc/passports", { records })).body.records[0].id;
  };
  const has = async (caller: Caller) => ({
    order: await order(caller),
    activation: await activate(caller),
    passport: await pool(caller),
  });
  return { ...platform, acme, sandbox, beta, has };
}

const search = (caller: Caller, query: unknown) => caller.send("POST", "/api/v1/search", { query });

/** What a search finds, by kind and id. */
async function found(caller: Caller, query: string): Promise<string[]> {
  const { status, body } = await search(caller, query);
  expect([query, status]).toEqual([query, 200]);
  return body.data.map(({ kind, id }: { kind: string; id: string }) => `${kind} ${id}`).sort();
}

const all = (of: Record<string, string>) =>
  Object.entries(of)
    .map(([kind, id]) => `${kind} ${id}`)
    .sort();

test("a partner finds its own callers, and nothing of another partner or environment", async () => {
  const { store, acme, sandbox, beta, has } = await rivals();
  const [own, tried, others] = [await has(acme), await has(sandbox), await has(beta)];
  await store.write(shipOrder, {
    id: own.order as never,
    carrier: "DHL",
    tracking: "1Z99 AA10 0B77",
    actor: "operator",
  });
  for (const [caller, of] of [
    [acme, own],
    [sandbox, tried],
    [beta, others],
  ] as const) {
    for (const name of ["agren zoe", "ÅGR", "zoe"]) expect(await found(caller, name), name).toEqual(all(of));
    for (const number of ["0298765432", "5432"]) {
      expect(await found(caller, number)).toEqual(all({ order: of.order, activation: of.activation }));
    }
    for (const booked of [customer.email.toUpperCase(), "A-1"]) {
      expect(await found(caller, booked), booked).toEqual([`order ${of.order}`]);
    }
    for (const [kind, id] of Object.entries(of)) expect(await found(caller, id)).toEqual([`${kind} ${id}`]);
  }
  expect(await found(acme, "aa10-0b77")).toEqual([`order ${own.order}`]);
  expect(await found(beta, "aa10-0b77")).toEqual([]);
  for (const of of [own, tried]) for (const id of Object.values(of)) expect(await found(beta, id)).toEqual([]);
  const { iccid: sim } = (await acme.get(`${ACTIVATIONS}/${own.activation}`)).body;
  expect(await found(acme, sim.slice(-6))).toEqual([`activation ${own.activation}`]);
  for (const caller of [beta, sandbox]) {
    for (const typed of [sim, sim.slice(-6)]) expect(await found(caller, typed)).toEqual([]);
  }
  const { body } = await search(acme, "zoe");
  expect(body).toMatchObject({ count: 3, truncated: [] });
  expect(body.data[0]).toEqual({
    kind: "order",
    id: own.order,
    name: expect.stringMatching(/^ORD-/),
    status: "fulfilled",
    person: "Zoë Ågren",
  });
  expect(body.data[2]).toMatchObject({ kind: "passport", status: "received" });
  await acme.send("DELETE", `/api/v1/kyc/passports/${own.passport}`);
  expect(await found(acme, "zoe")).toEqual(all({ order: own.order, activation: own.activation }));
  expect(JSON.stringify(body)).not.toMatch(/passport_no|date_of_birth|example\.com/i);
});

test("what too many names alike hide is not denied, and only its kind is truncated", async () => {
  const { store, acme, clock } = await rivals();
  /** Passports under the same beginning, newer than all others; nothing opens them. */
  const crowd = (from: number, to: number) => {
    const ids = Array.from({ length: to - from }, (_, at) => `ffffffff-${String(from + at).padStart(4, "0")}`);
    const keys = keysOfPerson({ name: "Lovelace" });
    const scope = { partner_id: acme.partnerId, environment: "production" } as const;
    const entries = ids.map((id) => ({ scope, record: { kind: "passport" as const, id }, keys }));
    return store.write((tx: Tx) => indexRecords(tx, entries), null);
  };
  const { CARD } = await addProducts(store, [
    { sku: "CARD", product_type: "physical_sim", delivery_method: "shipping" },
  ]);
  const named = { ...customer, name: "Ada Lovelba" };
  const orders = [{ external_order_id: "L-1", customer: named, line_items: [{ product_id: CARD, quantity: 1 }] }];
  await acme.send("POST", "/api/v1/orders/bulk", { orders });
  await crowd(0, 4_999);
  expect((await search(acme, "Lovelb")).body).toMatchObject({ count: 1, truncated: [] });
  clock.advance(1_000);
  const records = [passport({ first_name: "Bea", last_name: "Lovelby" })];
  await acme.send("POST", "/api/v1/kyc/passports", { records });
  const partly = await search(acme, "Lovelb");
  expect(partly.body).toMatchObject({ data: [{ kind: "passport" }], truncated: ["order"] });
  await crowd(4_999, 5_001);
  const { status, body } = await search(acme, "Lovelb");
  expect(status).toBe(400);
  expect(body).toMatchObject({
    detail: expect.stringMatching(/^Too many names begin/),
    errors: { query: [expect.any(String)] },
  });
  await expect(store.read(findStory, "Lovelb")).rejects.toMatchObject({ slug: "validation" });
  expect((await search(acme, "Lovelba")).body).toMatchObject({ data: [{ kind: "order" }] });
});

test("eSIMs are found with their scope alone, by the end of the ICCID and by whom their order names", async () => {
  const { store, caller, credential, fulfill } = await startPlatform();
  const { PLAN = "" } = await addProducts(store, [{ sku: "PLAN" }]);
  const shop = await caller({ slug: "shop" });
  const narrow = await credential("shop", { scopes: ["read:orders"] });
  const orders = [{ external_order_id: "S-1", customer, line_items: [{ product_id: PLAN, quantity: 1 }] }];
  const { body } = await shop.send("POST", "/api/v1/orders/bulk", { orders });
  const id = body.results[0].service_order_id;
  await fulfill();
  const [esim] = (await shop.get(`/api/v1/orders/${id}/esims`)).body.esims;
  const kinds = async (who: Caller, query: string) => (await found(who, query)).map((one) => one.split(" ")[0]);
  for (const query of ["agren", esim.iccid]) {
    expect(await kinds(shop, query), query).toEqual(["esim", "order"]);
    expect(await kinds(narrow, query), query).toEqual(["order"]);
  }
  const refused = await Promise.all([undefined, "", "  ", 7, "x".repeat(201)].map((query) => search(shop, query)));
  expect(refused.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400]);
  expect(await found(shop, "nobody")).toEqual([]);
});

test("names of plain letters have the words and keys that they have beside others", () => {
  const property = fc.property(fc.string({ unit: "grapheme-ascii" }), (name) => {
    expect([...nameWords(name), "ng"]).toEqual(nameWords(`${name} Ñg`));
    expect([...keysOfPerson({ name }), "n:ng"]).toEqual(expect.arrayContaining(keysOfPerson({ name: `${name} Ñg` })));
  });
  fc.assert(property, { examples: [["O'Hara"], ["J.R. van Dyke-Smith"], ["MC`Donald 2nd"], [""]] });
});
