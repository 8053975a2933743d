import type { Actor } from "../audit/record.ts";
import { carrierByPrefix } from "../carriers/carrier.ts";
import { ANSWER_WITHIN_MS } from "../carriers/seed.ts";
import type { ActivationId } from "../kernel/brand.ts";
import { retryAt } from "../kernel/fault-retries.ts";
import { newId } from "../kernel/ids.ts";
import type { ActivationStep } from "../outbox/activation-step.ts";
import { releaseDraw } from "../passports/draw.ts";
import { outcomeCounts } from "../platform/lease.ts";
import { insert } from "../store/rows.ts";
import type { AttemptSource, KycField } from "../store/schema/values.ts";
import type { Tx } from "../store/store.ts";
import { type ActivationRow, requireActivation } from "./activation.ts";
import { type Kyc, openKycIfReadable } from "./identity.ts";
import { announceStep, type Change, progressActivation, stateOf } from "./states.ts";

/** What an exchange with a carrier came to, whatever the adapter (decided: Adapter outcomes). */
export type CarrierOutcome =
  /** Makes no network calls: staff work it in the carrier's portal. */
  | { kind: "waiting" }
  /** Taken in; the answer comes by callback, or by asking again when `againInMs` is given. */
  | { kind: "accepted"; againInMs?: number }
  | { kind: "confirmed"; confirmationNumber: string | null; againInMs?: number }
  | { kind: "activated"; mobileNumber: string; confirmationNumber: string | null }
  /** A definite no. */
  | { kind: "refused"; errorType: string; errorMessage: string }
  /** No answer, or none that can be relied on: it is asked again. */
  | { kind: "temporary" };

/** What an outcome does to a request: its change, and the step to announce, if any. */
interface Settlement {
  change: Change;
  step?: ActivationStep;
}

interface Circumstances {
  now: number;
  /** When the carrier's step happened. */
  at: number;
  /** How long after acceptance the carrier's final answer may take. */
  answerWithinMs: number;
  /** An answer to our own request; false: a callback or staff. */
  asked: boolean;
}

/** What `outcome` does to a request in this state; null: nothing, since a later step was taken before. */
function settle(row: ActivationRow, outcome: CarrierOutcome, at: Circumstances): Settlement | null {
  const state = stateOf(row);
  // Staff took over; only that the SIM does work after all changes that by itself.
  if (state === "manual_required" && outcome.kind !== "activated") return null;
  if (state !== "processing" && state !== "confirmed" && state !== "manual_required") return null;
  const settlement = settlementOf(row, outcome, at);
  if (settlement === null) return null;
  const counted = at.asked ? { exchanges: row.exchanges + 1 } : {};
  return { ...settlement, change: { leased_until: null, ...counted, ...settlement.change } };
}

function settlementOf(row: ActivationRow, outcome: CarrierOutcome, at: Circumstances): Settlement | null {
  switch (outcome.kind) {
    case "waiting":
      return { change: { due_at: null, deadline_at: null, faults: 0 } };
    case "accepted":
      return { change: awaiting(row, outcome.againInMs, at) };
    case "confirmed":
      return confirmed(row, outcome, at);
    case "activated":
      return {
        change: {
          state: "completed",
          mobile_number: outcome.mobileNumber,
          confirmation_number: outcome.confirmationNumber ?? row.confirmation_number,
          activated_at: at.at,
          error_type: null,
          error_message: null,
          ...finished(at.now),
        },
        step: "activated",
      };
    case "refused": {
      const { errorType: error_type, errorMessage: error_message } = outcome;
      return { change: { state: "failed", error_type, error_message, ...finished(at.now) }, step: "failed" };
    }
    case "temporary":
      return { change: afterFault(row, at.now) };
  }
}

/** The fields of a request that needs nothing more. */
function finished(now: number): Change {
  return { due_at: null, deadline_at: null, queued_at: null, finished_at: now };
}

/** The carrier has it: looked at again when it is to be asked again, or when its answer is overdue. */
function awaiting(row: ActivationRow, againInMs: number | undefined, at: Circumstances): Change {
  const deadline_at = row.deadline_at ?? at.now + at.answerWithinMs;
  const due_at = againInMs === undefined ? deadline_at : Math.min(at.now + againInMs, deadline_at);
  return { deadline_at, due_at, faults: 0 };
}

function confirmed(
  row: ActivationRow,
  outcome: { confirmationNumber: string | null; againInMs?: number },
  at: Circumstances,
): Settlement {
  const wait = awaiting(row, outcome.againInMs, at);
  // Repeated: there is nothing new to announce.
  if (stateOf(row) === "confirmed") return { change: wait };
  const confirmation_number = outcome.confirmationNumber;
  return { change: { ...wait, state: "confirmed", confirmation_number, confirmed_at: at.at }, step: "confirmed" };
}

function afterFault(row: ActivationRow, now: number): Change {
  const faults = row.faults + 1;
  const due_at = retryAt(now, faults);
  if (due_at !== null) return { faults, due_at };
  return {
    faults,
    ...leftToStaff("carrier_unavailable", "The carrier could not be reached; staff take care of this request."),
  };
}

/** No automatic retry follows: it keeps its ICCID and its draw until staff decide. */
export function leftToStaff(error_type: string, error_message: string): Change {
  return { state: "manual_required", error_type, error_message, due_at: null, deadline_at: null };
}

/** An answer about a request, from wherever it came. */
interface Answered {
  id: ActivationId;
  outcome: CarrierOutcome;
  source: AttemptSource;
  /** Who said it, for the audit trail of the draw. */
  actor: Actor;
  /** The number of the lease under which we asked; left out by callbacks and the operator. */
  leaseNo?: number;
  statusCode?: number | null;
  latencyMs?: number | null;
  /** When the step happened (ms); left out: now. */
  at?: number;
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
  const identity = openKycIfReadable(tx, row);
  const legible = identity === "unreadable" ? withoutWords(given) : given;
  const kyc = identity === "unreadable" ? null : (identity?.reveal() ?? null);
  await noteAttempt(tx, legible, kyc);
  if (!outcomeCounts(row, given.leaseNo, given.outcome.kind === "temporary")) return { row, applied: false };
  const settlement = settle(row, redacted(legible.outcome, kyc), {
    now: tx.now,
    at: given.at ?? tx.now,
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

/** The carrier's words may repeat identity data: where that is unknown, they are not kept. */
function withoutWords(given: Answered): Answered {
  const { outcome } = given;
  const refused = { errorType: "carrier_refused", errorMessage: "The carrier refused the request." };
  return { ...given, answer: null, outcome: outcome.kind === "refused" ? { ...outcome, ...refused } : outcome };
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
  await insert(tx, "activationAttempts", [
    {
      id: newId(tx),
      activation_id: given.id,
      at: tx.now,
      source: given.source,
      outcome: given.outcome.kind,
      status_code: given.statusCode ?? null,
      latency_ms: given.latencyMs ?? null,
      // Once the identity is cleared, nothing shows what in a late answer would have to be redacted.
      answer: answer === null || kyc === null ? null : redact(answer, kyc),
      request_id: tx.requestId,
    },
  ]);
}

/** What must never come out, even where a carrier repeats it in its own words. */
const secretFields: readonly KycField[] = [
  "passport_no",
  "puk",
  "date_of_birth",
  "address",
  "suburb",
  "postcode",
  "passport_expiry",
  "sim_last4",
];

const REDACTED = "[redacted]";

/** Shorter values, such as four digits of a SIM, meet by chance: they count only as whole words. */
const DISTINCT_LENGTH = 6;

/** `text` with every identity value of this request redacted, however it is spaced or its dates are written. */
export function redact(text: string, kyc: Kyc | null): string {
  return kyc === null ? text : withoutValues(text, valuesOf(kyc));
}

/** The same for a number that a carrier made up: four digits in it are a coincidence, and it must stay whole. */
export function redactNumber(number: string, kyc: Kyc | null): string {
  return kyc === null
    ? number
    : withoutValues(
        number,
        valuesOf(kyc).filter((value) => value.length >= DISTINCT_LENGTH),
      );
}

function valuesOf(kyc: Kyc): string[] {
  return secretFields.flatMap((field) => spellings(field, kyc[field]));
}

function withoutValues(text: string, values: string[]): string {
  // The longest first: an address may hold its own suburb.
  const longestFirst = values.sort((a, b) => b.length - a.length);
  return longestFirst.reduce((left, value) => left.replace(loosely(value), REDACTED), text);
}

function spellings(field: KycField, value: string | null): string[] {
  if (value === null || value.length < 3) return [];
  const date = /^(\d{4})-(\d{2})-(\d{2})$/.exec(value);
  if (date === null || !/date|expiry/.test(field)) return [value];
  const [, year = "", month = "", day = ""] = date;
  return [`${year}${month}${day}`, `${day}${month}${year}`, `${month}${day}${year}`];
}

/** A value with any spaces, hyphens, slashes or dots between its characters, in any case. */
function loosely(value: string): RegExp {
  const characters = [...value].filter((character) => !/[\s./-]/.test(character));
  const escaped = characters.map((character) => character.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&"));
  const pattern = escaped.join("[\\s./-]*");
  if (characters.length >= DISTINCT_LENGTH) return new RegExp(pattern, "giu");
  return new RegExp(`(?<![\\p{L}\\p{N}])${pattern}(?![\\p{L}\\p{N}])`, "giu");
}
