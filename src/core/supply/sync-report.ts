import { formatCost } from "../kernel/cost.ts";
import type { Offer } from "./offer.ts";
import type { Difference, SyncChange } from "./sync-diff.ts";

/** What a sync has done, or would do. */
export interface SyncReport {
  /** Plans in the supplier's catalog. */
  read: number;
  /** Products. */
  added: number;
  updated: number;
  unchanged: number;
  deactivated: number;
  held: number;
  changes: SyncChange[];
  /** What could not be taken over, and why. */
  skipped: { sku: string; reason: string }[];
}

/** The report of a sync that has read so many plans. */
export function emptyReport(read: number): SyncReport {
  return { read, added: 0, updated: 0, unchanged: 0, deactivated: 0, held: 0, changes: [], skipped: [] };
}

/** Adds a product that was compared. */
export function count(report: SyncReport, { outcome, changes }: Pick<Difference, "outcome" | "changes">): void {
  report[outcome] += 1;
  report.changes.push(...changes);
}

/** Adds a new product. */
export function added(report: SyncReport, { sku, offer, price }: { sku: string; offer: Offer; price: number }): void {
  const about = { sku, supplier_sku: offer.plan, from: null };
  report.added += 1;
  report.changes.push({ ...about, field: "cost", to: formatCost(offer.cost) });
  report.changes.push({ ...about, field: "price_cents", to: price });
}

/** Adds what a step of a sync has done. */
export function addStep(report: SyncReport, step: SyncReport): void {
  for (const key of ["added", "updated", "unchanged", "deactivated", "held"] as const) report[key] += step[key];
  report.changes.push(...step.changes);
  report.skipped.push(...step.skipped);
}
