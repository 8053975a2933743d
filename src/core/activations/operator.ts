import { type CountryCode, isSupportedCountry, parsePhoneNumberFromString } from "libphonenumber-js/min";
import { changesOf } from "../audit/changes.ts";
import type { Actor } from "../audit/record.ts";
import { answerLimits, ERROR_TYPE_WORDS } from "../carriers/answer-limits.ts";
import { requireCarrier } from "../carriers/carrier.ts";
import type { ActivationId } from "../kernel/brand.ts";
import { countryCode } from "../kernel/country.ts";
import { type FieldErrors, invalid, Problem } from "../kernel/problem.ts";
import type { ItemRow } from "../orders/items.ts";
import type { Read, Tx } from "../store/store.ts";
import { completeItem, confirmItem, correctItem, failItem, retryItem } from "../supplier-requests/operator.ts";
import {
  type Activation,
  type ActivationRow,
  activationById,
  auditActivation,
  requireActivation,
  toActivation,
} from "./activation.ts";
import { customerOf } from "./customer.ts";
import { applyOutcome, type CarrierOutcome } from "./outcome.ts";
import { type ActivationState, announceStep, progressActivation, stateOf } from "./states.ts";

/** What staff record of a request that they work in a carrier's portal. */
export type OperatorMove =
  | { verb: "confirm"; confirmationNumber: string }
  | { verb: "complete"; mobileNumber: string }
  | { verb: "fail"; errorType: string; errorMessage: string }
  | { verb: "retry" };

type Recorded = Exclude<OperatorMove, { verb: "retry" }>;

/** The states in which each verb makes sense; retry also in processing, see `waitsForStaff` and `isBackedOff`. */
export const operatorVerbs: Readonly<Record<OperatorMove["verb"], readonly ActivationState[]>> = {
  confirm: ["processing"],
  complete: ["processing", "confirmed", "manual_required"],
  fail: ["processing", "confirmed", "manual_required"],
  retry: ["manual_required"],
};

/**
 * Confirms, completes, fails or retries a physical-SIM request of any partner by hand, with the same effects as a
 * carrier's answer. Throws `not_found`, `conflict` naming its state, `validation` for a mobile number that is none.
 */
export async function moveActivation(
  tx: Tx,
  input: { id: ActivationId; move: OperatorMove; actor: Actor },
): Promise<Activation> {
  const { id, actor } = input;
  const row = await requireActivation(tx, id);
  // Before the state: a typing error is named as one.
  const move = input.move.verb === "retry" ? input.move : await checked(tx, row, input.move);
  const state = stateOf(row);
  const mayRetry = move.verb === "retry" && (isBackedOff(row, tx.now) || (await waitsForStaff(tx, row)));
  if (!operatorVerbs[move.verb].includes(state) && !mayRetry) {
    const possible = operatorVerbs[move.verb].join(", ");
    throw new Problem("conflict", `This activation is ${state}; ${move.verb} works on ${possible}.`, {
      members: { current_status: row.status },
    });
  }
  const next = move.verb === "retry" ? await retry(tx, row) : await record(tx, row, { move, actor });
  const fields = Object.keys(move).filter((name) => name !== "verb");
  const changes = changesOf(row, next, ["status", "processing_status"]);
  await auditActivation(tx, row, { action: `activations.${move.verb}`, actor, fields, changes });
  return toActivation(tx, next);
}

/** The move with its mobile number in E.164. Throws `validation`. */
async function checked(q: Read, row: ActivationRow, move: Recorded): Promise<Recorded> {
  return move.verb === "complete" ? { ...move, mobileNumber: await checkedMobile(q, row, move.mobileNumber) } : move;
}

/**
 * Whether a request was left to staff by a carrier that was worked by hand then and no longer is. Nothing sends it by
 * itself: staff may have typed it into the portal already.
 */
async function waitsForStaff(tx: Tx, row: ActivationRow): Promise<boolean> {
  const idle = stateOf(row) === "processing" && row.due_at === null && row.deadline_at === null;
  return idle && (await requireCarrier(tx, row.carrier_prefix)).adapter !== "manual";
}

/** Whether the carrier is asked again only after a delay, since it could not be reached. */
function isBackedOff(row: ActivationRow, now: number): boolean {
  const waits = row.leased_until === null && row.due_at !== null && row.due_at > now;
  return stateOf(row) === "processing" && row.faults > 0 && waits;
}

async function record(
  tx: Tx,
  row: ActivationRow,
  { move, actor }: { move: Recorded; actor: Actor },
): Promise<ActivationRow> {
  // What only a person can decide first takes the request back from the staff's pile.
  const open = stateOf(row) === "manual_required" && move.verb === "fail" ? await reopen(tx, row) : row;
  const answer = await applyOutcome(tx, { id: open.id, outcome: outcomeOf(move), source: "operator", actor });
  return answer.row;
}

function outcomeOf(move: Recorded): CarrierOutcome {
  switch (move.verb) {
    case "confirm":
      return { kind: "confirmed", confirmationNumber: move.confirmationNumber };
    case "complete":
      return { kind: "activated", mobileNumber: move.mobileNumber, confirmationNumber: null };
    case "fail":
      return { kind: "refused", errorType: move.errorType, errorMessage: move.errorMessage };
  }
}

/** The carrier is asked again, at once, under the same reference, with all tries before it. */
async function retry(tx: Tx, row: ActivationRow): Promise<ActivationRow> {
  const open = stateOf(row) === "processing" ? row : await reopen(tx, row);
  const again = await progressActivation(tx, open, { due_at: tx.now, exchanges: 0 });
  tx.signal("activations");
  return again;
}

function reopen(tx: Tx, row: ActivationRow): Promise<ActivationRow> {
  const cleared = { error_type: null, error_message: null, faults: 0, deadline_at: null, leased_until: null };
  return progressActivation(tx, row, { state: "processing", ...cleared });
}

/** What staff record, of a physical SIM or of an order's item: for a SIM its number, for an item perhaps an eSIM. */
export type HandMove =
  | { verb: "confirm"; number: string }
  | { verb: "complete"; mobileNumber: string | null; iccid: string | null; activationCode: string | null }
  | { verb: "correct"; mobileNumber: string | null; iccid: string | null; activationCode: string | null }
  | { verb: "fail"; errorType: string; errorMessage: string }
  | { verb: "retry" };

/** What was moved, in its new state. */
export type Moved = { kind: "activation"; activation: Activation } | { kind: "order_item"; item: ItemRow };

/**
 * Does by hand what a carrier or a supplier did not do, or corrects what was recorded of it: `id` is a physical-SIM
 * request's or an order item's. Throws `not_found`, `conflict` naming the state, `validation`.
 */
export async function moveByHand(tx: Tx, input: { id: string; move: HandMove; actor: Actor }): Promise<Moved> {
  const { id, move, actor } = input;
  requireAnswer(move);
  // An id that was typed: whether it is an activation's the database says.
  const activationId = id as ActivationId;
  if ((await activationById(tx, activationId)) === null) {
    return { kind: "order_item", item: await moveItem(tx, id, move, actor) };
  }
  const activation =
    move.verb === "correct"
      ? await correctActivation(tx, { id: activationId, mobileNumber: mobileOf(move), actor })
      : await moveActivation(tx, { id: activationId, move: simMove(move), actor });
  return { kind: "activation", activation };
}

/** Holds what staff record to what a carrier may answer itself. Throws `validation`. */
function requireAnswer(move: HandMove): void {
  const errors: FieldErrors = {};
  const requireText = (name: string, text: string, most: number) => {
    if (text.trim() === "" || text.length > most) errors[name] = [`must have 1 to ${most} characters`];
  };
  if (move.verb === "confirm") requireText("number", move.number, answerLimits.confirmationNumber);
  if (move.verb === "fail") {
    if (!new RegExp(answerLimits.errorType).test(move.errorType)) errors.error = [ERROR_TYPE_WORDS];
    requireText("message", move.errorMessage, answerLimits.errorMessage);
  }
  if (Object.keys(errors).length > 0) throw invalid(errors);
}

function mobileOf({ mobileNumber }: { mobileNumber: string | null }): string {
  if (mobileNumber === null) throw invalid({ mobile: ["is required for a physical SIM"] });
  return mobileNumber;
}

function simMove(move: Exclude<HandMove, { verb: "correct" }>): OperatorMove {
  switch (move.verb) {
    case "confirm":
      return { verb: "confirm", confirmationNumber: move.number };
    case "complete":
      return { verb: "complete", mobileNumber: mobileOf(move) };
    default:
      return move;
  }
}

async function moveItem(tx: Tx, id: string, move: HandMove, actor: Actor): Promise<ItemRow> {
  try {
    switch (move.verb) {
      case "confirm":
        return await confirmItem(tx, { id, number: move.number, actor });
      case "complete":
        return await completeItem(tx, { id, iccid: move.iccid, activationCode: move.activationCode, actor });
      case "correct":
        return await correctItem(tx, { id, iccid: move.iccid, activationCode: move.activationCode, actor });
      case "fail":
        return await failItem(tx, { id, errorType: move.errorType, errorMessage: move.errorMessage, actor });
      case "retry":
        return await retryItem(tx, { id, actor });
    }
  } catch (error) {
    if (!(error instanceof Problem) || error.slug !== "not_found") throw error;
    throw new Problem("not_found", "No activation and no order item has this id.");
  }
}

/**
 * Replaces the mobile number that was recorded for a completed request, with activation.activated again, which carries
 * `corrected_at`. Throws `not_found`, `validation`, `conflict` unless it is completed and the number another one.
 */
async function correctActivation(
  tx: Tx,
  input: { id: ActivationId; mobileNumber: string; actor: Actor },
): Promise<Activation> {
  const row = await requireActivation(tx, input.id);
  const mobile_number = await checkedMobile(tx, row, input.mobileNumber);
  const state = stateOf(row);
  if (state !== "completed") {
    const words = `This activation is ${state}; only a completed one has a number to correct.`;
    throw new Problem("conflict", words, { members: { current_status: row.status } });
  }
  if (mobile_number === customerOf(tx, row).mobile_number)
    throw new Problem("conflict", `Its number is ${mobile_number} already.`);
  const next = await progressActivation(tx, row, { mobile_number });
  await auditActivation(tx, row, { action: "activations.correct", actor: input.actor, fields: ["mobile_number"] });
  await announceStep(tx, "activated", next, { corrects: row.activated_at ?? tx.now });
  return toActivation(tx, next);
}

/**
 * The mobile number that staff typed for a request, in E.164: given so, or in the national form of the carrier's
 * country, which is its region. Throws `validation`.
 */
async function checkedMobile(q: Read, row: ActivationRow, typed: string): Promise<string> {
  const { region } = await requireCarrier(q, row.carrier_prefix);
  const country = countryCode(region);
  const number = internationalNumber(typed, country);
  if (number !== null) return number;
  const national = country === null ? "" : `, or a number of ${region} as it is written there`;
  throw invalid({ mobile: [`must be an international number such as +61491570156${national}`] });
}

/**
 * A telephone number in E.164, of one typed with its country's code or in the national form of `country` (ISO 3166-1
 * alpha-2; null: only E.164 is understood). Null: it is neither, or no
 * number of its country is so long.
 */
function internationalNumber(typed: string, country: string | null): string | null {
  const home: { defaultCountry: CountryCode } | Record<string, never> =
    country !== null && isSupportedCountry(country) ? { defaultCountry: country } : {};
  const number = parsePhoneNumberFromString(typed.trim(), { ...home, extract: false });
  return number?.isValid() === true && number.ext === undefined ? number.number : null;
}
