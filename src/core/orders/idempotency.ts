import { and, eq, getTableColumns, inArray } from "drizzle-orm";
import type { OrderId } from "../kernel/brand.ts";
import { environments } from "../kernel/environment.ts";
import { Problem } from "../kernel/problem.ts";
import { insertRow } from "../store/rows.ts";
import type { Row, Tables } from "../store/schema/tables.ts";
import type { OrderKeySpace } from "../store/schema/values.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";

/** A partner's own name for an order. `single`: an Idempotency-Key; `bulk`: an external_order_id. */
export interface OwnKey {
  partner_id: string;
  environment: string;
  space: OrderKeySpace;
  key: string;
}

/** The condition that finds a key. */
export function isKey({ idempotencyKeys: kept }: Tables, { partner_id, environment, space, key }: Slots<OwnKey>) {
  return and(
    eq(kept.partner_id, partner_id),
    eq(kept.environment, environment),
    eq(kept.space, space),
    eq(kept.key, key),
  );
}

const keyUsed = statement((db, t, slot: Slots<OwnKey>) =>
  db
    .select({ payload_hash: t.idempotencyKeys.payload_hash, order_id: t.idempotencyKeys.order_id })
    .from(t.idempotencyKeys)
    .where(isKey(t, slot)),
);

/** The order that was created with a key, and the hash of its payload; null: the key is free. */
export async function orderOfKey(q: Read, key: OwnKey): Promise<{ order_id: OrderId; payload_hash: string } | null> {
  return first(await keyUsed(q, { ...key }));
}

const booked = statement((db, t, slot: Slots<{ key: string }>) => {
  const { partners, idempotencyKeys: keys, orders } = t;
  return db
    .select(getTableColumns(orders))
    .from(partners)
    .innerJoin(
      keys,
      and(
        eq(keys.partner_id, partners.id),
        inArray(keys.environment, [...environments]),
        eq(keys.space, "bulk"),
        eq(keys.key, slot.key),
      ),
    )
    .innerJoin(orders, eq(orders.id, keys.order_id));
});

/** The orders that bulk requests of any partner placed under this external_order_id: one for each environment. */
export function ordersBookedAs(q: Read, key: string): Promise<Row<"orders">[]> {
  return booked(q, { key });
}

/** What a request with a key asks for: the hash of its payload. */
export interface KeyedRequest {
  key: Pick<Row<"idempotencyKeys">, keyof OwnKey>;
  payloadHash: string;
}

/** The order that the same request created before; null: the key is free. Throws `idempotency_conflict`. */
export async function orderToReplay(q: Read, { key, payloadHash }: KeyedRequest): Promise<OrderId | null> {
  const used = await orderOfKey(q, key);
  if (used === null) return null;
  assertSamePayload(key.space, used.payload_hash, payloadHash);
  return used.order_id;
}

/** Throws `idempotency_conflict` where a key was used with another payload; both are hashes. */
export function assertSamePayload(space: OrderKeySpace, known: string, sent: string): void {
  if (known === sent) return;
  const name = space === "single" ? "Idempotency-Key" : "external_order_id";
  throw new Problem("idempotency_conflict", `This ${name} was used before for an order with a different payload.`);
}

/** Binds a key to the order that its request created. */
export function keepKey(tx: Tx, { key, payloadHash }: KeyedRequest, order_id: OrderId): Promise<void> {
  return insertRow(tx, "idempotencyKeys", { ...key, payload_hash: payloadHash, order_id });
}
