import { invalid } from "../kernel/problem.ts";
import { applyOnce, eventTime, type SignedCallback } from "../platform/signed-callback.ts";
import type { Tx } from "../store/store.ts";
import { type DeliveredEsim, requireSuppliedEsim } from "./delivered.ts";
import { beginValidity, type EsimMove, makeActive, makeSuspended, progressEsim } from "./life.ts";
import { takePlace, takeUsage, type UsageReport } from "./usage.ts";

/** What a supplier may report of an eSIM that it delivered. */
export const esimEvents = ["activated", "suspended", "resumed", "usage"] as const;

/** A report of a supplier about one of its eSIMs. */
export interface EsimReport {
  iccid: string;
  event: (typeof esimEvents)[number];
  /** When it was true (ms); null: when it was signed. */
  at: number | null;
  /** Data used, if it is reported. */
  usage: Pick<UsageReport, "used_mb" | "total_mb"> | null;
  /** Where it was seen; both null: not reported. */
  place: Pick<UsageReport, "country" | "network">;
}

/** A supplier's clock may be ahead by as much as its signature may be. */
const CLOCK_SKEW_MS = 300_000;

/**
 * Applies a supplier's report on its eSIM. Reports may come in any order and more than once: what is not newer than
 * what is known changes nothing, except that an activation is never lost, since validity counts from it. `applied` says
 * whether anything changed. Throws `not_found` for another supplier's eSIM, `validation` for a time in the future.
 */
export async function takeEsimReport(
  tx: Tx,
  { supplier, report, signed }: { supplier: string; report: EsimReport; signed: SignedCallback },
): Promise<{ applied: boolean }> {
  const known = await requireSuppliedEsim(tx, { supplier, iccid: report.iccid });
  const signedAt = eventTime(tx, signed);
  const at = report.at === null ? signedAt : Math.min(report.at, tx.now);
  if (report.at !== null && report.at > tx.now + CLOCK_SKEW_MS) throw invalid({ at: ["must not be in the future"] });
  return applyOnce(tx, signed, async () => {
    const moved = await move(tx, known, report.event, { actor: `supplier:${supplier}`, at });
    const seen = await measure(tx, known, { ...report, at: report.at === null ? null : at, signedAt });
    return { applied: moved || seen };
  });
}

async function measure(
  tx: Tx,
  known: DeliveredEsim,
  { iccid, usage, place, at, signedAt }: EsimReport & { signedAt: number },
): Promise<boolean> {
  if (usage !== null) return (await takeUsage(tx, known, { iccid, ...usage, ...place, at, signedAt })) !== "duplicate";
  if (place.country === null && place.network === null) return false;
  return (await takePlace(tx, known.esim, { ...place, at, signedAt })) !== "duplicate";
}

async function move(tx: Tx, known: DeliveredEsim, event: EsimReport["event"], how: EsimMove): Promise<boolean> {
  const { status, status_at, activated_at } = known.esim;
  if (event === "usage" || status === "expired") return false;
  if (event === "activated" && activated_at === null) {
    await beginValidity(tx, known, how);
    return true;
  }
  if (status_at !== null && how.at <= status_at) return false;
  const to = event === "suspended" ? "suspended" : "active";
  if (status === to || (event === "resumed" && status === "inactive")) {
    // Nothing changes; but an older report that comes later must not undo it.
    await progressEsim(tx, known, { status_at: how.at });
    return false;
  }
  await (to === "active" ? makeActive : makeSuspended)(tx, known, how);
  return true;
}
