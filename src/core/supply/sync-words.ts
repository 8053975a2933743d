import type { SyncChange } from "./sync-diff.ts";
import type { Skipped, SyncReport } from "./sync-report.ts";

/** A change of a sync as people read it. */
export interface ShownChange {
  sku: string;
  field: string;
  before: string | null;
  now: string | null;
}

/** The changes of a sync for people: costs and prices with their currency, as `money` writes minor units. */
export function shownChanges(
  changes: readonly SyncChange[],
  money: (cents: number, currency: string) => string,
): ShownChange[] {
  const before = new Map(changes.flatMap((one) => (one.field === "cost_currency" ? [[one.sku, one.from]] : [])));
  return changes.map(({ sku, field, from, to, currency }) => {
    const words = (value: SyncChange["from"], of: SyncChange["from"] | undefined) => {
      if (value === null || typeof of !== "string") return value === null ? null : String(value);
      return typeof value === "number" ? money(value, of) : `${value} ${of}`;
    };
    const was = field === "cost" ? (before.get(sku) ?? currency) : currency;
    const name = field === "price_cents" ? "price" : field;
    return { sku, field: name, before: words(from, was), now: words(to, currency) };
  });
}

/** How many plans a sync has read, and what became of their products. */
export function syncSummary({ read, added, updated, unchanged, deactivated, held }: SyncReport): string {
  const counts = { added, updated, unchanged, deactivated, held };
  const words = Object.entries(counts).map(([what, many]) => `${many} ${what}`);
  return `${read} plans read: ${words.join(", ")}`;
}

/** What was left out and why, in words. */
export function skippedWords({ sku, reason, row, supplier_sku, name }: Skipped): string {
  if (row === undefined) return `${sku}: it ${reason}`;
  const which = [supplier_sku, name === null ? null : name && `"${name}"`].filter((one) => one);
  return `row ${row} of the catalog${which.length === 0 ? "" : ` (${which.join(", ")})`} cannot be read: ${reason}`;
}
