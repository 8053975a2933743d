import { gt, sql } from "drizzle-orm";
import { isKey } from "../orders/idempotency.ts";
import type { Row, Tables } from "../store/schema/tables.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Store, Tx } from "../store/store.ts";
import { noteErasure } from "../store/stored-value.ts";

/** Rows of one read: it is short, however long the table. */
const PAGE = 500;

/** The tables that are read whole: each has an `id`. */
export type PagedTable =
  | "passports"
  | "activations"
  | "activationAttempts"
  | "orders"
  | "orderItems"
  | "itemAttempts"
  | "events"
  | "deliveryAttempts"
  | "travelerMails"
  | "auditEntries"
  | "ledgerTransactions";

function pageOf<N extends PagedTable>(name: N) {
  const page = statement((db, t, slot: Slots<{ after: string; limit: number }>) => {
    // Each of these tables has an `id` of text; drizzle's types need one table.
    const table = t[name] as Tables["ledgerTransactions"];
    return db.select().from(table).where(gt(table.id, slot.after)).orderBy(table.id).limit(slot.limit);
  });
  // A select of a whole table yields its rows.
  return async (q: Read, after: string) => (await page(q, { after, limit: PAGE })) as unknown as Row<N>[];
}

const pages = {
  passports: pageOf("passports"),
  activations: pageOf("activations"),
  activationAttempts: pageOf("activationAttempts"),
  orders: pageOf("orders"),
  orderItems: pageOf("orderItems"),
  itemAttempts: pageOf("itemAttempts"),
  events: pageOf("events"),
  deliveryAttempts: pageOf("deliveryAttempts"),
  travelerMails: pageOf("travelerMails"),
  auditEntries: pageOf("auditEntries"),
  ledgerTransactions: pageOf("ledgerTransactions"),
} satisfies { [N in PagedTable]: (q: Read, after: string) => Promise<Row<N>[]> };

/**
 * Reads a table whole, a page at a time, each page on a snapshot of its own; `pick` makes something of a row, or null.
 * Yields what each page brought. Ends early once `signal` is aborted.
 */
export async function* readWhole<N extends PagedTable, T>(
  store: Store,
  table: N,
  pick: (q: Read, row: Row<N>) => Promise<T | null>,
  signal?: AbortSignal,
): AsyncGenerator<T[]> {
  let after: string | null = "";
  while (after !== null && signal?.aborted !== true) {
    const from: string = after;
    const { picked, next } = await store.read(async (q: Read) => {
      // The page of a table holds its rows.
      const rows = (await pages[table](q, from)) as Row<N>[];
      return { picked: await pickFrom(q, rows, pick), next: rows.length < PAGE ? null : (rows.at(-1)?.id ?? null) };
    }, null);
    after = next;
    if (picked.length > 0) yield picked;
  }
}

async function pickFrom<R, T>(q: Read, rows: R[], pick: (q: Read, row: R) => Promise<T | null>): Promise<T[]> {
  const picked: T[] = [];
  for (const row of rows) {
    const one = await pick(q, row);
    if (one !== null) picked.push(one);
  }
  return picked;
}

export type KeyRow = Row<"idempotencyKeys">;

type KeyPosition = Record<"partner_id" | "environment" | "space" | "key", string>;
type KeyWindow = KeyPosition & { limit: number };

/** Before every key. */
const START: KeyPosition = { partner_id: "", environment: "", space: "", key: "" };

const keyPage = statement((db, t, slot: Slots<KeyWindow>) => {
  const { partner_id, environment, space, key } = t.idempotencyKeys;
  return db
    .select()
    .from(t.idempotencyKeys)
    .where(
      sql`(${partner_id}, ${environment}, ${space}, ${key})
        > (${slot.partner_id}, ${slot.environment}, ${slot.space}, ${slot.key})`,
    )
    .orderBy(partner_id, environment, space, key)
    .limit(slot.limit);
});

/** The same for the keys of orders. */
export async function* readKeys(
  store: Store,
  pick: (q: Read, row: KeyRow) => Promise<boolean>,
  signal?: AbortSignal,
): AsyncGenerator<KeyRow[]> {
  let after: KeyPosition | null = START;
  while (after !== null && signal?.aborted !== true) {
    const { partner_id, environment, space, key }: KeyPosition = after;
    const { picked, next }: { picked: KeyRow[]; next: KeyPosition | null } = await store.read(async (q: Read) => {
      const rows = await keyPage(q, { partner_id, environment, space, key, limit: PAGE });
      const kept = await pickFrom(q, rows, async (_q, row) => ((await pick(q, row)) ? row : null));
      return { picked: kept, next: rows.length < PAGE ? null : (rows.at(-1) ?? null) };
    }, null);
    after = next;
    if (picked.length > 0) yield picked;
  }
}

type KeyChange = Omit<KeyRow, "order_id"> & { new_key: string };

const changeKey = statement((db, t, slot: Slots<KeyChange>) =>
  db.update(t.idempotencyKeys).set({ key: slot.new_key, payload_hash: slot.payload_hash }).where(isKey(t, slot)),
);

/** The hash of a cleared payload: no payload has it, so a request with the key is refused and orders nothing. */
export const NO_HASH = "";

/** Clears the hashes of the payloads of orders' keys, and gives a key another name where `rename` says one. */
export async function clearKeys(tx: Tx, input: { keys: (KeyRow & { rename?: string })[] }): Promise<void> {
  for (const { partner_id, environment, space, key, rename } of input.keys) {
    await changeKey(tx, { partner_id, environment, space, key, new_key: rename ?? key, payload_hash: NO_HASH });
  }
  if (input.keys.length > 0) await noteErasure(tx);
}
