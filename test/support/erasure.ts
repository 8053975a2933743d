import { expect } from "vitest";
import { moveActivation, moveByHand } from "../../src/core/activations/operator.ts";
import type { ActivationId, OrderId, WebhookId } from "../../src/core/kernel/brand.ts";
import { cancelOrder } from "../../src/core/orders/cancel.ts";
import { sealedPlaces } from "../../src/core/store/sealing/reseal.ts";
import type { Read, Store } from "../../src/core/store/store.ts";
import { applySupplyOutcome } from "../../src/core/supplier-requests/apply-outcome.ts";
import { checkWallets } from "../../src/core/wallet/check.ts";
import { iccid, startActivationPlatform } from "./activations.ts";
import { addProducts, suppliedProducts } from "./catalog.ts";
import { importRecords, passport } from "./passports.ts";
import type { Caller } from "./platform.ts";

const ACTOR = "operator";

export interface Someone {
  first: string;
  last: string;
  email: string;
  phone: string;
  passport: string;
  eid: string;
  born: string;
}

export const mia: Someone = {
  first: "Mia",
  last: "Quillfeather",
  email: "Mia.Quill@Example.com",
  phone: "+61 491-570 156",
  passport: "QX 834-2075",
  eid: "89049032000000000000000000000017",
  born: "1964-07-16",
};
export const ben: Someone = {
  first: "Ben",
  last: "Oakenshaw",
  email: "ben.oaken@example.com",
  phone: "0061 491 570 157",
  passport: "RZ1234567",
  eid: "89049032000000000000000000000025",
  born: "1970-01-02",
};

/** A platform with one partner that has everything that names people, and an endpoint for events of activations. */
export async function setUp() {
  const platform = await startActivationPlatform();
  const { store } = platform;
  const { PUSH } = await addProducts(store, suppliedProducts);
  const partner = await platform.caller({ slug: "acme", agent: true, live: true });
  await platform.fund(partner.partnerId, 10_000_000);
  const hook = await partner.send("POST", "/api/v1/webhooks", {
    url: "https://shop.example.com/hook",
    events: ["activation.submitted", "activation.activated", "order.created"],
  });
  const people = { ...makeHolders(platform, partner), ...makeBuyers(platform, partner, { PUSH }) };
  return { ...platform, ...people, partner, endpointId: hook.body.webhook.id as WebhookId };
}

type Products = Record<"PUSH", string | undefined>;

const named = (who: Someone) => ({ customer_name: `${who.first} ${who.last}`, customer_email: who.email });
const today = (now: number) => new Date(now).toISOString().slice(0, 10);

/** The reply of a request that succeeded. */
function ok<T extends { status: number; body: unknown }>(reply: T): T {
  if (reply.status >= 300) throw new Error(JSON.stringify(reply.body));
  return reply;
}

type Started = Awaited<ReturnType<typeof startActivationPlatform>>;

/** What puts people into the pool and into requests. */
function makeHolders(platform: Started, partner: Caller) {
  const { store, clock } = platform;
  return {
    async pool(who: Someone) {
      const [id] = await importRecords(partner, [
        passport({ first_name: who.first, last_name: who.last, passport_no: who.passport, date_of_birth: who.born }),
      ]);
      return id ?? "";
    },
    /** A request that staff complete when `end` is set. */
    async sim(who: Someone, end: "complete" | "cancel" | "leave"): Promise<ActivationId> {
      const id = await platform.submit(partner, {
        iccid: iccid(),
        activation_date: today(clock.now()),
        first_name: who.first,
        last_name: who.last,
        passport_no: who.passport,
        date_of_birth: who.born,
        customer_email: who.email,
        customer_phone: who.phone,
        note: `for ${who.first} ${who.last}`,
      });
      if (end === "cancel") ok(await partner.send("POST", `/api/v1/activations/${id}/cancel`, { reason: who.email }));
      if (end !== "complete") return id;
      clock.advance(5_000);
      await platform.work();
      const mobileNumber = `+6149${String(clock.now()).slice(-7)}`;
      await store.write(moveActivation, { id, move: { verb: "complete", mobileNumber }, actor: ACTOR });
      return id;
    },
  };
}

/** What puts people into orders. */
function makeBuyers({ store, clock }: Started, partner: Caller, products: Products) {
  return {
    /** An order with one traveler for each of `whom`; its id, and the ids of its items. */
    async trip(whom: Someone[], end: "complete" | "leave", metadata: object = {}) {
      const product_id = products.PUSH;
      const activation_requests = whom.map((who) => {
        const when = { activation_date: today(clock.now()), timezone: "Australia/Sydney" };
        return { product_id, ...named(who), customer_phone: who.phone, eid_number: who.eid, ...when };
      });
      const body = { line_items: [{ product_id, quantity: whom.length }], activation_requests, metadata };
      const key = crypto.randomUUID();
      const send = (by: Caller) => by.send("POST", "/api/v1/orders", body, { "idempotency-key": key });
      const { id } = ok(await send(partner)).body;
      const status = ok(await partner.get(`/api/v1/orders/${id}/activation-status`)).body;
      const items: string[] = status.activations.map((one: { item_id: string }) => one.item_id);
      for (const [at, item] of end === "complete" ? items.entries() : []) {
        const refused = { kind: "temporary", reason: `${whom[at]?.first} ${whom[at]?.last} is unknown` } as const;
        await store.write(applySupplyOutcome, { id: item as never, outcome: refused, attempt: { source: "request" } });
        const move = { verb: "complete", mobileNumber: null, iccid: null, activationCode: null } as const;
        await store.write(moveByHand, { id: item, move, actor: ACTOR });
      }
      return { id: id as string, items, again: send };
    },
    /** A cancelled bulk order with a customer; its id. Its product has no travelers. */
    async bulk(who: Someone, product_id: string | undefined, external_order_id: string = crypto.randomUUID()) {
      const customer = { email: who.email, name: `${who.first} ${who.last}`, phone: who.phone };
      const metadata = { to: [`Dear ${who.first}  ${who.last}`, who.email], gift: true };
      const orders = [{ external_order_id, line_items: [{ product_id, quantity: 1 }], customer, metadata }];
      const { body } = ok(await partner.send("POST", "/api/v1/orders/bulk", { orders }));
      const id: OrderId = body.results[0].service_order_id;
      await store.write(cancelOrder, { id, reason: `${who.first} ${who.last} is ill`, actor: ACTOR });
      return id;
    },
  };
}

export type Setting = Awaited<ReturnType<typeof setUp>>;

/** The texts of all tables, by table and row, with what is sealed in them opened. */
export async function everything(store: Store): Promise<Map<string, string>> {
  return store.read(async (q: Read) => {
    const rows = new Map<string, string>();
    for (const [name, table] of Object.entries(q.t)) {
      const all = await q.db.select().from(table as Read["t"]["orders"]);
      for (const [at, row] of all.entries()) {
        const { id, order_id, digest, record_id }: Record<string, unknown> = { ...row };
        const key = digest === undefined ? (id ?? order_id ?? at) : `${digest} ${record_id}`;
        rows.set(`${name} ${key}`, JSON.stringify({ ...row, ...opened(q, name, { ...row }) }));
      }
    }
    return rows;
  }, null);
}

/** The sealed columns of a row, opened. */
function opened(q: Read, table: string, row: Record<string, unknown>): Record<string, unknown> {
  const places = sealedPlaces.filter((place) => place.table === table && typeof row[place.column] === "string");
  return Object.fromEntries(
    places.map(({ column, name, key }) => {
      const cell = { column: name, row: String(row[key]) };
      return [column, q.vault.openIfReadable(String(row[column]), cell)];
    }),
  );
}

/** Where a text of the database holds a value of the person, in any case and without regard to separators. */
export async function placesOf(store: Store, who: Someone): Promise<string[]> {
  const bare = (text: string) => text.toLowerCase().replaceAll(/[\s-]/g, "");
  const values = [who.last, who.email, who.phone.replace(/^(\+|00)/, ""), who.passport, who.eid].map(bare);
  // The audit trail keeps what staff typed into it: it is append-only.
  const rows = [...(await everything(store))].filter(([place]) => !place.startsWith("auditEntries"));
  const found = rows.filter(([, text]) => values.some((value) => bare(text).includes(value)));
  return found.map(([place]) => place).sort();
}

export async function ledger(store: Store): Promise<unknown> {
  expect(await store.read(checkWallets, { minimum: () => null })).toMatchObject({ ok: true, unbalanced: [] });
  return store.read(
    async (q: Read) => [await q.db.select().from(q.t.ledgerTransactions), await q.db.select().from(q.t.ledgerPostings)],
    null,
  );
}
