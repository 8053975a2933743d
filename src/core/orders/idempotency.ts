import { and, eq, getTableColumns, inArray, sql } from "drizzle-orm";
import type { OrderId } from "../kernel/brand.ts";
import { environments } from "../kernel/environment.ts";
import { Problem } from "../kernel/problem.ts";
import { elementsOf } from "../store/rows.ts";
import { gathersRows, insertLast, isRemembered, remember, writeGathered } from "../store/run-memory.ts";
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
const keysUsed = statement((db, t, slot: Slots<{ keys: string }>) => {
  const cell = (at: number) => sql`listed.value ->> ${sql.raw(String(at))}`;
  const one = { partner_id: cell(0), environment: cell(1), space: cell(2), key: cell(3) };
  const { payload_hash, order_id } = t.idempotencyKeys;
  // Cells in place of the parameters that `keyUsed` has.
  const found = db
    .select({ payload_hash, order_id })
    .from(t.idempotencyKeys)
    .where(isKey(t, one as Slots<OwnKey>));
  return db
    .select({
      place: sql<string>`${cell(4)}`,
      payload_hash: sql<string>`used.payload_hash`,
      order_id: sql<OrderId>`used.order_id`,
    })
    .from(sql`${elementsOf(t, slot.keys)} cross join lateral (${found.limit(1)}) as used`);
});

/** Looks up which of these keys were used, for the commands of a run. */
export async function lookAtKeys(tx: Tx, keys: readonly OwnKey[]): Promise<void> {
  const unknown = keys.filter((key) => !isRemembered(tx, nameOf(key)));
  if (unknown.length === 0) return;
  const listed = unknown.map(({ partner_id, environment, space, key }, at) => {
    return [partner_id, environment, space, key, String(at)];
  });
  const used = await keysUsed(tx, { keys: JSON.stringify(listed) });
  const orders = new Map(used.map(({ place, ...order }) => [place, order]));
  for (const [at, key] of unknown.entries()) remember(tx, nameOf(key), orders.get(String(at)) ?? null);
}

/** The order of a key as a run knows it, or as it is stored. */
async function usedBy(q: Read, key: OwnKey): ReturnType<typeof orderOfKey> {
  if (!gathersRows(q)) return orderOfKey(q, key);
  // What `lookAtKeys` and `keepKey` remember.
  const known = q.memory?.found.get(nameOf(key)) as Awaited<ReturnType<typeof orderOfKey>> | undefined;
  return known === undefined ? orderOfKey(q, key) : known;
}

/** The order that the same request created before; null: the key is free. Throws `idempotency_conflict`. */
export async function orderToReplay(q: Read, { key, payloadHash }: KeyedRequest): Promise<OrderId | null> {
  const used = await usedBy(q, key);
  if (used === null) return null;
  assertSamePayload(key.space, used.payload_hash, payloadHash);
  // The order may be one of the run. Not before: a refusal that has written makes its batch be made again.
  if (gathersRows(q)) await writeGathered(q);
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
  if (gathersRows(tx)) remember(tx, nameOf(key), { payload_hash: payloadHash, order_id });
  return insertLast(tx, "idempotencyKeys", { ...key, payload_hash: payloadHash, order_id });
}

/** What the memory of a run calls a key. */
function nameOf({ partner_id, environment, space, key }: OwnKey): string {
  return `key ${partner_id} ${environment} ${space} ${key}`;
}
