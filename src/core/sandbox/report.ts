import type { Actor } from "../audit/record.ts";
import type { DeliveredEsim } from "../esims/delivered.ts";
import { makeExpired } from "../esims/expire.ts";
import { makeActive, makeSuspended, refuseMove } from "../esims/life.ts";
import { type EsimAsked, type EsimStatusRecord, requireOwnEsim, toEsimStatus } from "../esims/status.ts";
import { takeUsage } from "../esims/usage.ts";
import { invalid, Problem } from "../kernel/problem.ts";
import { nowOf } from "../platform/sandbox-clock.ts";
import type { EsimStatus, SandboxEsimEvent } from "../store/schema/values.ts";
import type { Tx } from "../store/store.ts";

const become: Readonly<Record<Exclude<SandboxEsimEvent, "usage">, EsimStatus>> = {
  activated: "active",
  suspended: "suspended",
  resumed: "active",
  expired: "expired",
};

/** A report on a sandbox eSIM. */
export interface SandboxReport extends EsimAsked {
  event: SandboxEsimEvent;
  /** Megabytes used in all; required of `usage`. */
  usedMb: number | null;
  actor: Actor;
}

/**
 * Applies a report on one of the caller's sandbox eSIMs as a supplier's is applied: same transitions, same events, at
 * the sandbox clock's time. One that is in that state already stays as it is. Throws as `esimStatus` does, and
 * `validation` for usage without megabytes, `conflict` for a move that the transition table does not have.
 */
export async function reportSandboxEsim(tx: Tx, report: SandboxReport): Promise<EsimStatusRecord> {
  const known = await requireOwnEsim(tx, report);
  const { event, iccid, usedMb: used_mb, actor } = report;
  if (event === "usage" && used_mb === null) throw invalid({ used_mb: ["is required with the event usage"] });
  const { status_at, usage_at } = known.esim;
  // After a reset the clock may be behind what the eSIM already went through: a report is never older than that.
  const at = Math.max(await nowOf(tx, report), status_at ?? 0, usage_at === null ? 0 : usage_at + 1);
  const moved = event === "usage" ? known : await move(tx, known, { event, actor, at });
  if (used_mb !== null) {
    await takeUsage(tx, moved, { iccid, used_mb, total_mb: null, country: null, network: null, at });
  }
  return toEsimStatus(await requireOwnEsim(tx, report));
}

interface Move {
  event: Exclude<SandboxEsimEvent, "usage">;
  actor: Actor;
  at: number;
}

async function move(tx: Tx, known: DeliveredEsim, { event, ...how }: Move): Promise<DeliveredEsim> {
  const { iccid, status } = known.esim;
  const to = become[event];
  if (status === to) return known;
  if (event === "resumed" && status === "inactive") {
    throw new Problem("conflict", `eSIM ${iccid} is inactive: it was never activated, so it cannot be resumed.`);
  }
  // Only a supplier ends what was never used, and the sandbox has none.
  if (event === "expired" && status === "inactive") {
    throw new Problem("conflict", `eSIM ${iccid} is ${status} and cannot become ${to}.`);
  }
  refuseMove(known.esim, to);
  if (to === "expired") return makeExpired(tx, known, how);
  return to === "active" ? makeActive(tx, known, how) : makeSuspended(tx, known, how);
}
