import type { ActivationRow } from "../activations/activation.ts";
import type { Actor } from "../audit/record.ts";
import { civilDateAt } from "../kernel/civil-date.ts";
import { namesTraveler } from "../orders/customer.ts";
import { type ItemRow, itemsOfOrder } from "../orders/items.ts";
import type { OrderRow } from "../orders/order.ts";
import { deletePassport } from "../passports/delete.ts";
import type { PassportRow } from "../passports/passport.ts";
import { findByKey } from "../store/rows.ts";
import type { Read, Store, Tx } from "../store/store.ts";
import { type Clearing, clearActivation, clearCustomer, clearItem, hasEnded } from "./clear.ts";
import { clearKeys, type KeyRow, NO_HASH, readKeys, readWhole } from "./pages.ts";

/** Records that one transaction clears, with their events and exchanges: a running daemon does not wait. */
export const BATCH = 25;

/** What was cleared, or would be, by kind. */
export interface Purged {
  /** Deleted. */
  passports: number;
  activations: number;
  /** Items of orders: their travelers. */
  order_items: number;
  /** Orders: their customers. */
  orders: number;
  /** Keys of orders whose hash covers identity data. */
  order_keys: number;
}

/** How a purge goes about its work. */
export interface PurgeOptions {
  /** What ended before this moment (ms). */
  before: number;
  actor: Actor;
  /** Counts, and changes nothing. */
  dryRun: boolean;
  /** Once aborted it ends after the transaction under way; the same call later goes on. */
  signal?: AbortSignal;
}

const none: Purged = { passports: 0, activations: 0, order_items: 0, orders: 0, order_keys: 0 };

/**
 * Clears all that is personal and whose time is over: passports withdrawn or expired before the moment, and of
 * activations and orders that ended before it all identity data, with the bodies of their events. What is open, money,
 * order numbers, ICCIDs and states stay. Done in short transactions; cut off, the same call goes on.
 */
export async function purge(store: Store, options: PurgeOptions): Promise<Purged> {
  const { before, actor, dryRun, signal } = options;
  const done = { ...none };
  const clearing: Clearing = { actor, verb: "purge" };
  const run = async <T>(kind: keyof Purged, found: AsyncGenerator<T[]>, clear: Clear<T>) => {
    for await (const rows of found) {
      for (let at = 0; at < rows.length && signal?.aborted !== true; at += BATCH) {
        const batch = rows.slice(at, at + BATCH);
        done[kind] += dryRun ? batch.length : await store.write(clear, { rows: batch, before, clearing });
      }
    }
  };
  await run(
    "passports",
    readWhole(store, "passports", async (_q, row) => due(isOld(row, before), row), signal),
    old,
  );
  await run(
    "activations",
    readWhole(store, "activations", async (_q, row) => due(isOver(row, before), row), signal),
    over,
  );
  const items = async (q: Read, row: ItemRow) => due(await isDelivered(q, row, before), row);
  await run("order_items", readWhole(store, "orderItems", items, signal), delivered);
  await run(
    "orders",
    readWhole(store, "orders", async (_q, row) => due(isClosed(row, before), row), signal),
    closed,
  );
  await run(
    "order_keys",
    readKeys(store, (q, row) => isSpent(q, row, before), signal),
    spent,
  );
  return done;
}

interface Batch<T> {
  rows: T[];
  before: number;
  clearing: Clearing;
}

/** Clears those rows of a batch that are still due; answers how many. */
type Clear<T> = (tx: Tx, batch: Batch<T>) => Promise<number>;

function due<T>(isDue: boolean, row: T): T | null {
  return isDue ? row : null;
}

function isOld({ withdrawn_at, passport_expiry }: PassportRow, before: number): boolean {
  return (withdrawn_at !== null && withdrawn_at < before) || passport_expiry < civilDateAt(before);
}

const old: Clear<PassportRow> = async (tx, { rows, before, clearing }) => {
  let count = 0;
  for (const { id } of rows) {
    const row = await findByKey(tx, "passports", { id });
    if (row === null || !isOld(row, before)) continue;
    await deletePassport(tx, row, clearing);
    count += 1;
  }
  return count;
};

/** Ended before, with anything personal in it. One that waits for staff has not ended. */
function isOver(row: ActivationRow, before: number): boolean {
  return row.finished_at !== null && row.finished_at < before && !isClearedActivation(row);
}

/** Whether nothing personal is left in a request. */
function isClearedActivation(row: ActivationRow): boolean {
  const { customer_sealed, mobile_number_sealed, sealed, passport_index, note, cancel_reason, error_message } = row;
  const left = [customer_sealed, mobile_number_sealed, sealed, passport_index, note, cancel_reason, error_message];
  return left.every((value) => value === null);
}

const over: Clear<ActivationRow> = async (tx, { rows, before, clearing }) => {
  let count = 0;
  for (const { id } of rows) {
    const row = await findByKey(tx, "activations", { id });
    if (row === null || !isOver(row, before)) continue;
    await clearActivation(tx, row, clearing);
    count += 1;
  }
  return count;
};

function endedBefore(order: OrderRow, before: number): boolean {
  if (!hasEnded(order)) return false;
  // The times of a sandbox order may be ahead of the system's: it counts from its creation.
  if (order.environment === "sandbox") return order.created_at - order.ahead_ms < before;
  return (order.fulfilled_at ?? order.cancelled_at ?? order.updated_at) < before;
}

/** Whether an item has a traveler whose order ended before. */
async function isDelivered(q: Read, item: ItemRow, before: number): Promise<boolean> {
  if (!namesTraveler(q, item)) return false;
  const order = await findByKey(q, "orders", { id: item.order_id });
  return order !== null && endedBefore(order, before);
}

const delivered: Clear<ItemRow> = async (tx, { rows, before, clearing }) => {
  let count = 0;
  for (const { id } of rows) {
    const row = await findByKey(tx, "orderItems", { id });
    if (row === null || !(await isDelivered(tx, row, before))) continue;
    await clearItem(tx, row, clearing);
    count += 1;
  }
  return count;
};

function isClosed(order: OrderRow, before: number): boolean {
  return order.customer_sealed !== null && endedBefore(order, before);
}

const closed: Clear<OrderRow> = async (tx, { rows, before, clearing }) => {
  let count = 0;
  for (const { id } of rows) {
    const row = await findByKey(tx, "orders", { id });
    if (row === null || !isClosed(row, before)) continue;
    await clearCustomer(tx, row, clearing);
    count += 1;
  }
  return count;
};

/** Whether a key's hash covers a customer or travelers of an order that ended before. */
async function isSpent(q: Read, key: KeyRow, before: number): Promise<boolean> {
  if (key.payload_hash === NO_HASH) return false;
  const order = await findByKey(q, "orders", { id: key.order_id });
  if (order === null || !endedBefore(order, before)) return false;
  if (key.space === "bulk") return true;
  return (await itemsOfOrder(q, order.id)).some(({ traveller_sealed }) => traveller_sealed !== null);
}

const spent: Clear<KeyRow> = async (tx, { rows }) => {
  await clearKeys(tx, { keys: rows });
  return rows.length;
};
