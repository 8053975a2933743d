import type { Actor } from "../audit/record.ts";
import type { ActivationId } from "../kernel/brand.ts";
import { invalid, Problem } from "../kernel/problem.ts";
import type { ItemRow } from "../orders/items.ts";
import type { Tx } from "../store/store.ts";
import { completeItem, confirmItem, failItem, retryItem } from "../supplies/operator.ts";
import { type Activation, activationById } from "./activation.ts";
import { moveActivation } from "./operator.ts";

/** What staff record, of a physical SIM or of an order's item: for a SIM its number, for an item perhaps an eSIM. */
export type HandMove =
  | { verb: "confirm"; number: string }
  | { verb: "complete"; mobileNumber: string | null; iccid: string | null; activationCode: string | null }
  | { verb: "fail"; errorType: string; errorMessage: string }
  | { verb: "retry" };

/** What was moved, in its new state. */
export type Moved = { kind: "activation"; activation: Activation } | { kind: "order_item"; item: ItemRow };

/**
 * Does by hand what a carrier or a supplier did not do: `id` is a physical-SIM request's or an order item's. Throws
 * `not_found`, `conflict` naming the state, `validation`.
 */
export async function moveByHand(tx: Tx, input: { id: string; move: HandMove; actor: Actor }): Promise<Moved> {
  const { id, move, actor } = input;
  // An id that was typed: whether it is an activation's the database says.
  const activationId = id as ActivationId;
  if ((await activationById(tx, activationId)) === null) {
    return { kind: "order_item", item: await moveItem(tx, id, move, actor) };
  }
  const activation = await moveActivation(tx, { id: activationId, move: simMove(move), actor });
  return { kind: "activation", activation };
}

function simMove(move: HandMove): Parameters<typeof moveActivation>[1]["move"] {
  switch (move.verb) {
    case "confirm":
      return { verb: "confirm", confirmationNumber: move.number };
    case "complete":
      if (move.mobileNumber === null) throw invalid({ mobile: ["is required for a physical SIM"] });
      return { verb: "complete", mobileNumber: move.mobileNumber };
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
