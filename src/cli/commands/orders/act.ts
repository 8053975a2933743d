import { counted } from "../../../core/kernel/counted.ts";
import { Problem } from "../../../core/kernel/problem.ts";
import type { ActedOn, OrderAct } from "../../../core/orders/act.ts";
import type { Consequence, StockMove } from "../../../core/orders/consequence.ts";
import type { Context } from "../../frame/command.ts";
import { CliError } from "../../kernel/errors.ts";
import { type Result, recordResult } from "../../output/result.ts";
import type { Sheet } from "../../output/sheet.ts";
import { capital, shown } from "../../output/words.ts";
import { OPERATOR } from "../../place/operator.ts";
import { orderAtHand } from "../../place/records-at-hand.ts";
import { whose } from "../../place/whose.ts";
import { orderFields, statusWords } from "./order.ts";

/** ICCIDs that a sentence can hold; `--json` has more. */
const SAID = 5;

/** The keys of what the operator's verbs print. */
export const ACTED_JSON =
  "{id, order_number, partner_id, status, reason, total_price_cents, currency, …, done: {refund_cents, from_stock: " +
  "[{sku, count, iccids}], to_stock, shipped: [{sku, quantity}], sent_again: [{item_id, supplier}], events: [{kind, " +
  "endpoints, held}]}}";

interface ActOnOrder {
  /** What names the order, as typed. */
  id: string;
  act: OrderAct;
  /** Whether a confirmation is needed; else the consequence is only shown. */
  asks: boolean;
  /** A note below the result. */
  note?(acted: ActedOn): string | undefined;
}

/** Rehearses the act, shows its consequence, confirms where needed, then acts and returns what was done. */
export async function actHere(context: Context, { id, act, asks, note }: ActOnOrder): Promise<Result> {
  const [{ actAndFollow, actOnOrder }, { formatMoney }] = await Promise.all([
    import("../../../core/orders/act.ts"),
    import("../../../core/kernel/money.ts"),
  ]);
  return context.withStore(async ({ store }) => {
    const owned = await orderAtHand(store, id);
    const acting = { id: owned.id, act, actor: OPERATOR };
    const foreseen = await store.rehearse(actAndFollow, acting).catch((error) => explain(error, act, owned.id));
    const { order_number, currency } = foreseen.order;
    const words = consequenceWords(act, foreseen, (cents) => `${formatMoney(cents, currency)} ${currency}`);
    if (asks && !context.globals.yes) {
      const question = `${capital(act.verb)} ${order_number}? It ${words}`;
      await context.confirm(question, { whose: await whose(store, owned) });
    } else context.note(`${order_number}: ${words}`);
    const acted = await store.write(actOnOrder, acting);
    return { ...shownAct(act, acted), note: note?.(acted) };
  });
}

/** Throws the refusal of an act, for people with what to do instead. */
async function explain(error: unknown, { verb }: OrderAct, id: string): Promise<never> {
  if (verb !== "cancel" || !(error instanceof Problem) || error.members.current_status !== "fulfilled") throw error;
  throw new CliError("conflict", error.message, `Money goes back with: esimctl orders refund ${id} --reason WHY.`);
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

/** The consequence of an act in one line: the order's new status, and everything else that changes. */
function consequenceWords(act: OrderAct, foreseen: ActedOn, money: (cents: number) => string): string {
  const { refund_cents, from_stock, to_stock, shipped, sent_again, events } = foreseen.done;
  const parts = [
    ending(act, foreseen),
    ...(act.verb === "correct" ? [`sent by ${act.carrier}, tracking ${act.tracking}`] : []),
    ...shipped.map(({ sku, quantity }) => `${quantity} × ${sku} count as shipped`),
    ...(act.verb === "retry" && sent_again.length + from_stock.length === 0 ? ["no part of it is stuck"] : []),
    ...suppliersOf(sent_again).map(([name, count]) => `${counted(count, "request")} to ${name} sent again`),
    ...from_stock.map((move) => `${esims(move)} taken from stock${named(move)}`),
    ...to_stock.map((move) => `${esims(move)} returned to stock${named(move)}`),
    ...(refundIsNews(act, refund_cents)
      ? [refund_cents > 0 ? `${money(refund_cents)} refunded` : "nothing refunded"]
      : []),
    ...(events.some(isDelivered) ? [`events: ${events.filter(isDelivered).map(eventWords).join(", ")}`] : []),
  ];
  return `${parts.join("; ")}.`;
}

/** The effects of an act by name, without empty ones. */
function consequenceFields(sheet: Sheet, act: OrderAct, { done, order }: ActedOn): Record<string, string> {
  const refunded = refundIsNews(act, done.refund_cents) ? [sheet.money(done.refund_cents, order.currency)] : [];
  const listed = {
    refunded,
    shipped: done.shipped.map(({ sku, quantity }) => `${quantity} × ${sku}`),
    "sent again": suppliersOf(done.sent_again).map(([name, count]) => `${counted(count, "request")} to ${name}`),
    "from stock": done.from_stock.map((move) => `${esims(move)}${named(move)}`),
    "to stock": done.to_stock.map((move) => `${esims(move)}${named(move)}`),
    events: done.events.filter(isDelivered).map(eventWords),
  };
  const fields = Object.entries(listed).flatMap(([name, parts]) =>
    parts.length === 0 ? [] : [[name, parts.join("; ")]],
  );
  return Object.fromEntries(fields);
}

/** A cancellation or rejection also reports that nothing is refunded. */
function refundIsNews({ verb }: OrderAct, cents: number): boolean {
  return cents > 0 || verb === "cancel" || verb === "reject";
}

/** Whether an endpoint gets it, now or later. */
function isDelivered({ endpoints, held }: Consequence["events"][number]): boolean {
  return endpoints + held > 0;
}

function ending(act: OrderAct, { before, order: { status, reason } }: ActedOn): string {
  if (status === "waiting_review" && reason !== null) return `stays ${status}`;
  if (status === before && act.verb === "refund") return `stays ${status}, with its eSIMs as they are`;
  if (status === before && status === "fulfilled") return `stays ${status}`;
  return status === before ? `stays ${status} until the rest is delivered` : `ends ${status}`;
}

function esims({ sku, count }: StockMove): string {
  return `${counted(count, "eSIM")} of ${sku}`;
}

function named({ iccids }: StockMove): string {
  return iccids.length === 0 || iccids.length > SAID ? "" : ` (${iccids.join(", ")})`;
}

function suppliersOf(sent: Consequence["sent_again"]): [string, number][] {
  const counts = new Map<string, number>();
  for (const { supplier } of sent) counts.set(supplier, (counts.get(supplier) ?? 0) + 1);
  return [...counts];
}

function eventWords({ kind, endpoints, held }: Consequence["events"][number]): string {
  const later = held === 0 ? "" : `, held for ${counted(held, "endpoint")}`;
  return `${kind} to ${counted(endpoints, "endpoint")}${later}`;
}
