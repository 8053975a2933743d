import type { ActedOn, OrderAct } from "../../../core/orders/act.ts";
import type { Context } from "../../frame/context.ts";
import { type Result, recordResult } from "../../output/result.ts";
import { capital, shown } from "../../output/words.ts";
import { OPERATOR } from "../../place/operator.ts";
import { whose } from "../../place/whose.ts";
import { consequenceFields, consequenceWords } from "./consequence.ts";
import { orderFields, statusWords } from "./view.ts";

/** The keys of what the operator's verbs print. */
export const ACTED_JSON =
  "{id, order_number, partner_id, status, reason, total_price_cents, currency, …, done: {refund_cents, from_stock: " +
  "[{sku, count, iccids}], to_stock, shipped: [{sku, quantity}], sent_again: [{item_id, supplier}], events: [{kind, " +
  "endpoints, held}]}}";

interface Asked {
  /** As it was typed: an order's id or number. */
  id: string;
  act: OrderAct;
  /** Whether a person has to agree first; else the consequence is only shown. */
  asks: boolean;
  /** What is to be said below, once it is done. */
  note?(acted: ActedOn): string | undefined;
}

/** Rehearses the act and shows what would come of it, asks where it has to, then does it and prints what was done. */
export async function actHere(context: Context, { id, act, asks, note }: Asked): Promise<Result> {
  const [{ actAndFollow, actOnOrder }, { findOrderId, requireOrder }, { formatMoney }] = await Promise.all([
    import("../../../core/orders/act.ts"),
    import("../../../core/orders/order.ts"),
    import("../../../core/kernel/money.ts"),
  ]);
  return context.withStore(async ({ store }) => {
    const acting = { id: await store.read(findOrderId, id), act, actor: OPERATOR };
    const foreseen = await store.rehearse(actAndFollow, acting);
    const { order_number, currency } = foreseen.order;
    const words = consequenceWords(act, foreseen, (cents) => `${formatMoney(cents, currency)} ${currency}`);
    if (asks && !context.globals.yes) {
      const owned = await store.read(requireOrder, acting.id);
      const question = `${capital(act.verb)} ${order_number}? It ${words}`;
      await context.confirm(question, { whose: await whose(store, owned) });
    } else context.note(`${order_number}: ${words}`);
    const acted = await store.write(actOnOrder, acting);
    return { ...shownAct(act, acted), note: note?.(acted) };
  });
}

/** The order as the act left it, and what the act did. */
function shownAct(act: OrderAct, acted: ActedOn): Result {
  const { order, done } = acted;
  return recordResult({ ...order, done }, (sheet) => ({
    ...orderFields(sheet, order),
    status: statusWords(sheet, order),
    ...(order.reason === null ? {} : { reason: shown(order.reason) }),
    ...consequenceFields(sheet, act, acted),
  }));
}
