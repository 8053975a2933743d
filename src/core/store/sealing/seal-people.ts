import { and, gt, isNotNull } from "drizzle-orm";
import type { OrderLineId } from "../../kernel/brand.ts";
import { findByKey } from "../rows.ts";
import { type Slots, statement } from "../statement.ts";
import type { Read, Store, Tx } from "../store.ts";
import { noteErasure, storedValue, storeValue } from "../stored-value.ts";
import type { Cell } from "../vault.ts";
import {
  type IndexEntry,
  type IndexScope,
  indexRecords,
  keysOfActivationCustomer,
  keysOfCustomer,
  keysOfMobileNumber,
  keysOfParcel,
  keysOfPassport,
  keysOfTraveler,
  type NamedRecord,
} from "./people.ts";
import { clearRows, type ResealInput, replaceSealed, type SealedPlace, sealedPlaces } from "./reseal.ts";

/** Rows of one transaction: few enough that an interruption loses little. */
const BATCH = 1000;

/** The setting that is there while people that an earlier version stored are in clear. */
const CLEAR = "people";

/** Whether a migration left people in clear, without the keys to seal and index them. */
export async function peopleAreClear(q: Read): Promise<boolean> {
  return (await storedValue(q, CLEAR)) !== null;
}

/**
 * Seals and indexes the people that an earlier version stored in clear, then removes them from the database's files.
 * Transaction by transaction: where it is cut off, the next start goes on.
 */
export async function sealPeople({ write, erase }: Pick<Store, "write" | "erase">): Promise<void> {
  for (const place of sealedPlaces.filter(({ name }) => name in fills)) {
    for (let after: string | null = ""; after !== null; ) {
      after = await write(sealBatch, { place, after, limit: BATCH });
    }
  }
  for (let after: string | null = ""; after !== null; ) {
    after = await write(indexParcels, { after, limit: BATCH });
  }
  await write(noteSealed, null);
  await erase();
}

async function noteSealed(tx: Tx, _input: null): Promise<void> {
  await storeValue(tx, CLEAR, null);
  await noteErasure(tx);
}

/** Answers under which keys a record is found; null: it is not indexed. */
type Fill = (tx: Tx, id: string, value: never) => Promise<IndexEntry | null>;

// The migration wrote the columns' values as the JSON of these shapes; the ids are those of their rows.
const fills: { [C in Cell["column"]]?: Fill } = {
  "orders.customer_sealed": async (tx, id, customer: Parameters<typeof keysOfCustomer>[0]) =>
    filled("order", id, await findByKey(tx, "orders", { id: id as never }), keysOfCustomer(customer)),
  "order_items.traveller_sealed": async (tx, id, traveler: Parameters<typeof keysOfTraveler>[0]) => {
    const item = await findByKey(tx, "orderItems", { id: id as never });
    const order = item === null ? null : await findByKey(tx, "orders", { id: item.order_id });
    return filled("order_item", id, order, keysOfTraveler(traveler));
  },
  "activations.customer_sealed": async (tx, id, customer: Parameters<typeof keysOfActivationCustomer>[0]) =>
    filled(
      "activation",
      id,
      await findByKey(tx, "activations", { id: id as never }),
      keysOfActivationCustomer(customer),
    ),
  "activations.mobile_number_sealed": async (tx, id, number: Parameters<typeof keysOfMobileNumber>[0]) =>
    filled("activation", id, await findByKey(tx, "activations", { id: id as never }), keysOfMobileNumber(number)),
  "passports.sealed": async (tx, id, names: Parameters<typeof keysOfPassport>[0]) =>
    filled("passport", id, await findByKey(tx, "passports", { id: id as never }), keysOfPassport(names)),
  "events.sealed": async () => null,
};

function filled(kind: NamedRecord["kind"], id: string, scope: IndexScope | null, keys: string[]): IndexEntry | null {
  return scope === null ? null : { scope, record: { kind, id }, keys };
}

/** Seals what one place holds in clear; answers the row to go on behind, null at the end. */
async function sealBatch(tx: Tx, input: ResealInput): Promise<string | null> {
  const rows = await clearRows(tx, input);
  const entries: IndexEntry[] = [];
  for (const { id, text } of rows) entries.push(...(await sealRow(tx, input.place, id, text)));
  await indexRecords(tx, entries);
  const last = rows.at(-1);
  return rows.length < input.limit || last === undefined ? null : last.id;
}

async function sealRow(tx: Tx, place: SealedPlace, id: string, text: string): Promise<IndexEntry[]> {
  const cell: Cell = { column: place.name, row: id };
  const plain = place.name === "passports.sealed" ? withNumber(tx, cell, text) : text;
  if (plain === null) {
    // What was sealed of it cannot be read: it stays as evidence, and its names are of no use without the number.
    await replaceSealed(tx, place, id, String(JSON.parse(text).sealed));
    return [];
  }
  await replaceSealed(tx, place, id, tx.vault.seal(plain, cell));
  // Each fill takes the shape of its column.
  const found = await fills[place.name]?.(tx, id, JSON.parse(plain) as never);
  return found ? [found] : [];
}

/** The names of a passport and what was sealed of it before, as one JSON text; null where that cannot be read. */
function withNumber(tx: Tx, cell: Cell, text: string): string | null {
  const { sealed, ...names } = JSON.parse(text) as { sealed: string };
  try {
    const before = sealed.startsWith("v1.") ? tx.vault.openUnbound(sealed) : tx.vault.openIfReadable(sealed, cell);
    return before === null ? null : JSON.stringify({ ...names, ...JSON.parse(before) });
  } catch {
    return null;
  }
}

const shipped = statement((db, t, slot: Slots<{ after: OrderLineId; limit: number }>) =>
  db
    .select()
    .from(t.orderLines)
    .where(and(gt(t.orderLines.id, slot.after), isNotNull(t.orderLines.shipping)))
    .orderBy(t.orderLines.id)
    .limit(slot.limit),
);

async function indexParcels(tx: Tx, { after, limit }: { after: string; limit: number }): Promise<string | null> {
  // Any text may come before the first id.
  const lines = await shipped(tx, { after: after as OrderLineId, limit });
  const entries = lines.map((line) => ({
    scope: line,
    record: { kind: "order" as const, id: line.order_id },
    keys: line.shipping === null ? [] : keysOfParcel(line.shipping),
  }));
  await indexRecords(tx, entries);
  const last = lines.at(-1);
  return lines.length < limit || last === undefined ? null : last.id;
}
