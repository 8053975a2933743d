import { changesOf } from "../audit/changes.ts";
import type { Actor } from "../audit/record.ts";
import type { Owner } from "../kernel/owner.ts";
import { Problem } from "../kernel/problem.ts";
import { releaseDraw } from "../passports/draw.ts";
import type { Tx } from "../store/store.ts";
import {
  type Activation,
  type ActivationRow,
  auditActivation,
  requireOwnActivation,
  type Target,
  toActivation,
} from "./activation.ts";
import { progressActivation } from "./states.ts";

/** Why a request is cancelled, and by which actor. */
export interface Cancellation {
  reason: string | null;
  actor: Actor;
}

/**
 * Cancels a request that was not picked up yet (contract: cancel, by id and by ICCID): its draw goes back to the pool
 * and its ICCID is free again. Throws `not_found`, `not_cancellable`.
 */
export async function cancelActivation(
  tx: Tx,
  input: { owner: Owner; target: Target } & Cancellation,
): Promise<Activation> {
  const row = await requireOwnActivation(tx, input.owner, input.target);
  return toActivation(tx, await cancelRow(tx, row, input));
}

/** The same for a row at hand. Throws `not_cancellable` before anything is written. */
export async function cancelRow(tx: Tx, row: ActivationRow, { reason, actor }: Cancellation): Promise<ActivationRow> {
  if (row.status !== "pending") {
    throw new Problem("not_cancellable", `This activation is ${row.status}; only a pending one can be cancelled.`, {
      members: { current_status: row.status },
    });
  }
  const cancelled = await progressActivation(tx, row, {
    state: "cancelled",
    cancel_reason: reason,
    due_at: null,
    cancelled_at: tx.now,
    finished_at: tx.now,
  });
  if (row.passport_id !== null) await releaseDraw(tx, { requestId: row.id, actor });
  // The reason is the caller's own words and may name the customer: it stays with the request, which can be cleared.
  const fields = reason === null ? ["status"] : ["status", "cancel_reason"];
  const changes = changesOf(row, cancelled, ["status"]);
  await auditActivation(tx, row, { action: "activations.cancel", actor, fields, changes });
  return cancelled;
}
