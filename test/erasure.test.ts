import { expect, test } from "vitest";
import { moveByHand } from "../src/core/activations/operator.ts";
import { erasePerson } from "../src/core/erasure/erase.ts";
import { type NamedPerson, personOf } from "../src/core/erasure/person.ts";
import { purge } from "../src/core/erasure/purge.ts";
import { surveyPerson } from "../src/core/erasure/survey.ts";
import { findStory } from "../src/core/find/find.ts";
import type { DeliveryId } from "../src/core/kernel/brand.ts";
import { Problem } from "../src/core/kernel/problem.ts";
import type { Read, Store } from "../src/core/store/store.ts";
import { applySupplyOutcome } from "../src/core/supplier-requests/apply-outcome.ts";
import { redeliver, replayStep } from "../src/core/webhooks/redeliver.ts";
import { addProducts } from "./support/catalog.ts";
import { ben, everything, ledger, mia, placesOf, type Setting, type Someone, setUp } from "./support/erasure.ts";
import { indexFaults } from "./support/people.ts";
import { seeded } from "./support/random.ts";

const DAY = 86_400_000;
const ACTOR = "operator";

/** Surveys and erases; the states of what was found, and how many records were erased. */
async function erase(store: Store, named: NamedPerson) {
  const person = personOf(named);
  const found = await surveyPerson(store, person);
  const erased = await erasePerson(store, { person, found, actor: ACTOR });
  return { found, erased };
}

const all = ({ email, phone, passport: number }: Someone): NamedPerson => ({ email, phone, passport: number });

/** Everything of Mia that has ended, and one open record of each kind. */
async function lived(setting: Setting) {
  const { pool, sim, trip, bulk, store, partner, fulfill } = setting;
  const products = await addProducts(store, [
    { sku: "SIM", product_type: "physical_sim", delivery_method: "shipping" },
  ]);
  const withdrawn = await pool(mia);
  await partner.send("DELETE", `/api/v1/kyc/passports/${withdrawn}`);
  const done = await sim(mia, "complete");
  const cancelled = await sim(mia, "cancel");
  const order = await trip([mia, ben], "complete", { note: `call ${mia.phone}`, who: "MIA QUILLFEATHER", keep: 1 });
  const customer = await bulk(mia, products.SIM);
  await fulfill();
  return { done, cancelled, order, customer };
}

test("a purge clears personal data of all records that ended before, and the rest stays readable", async () => {
  const setting = await setUp();
  const { store, clock, show, sim, trip } = setting;
  const { done, order } = await lived(setting);
  const anna = { ...ben, first: "Anna", last: "Stillopen", email: "anna@example.com", phone: "+61400111222" };
  const open = await sim(anna, "leave");
  const openTrip = await trip([anna], "leave");
  const money = await ledger(store);
  clock.advance(400 * DAY);
  const partner = await setting.credential("acme", { live: true });
  const before = clock.now() - 365 * DAY;
  const options = { before, actor: ACTOR, dryRun: true };
  const states = await everything(store);
  const counted = await purge(store, options);
  expect(await everything(store)).toEqual(states);
  expect(counted).toMatchObject({ passports: 1, activations: 2, order_items: 2, orders: 1, order_keys: 2 });
  expect(await purge(store, { ...options, dryRun: false })).toEqual(counted);
  expect(await placesOf(store, mia)).toEqual([]);
  const nothing = { passports: 0, activations: 0, order_items: 0, orders: 0, order_keys: 0 };
  expect(await purge(store, { ...options, dryRun: false })).toEqual(nothing);

  expect(await ledger(store)).toEqual(money);
  expect(await show(partner, done)).toMatchObject({
    status: "completed",
    customer_name: "",
    customer_email: null,
    note: null,
    activated_at: expect.any(String),
  });
  expect(await show(partner, open)).toMatchObject({ customer_name: "Anna Stillopen", customer_email: anna.email });
  const { body } = await partner.get(`/api/v1/orders/${order.id}/activation-status`);
  expect(body.activations).toMatchObject([
    { status: "activated", customer_email: "", customer_name: "", eid_number: null },
    { status: "activated", customer_email: "", customer_name: "", eid_number: null },
  ]);
  const shown = await partner.get(`/api/v1/orders/${order.id}`);
  expect([shown.status, shown.body.status, shown.body.metadata.keep]).toEqual([200, "fulfilled", 1]);
  const openStatus = await partner.get(`/api/v1/orders/${openTrip.id}/activation-status`);
  expect(openStatus.body.activations).toMatchObject([{ customer_name: "Anna Stillopen", eid_number: anna.eid }]);
  for (const id of [done, order.id]) expect((await store.read(findStory, id)).matched.length).toBeGreaterThan(0);
  // A key whose payload was cleared places no second order.
  expect((await order.again(partner)).status).toBe(409);
});

test("events of purged records keep no body, and are not sent again", async () => {
  const { store, clock, sim, endpointId } = await setUp();
  const done = await sim(mia, "complete");
  clock.advance(DAY);
  await purge(store, { before: clock.now(), actor: ACTOR, dryRun: false });
  const sent = await store.read(async (q: Read) => {
    const events = await q.db.select().from(q.t.events);
    return { events, deliveries: await q.db.select().from(q.t.deliveries) };
  }, null);
  const cleared = sent.events.filter(({ subject_id }) => subject_id === done);
  expect(cleared.map(({ kind, data }) => [kind, data])).toEqual([
    ["activation.submitted", {}],
    ["activation.activated", {}],
  ]);
  const waiting = sent.deliveries.filter(({ event_id }) => cleared.some(({ id }) => id === event_id));
  expect(waiting.map(({ status }) => status)).toEqual(["exhausted", "exhausted"]);
  const id = waiting[0]?.id as DeliveryId;
  await expect(store.write(redeliver, { id, actor: ACTOR })).rejects.toThrow(Problem);
  await store.write(replayStep, { endpointId, since: 0, after: null, actor: ACTOR });
  const again = await store.read(async (q: Read) => q.db.select().from(q.t.deliveries), null);
  expect(again.filter((one) => waiting.some((other) => other.id === one.id)).map(({ status }) => status)).toEqual([
    "exhausted",
    "exhausted",
  ]);
});

test("a late response for a purged record is stored without its text", async () => {
  const setting = await setUp();
  const { store, clock } = setting;
  const { order } = await lived(setting);
  clock.advance(DAY);
  await purge(store, { before: clock.now(), actor: ACTOR, dryRun: false });
  const outcome = { kind: "refused", errorType: "late", errorMessage: `${mia.first} ${mia.last} is gone` } as const;
  const id = order.items[0] as never;
  await store.write(applySupplyOutcome, { id, outcome, attempt: { source: "callback" } });
  expect((await placesOf(store, mia)).filter((place) => place.startsWith("itemAttempts"))).toEqual([]);
});

test("one person is erased from all ended records, and no other person", async () => {
  const setting = await setUp();
  const { store, partner, sim, trip } = setting;
  const { order } = await lived(setting);
  const open = await sim(mia, "leave");
  const openTrip = await trip([mia], "leave");
  const bens = await placesOf(store, ben);
  const money = await ledger(store);
  const first = await erase(store, all(mia));
  const states = new Map(first.found.map(({ kind, id, state }) => [`${kind} ${id}`, state]));
  expect(states.get(`activation ${open}`)).toBe("open");
  expect(states.get(`order_item ${openTrip.items[0]}`)).toBe("open");
  expect(await ledger(store)).toEqual(money);
  const { body } = await partner.get(`/api/v1/orders/${order.id}/activation-status`);
  expect(body.activations.map((one: { customer_email: string }) => one.customer_email)).toEqual(["", ben.email]);
  expect((await placesOf(store, ben)).sort()).toEqual(bens.sort());
  const { metadata } = (await partner.get(`/api/v1/orders/${order.id}`)).body;
  expect(metadata).toEqual({ note: "call [erased]", who: "[erased]", keep: 1 });

  await partner.send("POST", `/api/v1/activations/${open}/cancel`);
  const move = { verb: "fail", errorType: "gone", errorMessage: "gone" } as const;
  await store.write(moveByHand, { id: openTrip.items[0] ?? "", move, actor: ACTOR });
  const second = await erase(store, all(mia));
  expect(second.found.filter(({ state }) => state === "open")).toEqual([]);
  expect(await placesOf(store, mia)).toEqual([]);
  const third = await erase(store, all(mia));
  expect([third.found, third.erased]).toEqual([[], []]);

  const audit = await store.read(async (q: Read) => q.db.select().from(q.t.auditEntries), null);
  const entries = audit.filter(({ action }) => action.endsWith(".erase"));
  expect(new Set(entries.map(({ action }) => action))).toEqual(
    new Set(["passports.erase", "activations.erase", "items.erase", "orders.erase"]),
  );
});

test("numbers are compared without separators and prefixes, addresses in any case, passports by country", async () => {
  const setting = await setUp();
  const { store, pool, sim } = setting;
  await pool(mia);
  await sim(mia, "cancel");
  const kindsOf = async (named: NamedPerson) => {
    return (await surveyPerson(store, personOf(named))).map(({ kind }) => kind);
  };
  expect(await kindsOf({ phone: "0061491570156" })).toEqual(["activation"]);
  expect(await kindsOf({ email: " MIA.QUILL@EXAMPLE.COM " })).toEqual(["activation"]);
  expect(await kindsOf({ email: "quill@example.com" })).toEqual([]);
  expect(await kindsOf({ passport: "qx8342075" })).toEqual(["passport", "activation"]);
  expect(await kindsOf({ passport: "qx8342075", country: "gb" })).toEqual(["passport", "activation"]);
  expect(await kindsOf({ passport: "qx8342075", country: "DEU" })).toEqual([]);
  expect(() => personOf({ phone: "123" })).toThrow(Problem);
});

test("a person with hyphens in name and address is erased and purged", async () => {
  const setting = await setUp();
  const { store, clock, trip } = setting;
  const jo: Someone = { ...ben, first: "Jo-Ann", last: "Smith-Jones", email: "jo-ann@my-shop.example.com" };
  await trip([jo], "complete", { call: "JO-ANN SMITH-JONES", at: jo.email });
  const { erased } = await erase(store, all(jo));
  expect(erased.map(({ kind }) => kind)).toContain("order_item");
  expect(await placesOf(store, jo)).toEqual([]);
  await trip([jo], "complete", { call: "Jo-Ann Smith-Jones" });
  await setting.fulfill();
  clock.advance(DAY);
  expect(await purge(store, { before: clock.now(), actor: ACTOR, dryRun: false })).toMatchObject({ order_items: 1 });
  expect(await placesOf(store, jo)).toEqual([]);
});

/** A store that fails after so many transactions, as a killed process leaves it. */
function dying(store: Store, after: number): Store {
  let writes = 0;
  return {
    ...store,
    async write(command, input, requestId) {
      if (++writes > after) throw new Error("killed");
      return store.write(command, input, requestId);
    },
  };
}

test("an interrupted purge or erasure is finished by the same command", async () => {
  const setting = await setUp();
  const { store, clock, sim } = setting;
  for (let made = 0; made < 60; made++) await sim(mia, "cancel");
  const left = () =>
    store.read(async (q: Read) => (await q.db.select().from(q.t.activations)).filter((one) => one.sealed), null);
  const person = personOf(all(mia));
  const found = await surveyPerson(store, person);
  await expect(erasePerson(dying(store, 1), { person, found, actor: ACTOR })).rejects.toThrow("killed");
  expect(await left()).toHaveLength(35);
  clock.advance(DAY);
  const options = { before: clock.now(), actor: ACTOR, dryRun: false };
  await expect(purge(dying(store, 1), options)).rejects.toThrow("killed");
  expect(await left()).toHaveLength(10);
  expect(await purge(store, options)).toMatchObject({ activations: 10 });
  expect(await placesOf(store, mia)).toEqual([]);
});

/** Tables that any erasure changes: the audit trail's chain grows, keys of the person are renamed, names go. */
const FOLLOWS = new Set(["chainHeads", "idempotencyKeys", "settings", "peopleIndex"]);

test("of random people over random records one is erased, and the others stay", () => eraseOne(11));

test.each([12, 13])("the same with seed %i", { tags: ["slow"] }, eraseOne);

async function eraseOne(seed: number): Promise<void> {
  const setting = await setUp();
  const { store, sim, trip, bulk, pool, fulfill } = setting;
  const { SIM } = await addProducts(store, [{ sku: "SIM", product_type: "physical_sim", delivery_method: "shipping" }]);
  const random = seeded(seed);
  const digits = (length: number) => Array.from({ length }, () => Math.floor(random() * 10)).join("");
  const word = () => Array.from({ length: 9 }, () => String.fromCharCode(97 + Math.floor(random() * 26))).join("");
  const people = Array.from({ length: 5 }, (): Someone => {
    const [first, last] = [word(), word()];
    const email = `${first}.${last}@example.com`;
    const numbers = { phone: `+614${digits(8)}`, passport: `P${digits(8)}`, eid: `8904${digits(28)}` };
    return { first, last, email, ...numbers, born: "1980-02-03" };
  });
  const anyone = () => people[Math.floor(random() * people.length)] ?? mia;
  for (const who of people) await pool(who);
  for (let made = 0; made < 12; made++) {
    const kind = Math.floor(random() * 4);
    const who = anyone();
    if (kind === 0) await sim(who, "complete");
    else if (kind === 1) await sim(who, "cancel");
    else if (kind === 2)
      await trip([who, anyone()], "complete", { text: `${who.first} ${who.last}`, phone: who.phone });
    else await bulk(who, SIM, `shop ${who.email} ${made}`);
  }
  await fulfill();
  const gone = anyone();
  const before = await everything(store);
  const others = people.filter((who) => who !== gone);
  const places = await Promise.all(others.map((who) => placesOf(store, who)));
  const own = new Set(await placesOf(store, gone));
  const money = await ledger(store);
  const { found } = await erase(store, all(gone));
  expect(found.filter(({ state }) => state !== "erasable")).toEqual([]);
  expect(await placesOf(store, gone)).toEqual([]);
  expect(await Promise.all(others.map((who) => placesOf(store, who)))).toEqual(places);
  expect(await ledger(store)).toEqual(money);
  expect(await indexFaults(store)).toEqual([]);
  const after = await everything(store);
  for (const [place, text] of before) {
    const [table = ""] = place.split(" ");
    const partOfIt = ["passports", "activations", "orders", "orderItems", "esims", "events", "deliveries"].includes(
      table,
    );
    if (!own.has(place) && !partOfIt && !FOLLOWS.has(table) && !table.endsWith("Attempts")) {
      expect(after.get(place), place).toBe(text);
    }
    if (partOfIt && !own.has(place) && ["passports", "activations", "orderItems"].includes(table)) {
      expect(after.get(place), place).toBe(text);
    }
  }
}
