import type { HandMove } from "../../../core/activations/operator.ts";
import type { ItemRow } from "../../../core/orders/items.ts";
import type { Context } from "../../frame/command.ts";
import { argument } from "../../kernel/input.ts";
import { type Result, recordResult } from "../../output/result.ts";
import { shown, statusPaint } from "../../output/words.ts";
import { handWorkAtHand } from "../../place/named.ts";
import { OPERATOR } from "../../place/operator.ts";
import { ACTIVATION_JSON, activationFields } from "./view.ts";

/** A request or an order item, by any identifier. */
export const workArgument = argument(
  "id",
  "the request's id or ICCID; or an order item's id, or what names an order with one item",
);

/** The keys of what confirm, complete, fail and retry print. */
export const MOVED_JSON = `${ACTIVATION_JSON}; for an order item {id, order_id, status, supplier, error_message}`;

/** Records a manual step on a request or an order item, and returns its new state. */
export async function moveHere(context: Context, typed: string, move: HandMove): Promise<Result> {
  const { moveByHand } = await import("../../../core/activations/operator.ts");
  const moved = await context.withStore(async ({ store }) => {
    const { id } = (await handWorkAtHand(store, typed)).row;
    return store.write(moveByHand, { id, move, actor: OPERATOR });
  });
  if (moved.kind === "order_item") return itemResult(moved.item);
  const { activation } = moved;
  return recordResult(activation, (sheet) => activationFields(sheet, activation));
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
