import { and, eq, gt, sql } from "drizzle-orm";
import { EVERY_KIND, type StoredPayload } from "../events/catalog.ts";
import { watchedFields } from "../events/products.ts";
import type { PartnerId } from "../kernel/brand.ts";
import type { Environment } from "../kernel/environment.ts";
import { newId } from "../kernel/ids.ts";
import { recordEvent } from "../outbox/record.ts";
import { insertRow, updateRow } from "../store/rows.ts";
import type { Row, Tables } from "../store/schema/tables.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import type { ProductInput } from "./product-input.ts";

/** Changes of one row: as many events as one transaction writes. */
const SET = 50;

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
    await insertRow(tx, "productChanges", { ...set, after_partner: "", after_environment: "" });
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

const ownersAfter = statement((db, t, slot: Slots<Position>) => {
  const { partner_id, environment } = t.webhookEndpoints;
  return db
    .select({ partner_id, environment })
    .from(t.webhookEndpoints)
    .where(and(sql`(${partner_id}, ${environment}) > (${slot.partner}, ${slot.environment})`, asks(t)))
    .orderBy(partner_id, environment)
    .limit(slot.limit);
});

/** Whether changes wait for their events. */
export async function hasChanges(q: Read, _input: null): Promise<boolean> {
  return (await oldest(q)) !== null;
}

/**
 * Writes product.updated of the oldest changes for the next partner and environment with an endpoint that asks for it,
 * 50 events at most; after the last of them it drops the changes. Returns whether there were any. The events of a
 * product keep its order of changes. Partners and environments without such an endpoint get no row.
 */
export async function announceChanges(tx: Tx, _input: null): Promise<boolean> {
  const set = await oldest(tx);
  if (set === null) return false;
  const position = { partner: set.after_partner, environment: set.after_environment };
  const owner = first(await ownersAfter(tx, { ...position, limit: 1 }));
  if (owner === null) await drop(tx, { id: set.id });
  else await writeFor(tx, owner, set);
  return true;
}

type Owner = { partner_id: PartnerId; environment: Environment };

async function writeFor(tx: Tx, { partner_id, environment }: Owner, { id, at, changes }: Row<"productChanges">) {
  await updateRow(tx, "productChanges", { id }, { after_partner: partner_id, after_environment: environment });
  for (const data of changes) {
    const audience = { partnerId: partner_id, environment, subjectId: data.id, at };
    await recordEvent(tx, { kind: "product.updated", ...audience, data });
  }
}
