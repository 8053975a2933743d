import type { Actor } from "../audit/record.ts";
import { carrierByPrefix } from "../carriers/carrier.ts";
import { ANSWER_WITHIN_MS } from "../carriers/seed.ts";
import type { ActivationId } from "../kernel/brand.ts";
import { newId } from "../kernel/ids.ts";
import { releaseDraw } from "../passports/draw.ts";
import { outcomeCounts } from "../store/lease.ts";
import { insertRow } from "../store/rows.ts";
import type { AttemptSource } from "../store/schema/attempts.ts";
import type { Tx } from "../store/store.ts";
import { type ActivationRow, requireActivation } from "./activation.ts";
import { announceStep } from "./events.ts";
import { type Kyc, openKyc } from "./identity.ts";
import { type CarrierOutcome, settle } from "./outcome.ts";
import { progressActivation } from "./progress.ts";
import { redact, redactNumber } from "./redact.ts";

/** An answer about a request, from wherever it came. */
export interface Answered {
  id: ActivationId;
  outcome: CarrierOutcome;
  source: AttemptSource;
  /** Who said it, for the audit trail of the draw. */
  actor: Actor;
  /** The number of the lease under which we asked; left out by callbacks and the operator. */
  leaseNo?: number;
  statusCode?: number | null;
  latencyMs?: number | null;
  /** The members of the answer that may be kept; identity values in them are redacted here. */
  answer?: string | null;
}

/**
 * Takes an answer into the books, in one transaction: the request's next state, its event, the release of its draw
 * after a definite failure, and a line for support. An answer that comes twice, or late, changes nothing more. Answers
 * the request's row afterwards, and whether anything changed. Throws `not_found`.
 */
export async function applyOutcome(tx: Tx, given: Answered): Promise<{ row: ActivationRow; applied: boolean }> {
  const row = await requireActivation(tx, given.id);
  const kyc = openKyc(tx, row.sealed)?.reveal() ?? null;
  await noteAttempt(tx, given, kyc);
  if (!outcomeCounts(row, given.leaseNo, given.outcome.kind === "temporary")) return { row, applied: false };
  const settlement = settle(row, redacted(given.outcome, kyc), {
    now: tx.now,
    answerWithinMs: (await carrierByPrefix(tx, row.carrier_prefix))?.answer_within_ms ?? ANSWER_WITHIN_MS,
    asked: given.source === "request",
  });
  if (settlement === null) return { row, applied: false };
  const next = await progressActivation(tx, row, settlement.change);
  if (settlement.step === "failed" && row.passport_id !== null) {
    await releaseDraw(tx, { requestId: row.id, actor: given.actor });
  }
  if (settlement.step !== undefined) await announceStep(tx, settlement.step, next);
  return { row: next, applied: true };
}

/** Carriers quote what they were sent: their words are redacted before they are stored. */
function redacted(outcome: CarrierOutcome, kyc: Kyc | null): CarrierOutcome {
  switch (outcome.kind) {
    case "refused":
      return {
        ...outcome,
        errorType: redact(outcome.errorType, kyc),
        errorMessage: redact(outcome.errorMessage, kyc),
      };
    case "confirmed":
    case "activated": {
      const number = outcome.confirmationNumber;
      return { ...outcome, confirmationNumber: number === null ? null : redactNumber(number, kyc) };
    }
    default:
      return outcome;
  }
}

async function noteAttempt(tx: Tx, given: Answered, kyc: Kyc | null): Promise<void> {
  const { answer = null } = given;
  await insertRow(tx, "activationAttempts", {
    id: newId(tx),
    activation_id: given.id,
    at: tx.now,
    source: given.source,
    outcome: given.outcome.kind,
    status_code: given.statusCode ?? null,
    latency_ms: given.latencyMs ?? null,
    answer: answer === null ? null : redact(answer, kyc),
    request_id: tx.requestId,
  });
}
