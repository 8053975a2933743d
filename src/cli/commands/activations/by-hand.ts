import type { HandMove, Moved } from "../../../core/activations/operator.ts";
import type { HandWork } from "../../../core/find/named-activations.ts";
import type { ItemRow } from "../../../core/orders/items.ts";
import type { Store } from "../../../core/store/store.ts";
import type { Context } from "../../frame/command.ts";
import { argument, text } from "../../kernel/input.ts";
import { text as ask, isInteractive } from "../../output/prompts.ts";
import { type Result, recordResult } from "../../output/result.ts";
import { shown, statusPaint } from "../../output/words.ts";
import { OPERATOR } from "../../place/operator.ts";
import { handWorkAtHand } from "../../place/records-at-hand.ts";
import { whose } from "../../place/whose.ts";
import { ACTIVATION_JSON, activationFields } from "./view.ts";

/** A request or an order item, by any identifier. */
export const workArgument = argument(
  "id",
  "the request's id or ICCID; or an order item's id, or what names an order with one item",
);

/** The keys of what confirm, complete, correct, fail and retry print. */
export const MOVED_JSON = `${ACTIVATION_JSON}; for an order item {id, order_id, status, supplier, error_message}`;

interface MoveRequest {
  /** What names the request or order item, as typed. */
  id: string;
  move: HandMove | ((work: HandWork) => Promise<HandMove>);
  /** What a move that cannot be taken back does, in words for people, from its rehearsal. */
  foresee?(work: HandWork, moved: Moved): string;
}

/**
 * Records a manual step on a request or an order item, and returns its new state. Shows first what cannot be taken
 * back; a person at a terminal confirms it.
 */
export async function moveHere(context: Context, { id, move, foresee }: MoveRequest): Promise<Result> {
  const { moveByHand } = await import("../../../core/activations/operator.ts");
  const moved = await context.withStore(async ({ store }) => {
    const work = await handWorkAtHand(store, id);
    const input = { id: work.row.id, move: typeof move === "function" ? await move(work) : move, actor: OPERATOR };
    if (foresee !== undefined && !context.globals.yes) {
      const words = foresee(work, await store.rehearse(moveByHand, input));
      if (isInteractive(context.globals))
        await context.confirm(`${words} Go on?`, { whose: await ownerOf(store, work) });
      else context.note(words);
    }
    return store.write(moveByHand, input);
  });
  if (moved.kind === "order_item") return itemResult(moved.item);
  const { activation } = moved;
  return recordResult(activation, (sheet) => activationFields(sheet, activation));
}

interface RecordedInput {
  id: string;
  mobile: string | undefined;
  iccid: string | undefined;
  code: string | undefined;
}

/** The options of `complete` and `correct`: a physical SIM's number, or an order item's eSIM. */
export function recordedOptions(of: { mobile: string; iccid: string }) {
  return {
    mobile: text("--mobile <number>", of.mobile),
    iccid: text("--iccid <iccid>", `of an order item: ${of.iccid}`),
    code: text("--activation-code <lpa>", "of an order item: its LPA:1$… code"),
  };
}

/**
 * Records a number or an eSIM by `verb`, and returns the new state. A person at a terminal is asked for the number of a
 * physical SIM; elsewhere a missing one is a usage error.
 */
export function recordHere(
  context: Context,
  verb: "complete" | "correct",
  { id, mobile, iccid, code }: RecordedInput,
  foresee: NonNullable<MoveRequest["foresee"]>,
): Promise<Result> {
  const move = async (work: HandWork): Promise<HandMove> => {
    const asks = mobile === undefined && work.kind === "activation";
    const number = asks ? await ask(`Mobile number of ${workWords(work)}:`, "--mobile", context.globals) : mobile;
    return { verb, mobileNumber: number ?? null, iccid: iccid ?? null, activationCode: code ?? null };
  };
  return moveHere(context, { id, move, foresee });
}

function ownerOf(store: Store, work: HandWork): Promise<string> {
  return whose(store, work.kind === "activation" ? work.row : work.order);
}

/** "SIM 8961… of Mia Chen", or "The item of ORD-… for Mia Chen". */
export function workWords(work: HandWork): string {
  if (work.kind === "activation") return `SIM ${work.row.iccid} of ${shown(work.customer.customer_name)}`;
  const traveler = work.traveler === null ? "" : ` for ${shown(work.traveler.customer_name)}`;
  return `The item of ${work.order.order_number}${traveler}`;
}

function itemResult({ id, order_id, status, supplier, error_message }: ItemRow): Result {
  return recordResult({ id, order_id, status, supplier, error_message }, (sheet) => ({
    item: id,
    order: order_id,
    status: statusPaint(sheet, status)(status),
    supplier: shown(supplier),
    error: shown(error_message),
  }));
}
