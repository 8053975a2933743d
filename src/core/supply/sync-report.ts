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
  skipped: Skipped[];
}

/** What could not be taken over, and why. */
export interface Skipped {
  /** Null: no product, or several, are made of it. */
  sku: string | null;
  reason: string;
  /** A row that cannot be read: its place in the catalog, the plan and its name, as far as it says them. */
  row?: number;
  supplier_sku?: string | null;
  name?: string | null;
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

interface Added {
  sku: string;
  offer: Offer;
  price: number;
  /** What the price is in. */
  currency: string;
}

/** Adds a new product. */
export function added(report: SyncReport, { sku, offer, price, currency }: Added): void {
  const about = { sku, supplier_sku: offer.plan, from: null };
  report.added += 1;
  report.changes.push({ ...about, field: "cost", to: formatCost(offer.cost), currency: offer.currency });
  report.changes.push({ ...about, field: "price_cents", to: price, currency });
}

/** Adds what a step of a sync has done. */
export function addStep(report: SyncReport, step: SyncReport): void {
  for (const key of ["added", "updated", "unchanged", "deactivated", "held"] as const) report[key] += step[key];
  report.changes.push(...step.changes);
  report.skipped.push(...step.skipped);
}
