import { and, eq, gt, isNotNull, type SQL, sql } from "drizzle-orm";
import { EVERY_KIND, type StoredPayload } from "../events/catalog.ts";
import { watchedFields } from "../events/products.ts";
import { newId } from "../kernel/ids.ts";
import { recordForMany } from "../outbox/record.ts";
import { insert, updateRow } from "../store/rows.ts";
import type { Row, Tables } from "../store/schema/tables.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import type { ProductInput } from "./product-input.ts";

/** Changes of one row. */
const SET = 50;

/** Events that one transaction writes at most, so that nothing else waits for long. */
const STEP = 1_000;

export type ProductUpdate = StoredPayload<"product.updated">;

/** What product.updated says of a change; null: nothing of it is watched. */
export function updateOf(row: Row<"products">, after: ProductInput): ProductUpdate | null {
  const changed = watchedFields.filter((field) => row[field] !== after[field]);
  const { price_cents, currency, status } = after;
  return changed.length === 0 ? null : { id: row.id, sku: row.sku, changed, price_cents, currency, status };
}

/**
 * Keeps changes for product.updated. Their events are written by `announceChanges`: one for each subscriber would make
 * an import of a whole catalog as long as it has subscribers.
 */
export async function keepUpdates(tx: Tx, updates: (ProductUpdate | null)[]): Promise<void> {
  const changes = updates.filter((update) => update !== null);
  for (let from = 0; from < changes.length; from += SET) {
    const set = { id: newId(tx), at: tx.now, changes: changes.slice(from, from + SET) };
    await insert(tx, "productChanges", [{ ...set, after_partner: "", after_environment: "" }]);
  }
}

const firstAfter = statement((db, t, slot: Slots<{ after: string }>) =>
  db.select().from(t.productChanges).where(gt(t.productChanges.id, slot.after)).orderBy(t.productChanges.id).limit(1),
);

async function oldest(q: Read): Promise<Row<"productChanges"> | null> {
  return first(await firstAfter(q, { after: "" }));
}

const drop = statement((db, t, slot: Slots<{ id: string }>) =>
  db.delete(t.productChanges).where(eq(t.productChanges.id, slot.id)),
);

type Position = { partner: string; environment: string; limit: number };

/** Whether an endpoint asks for product.updated, by name or with all kinds: as its JSON spells it. */
function asks({ webhookEndpoints: { events } }: Tables) {
  return sql`(${events} like '%"product.updated"%' or ${events} like ${`%"${EVERY_KIND}"%`})`;
}

/** The next feeds with a reader, or with an endpoint that asks, in the order of their key. */
const feedsAfter = statement((db, t, slot: Slots<Position>) => {
  const next = (table: Tables["webhookEndpoints"] | Tables["eventFeeds"], condition: SQL, name: string) =>
    db
      .selectDistinct({ partner_id: table.partner_id, environment: table.environment })
      .from(table)
      .where(and(sql`(${table.partner_id}, ${table.environment}) > (${slot.partner}, ${slot.environment})`, condition))
      .orderBy(table.partner_id, table.environment)
      .limit(slot.limit)
      .as(name);
  const asking = next(t.webhookEndpoints, asks(t), "asking");
  const read = next(t.eventFeeds, isNotNull(t.eventFeeds.read_at), "read");
  const { partner_id, environment } = asking;
  return db
    .select({ partner_id, environment })
    .from(asking)
    .union(db.select({ partner_id: read.partner_id, environment: read.environment }).from(read))
    .orderBy(partner_id, environment)
    .limit(slot.limit);
});

/** Whether changes wait for their events. */
export async function hasChanges(q: Read, _input: null): Promise<boolean> {
  return (await oldest(q)) !== null;
}

/**
 * Writes product.updated of the oldest changes for the next partners and environments whose feed was read before, or
 * with an endpoint that asks for it: 1,000 events at most; after the last of them it drops the changes. Returns whether
 * there were any. The events of a product keep its order of changes. Others get no row (docs/decisions/0050).
 */
export async function announceChanges(tx: Tx, _input: null): Promise<boolean> {
  const set = await oldest(tx);
  if (set === null) return false;
  const position = { partner: set.after_partner, environment: set.after_environment };
  const limit = Math.max(1, Math.floor(STEP / set.changes.length));
  const feeds = await feedsAfter(tx, { ...position, limit });
  const last = feeds.at(-1);
  if (last === undefined) await drop(tx, { id: set.id });
  else {
    await recordForMany(tx, feeds, eventsOf(set));
    const after = { after_partner: last.partner_id, after_environment: last.environment };
    await updateRow(tx, "productChanges", { id: set.id }, after);
  }
  return true;
}

function eventsOf({ changes, at }: Row<"productChanges">) {
  return changes.map((data) => ({ kind: "product.updated" as const, subjectId: data.id, at, data }));
}
