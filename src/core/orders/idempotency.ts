import { and, eq, getTableColumns, inArray, sql } from "drizzle-orm";
import type { OrderId } from "../kernel/brand.ts";
import { environments } from "../kernel/environment.ts";
import { Problem } from "../kernel/problem.ts";
import { flush, loader } from "../store/batch-context.ts";
import { insert } from "../store/rows.ts";
import type { Row, Tables } from "../store/schema/tables.ts";
import type { OrderKeySpace } from "../store/schema/values.ts";
import { first, type Slots, statement, textAt } from "../store/statement.ts";
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

const booked = statement((db, t, slot: Slots<{ key: string }>) => {
  const { partners, orders } = t;
  return db
    .select(getTableColumns(orders))
    .from(partners)
    .innerJoin(
      orders,
      and(
        eq(orders.partner_id, partners.id),
        inArray(orders.environment, [...environments]),
        eq(orders.external_order_id, slot.key),
        sql`external_order_id is not null`,
      ),
    );
});

/** The orders of any partner with this id of its own. */
export function ordersBookedAs(q: Read, key: string): Promise<Row<"orders">[]> {
  return booked(q, { key });
}

/** What a request with a key asks for: the hash of its payload. */
export interface KeyedRequest {
  key: Pick<Row<"idempotencyKeys">, keyof OwnKey>;
  payloadHash: string;
}

/** `keys` is JSON: a list of lists. Each is looked up by itself: for a join PostgreSQL may read the table. */
const keysUsed = statement((db, t, slot: Slots<{ keys: string }>, dialect) => {
  const one = { partner_id: textAt(0), environment: textAt(1), space: textAt(2), key: textAt(3) };
  const { payload_hash, order_id } = t.idempotencyKeys;
  // Cells in place of the parameters that `keyUsed` has.
  const ofKey = <C extends typeof payload_hash | typeof order_id>(column: C) =>
    sql<C["_"]["data"] | null>`(${db
      .select({ column })
      .from(t.idempotencyKeys)
      .where(isKey(t, one as Slots<OwnKey>))})`;
  return db
    .select({ place: textAt<string>(4), payload_hash: ofKey(payload_hash), order_id: ofKey(order_id) })
    .from(dialect.listed(slot.keys));
});

/** The order that was created with a key, and the hash of its payload. */
interface UsedKey {
  payload_hash: string;
  order_id: OrderId;
}

/** What was created with keys; null: the key is free. */
export const usedKeys = loader<OwnKey, UsedKey | null>({
  name: ({ partner_id, environment, space, key }) => `${partner_id} ${environment} ${space} ${key}`,
  async loadMany(q, keys) {
    const listed = keys.map(({ partner_id, environment, space, key }, at) => {
      return [partner_id, environment, space, key, String(at)];
    });
    const found = new Map<string, UsedKey>();
    for (const { place, payload_hash, order_id } of await keysUsed(q, { keys: JSON.stringify(listed) })) {
      if (payload_hash !== null && order_id !== null) found.set(place, { payload_hash, order_id });
    }
    return keys.map((_, at) => found.get(String(at)) ?? null);
  },
  loadOne: async (q, key) => first(await keyUsed(q, { ...key })),
});

/** The order that the same request created before; null: the key is free. Throws `idempotency_conflict`. */
export async function orderToReplay(q: Read, { key, payloadHash }: KeyedRequest): Promise<OrderId | null> {
  const used = await usedKeys.get(q, key);
  if (used === null) return null;
  assertSamePayload(key.space, used.payload_hash, payloadHash);
  // The order may be one of the batch. Not before: a refusal that has written makes its batch be made again.
  await flush(q);
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
  const used = { payload_hash: payloadHash, order_id };
  usedKeys.set(tx, key, used);
  return insert(tx, "idempotencyKeys", [{ ...key, ...used }]);
}
