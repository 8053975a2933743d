import { counted } from "../../../core/kernel/counted.ts";
import type { ActedOn, OrderAct } from "../../../core/orders/act.ts";
import type { Consequence, StockMove } from "../../../core/orders/consequence.ts";
import type { Sheet } from "../../output/sheet.ts";

/** ICCIDs that a sentence can hold; `--json` has more. */
const SAID = 5;

/** What would come of an act, in one line: how the order ends, and what else moves. The rest is left out. */
export function consequenceWords(act: OrderAct, foreseen: ActedOn, money: (cents: number) => string): string {
  const { refund_cents, from_stock, to_stock, shipped, sent_again, events } = foreseen.done;
  const parts = [
    ending(foreseen),
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

/** What an act did, of which there was something, by name. */
export function consequenceFields(sheet: Sheet, act: OrderAct, { done, order }: ActedOn): Record<string, string> {
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

/** A cancellation or rejection reports the money, also that there is none. */
function refundIsNews({ verb }: OrderAct, cents: number): boolean {
  return cents > 0 || verb === "cancel" || verb === "reject";
}

/** Whether an endpoint gets it, now or later. */
function isDelivered({ endpoints, held }: Consequence["events"][number]): boolean {
  return endpoints + held > 0;
}

function ending({ before, order: { status, reason } }: ActedOn): string {
  if (status === "waiting_review" && reason !== null) return `stays ${status}`;
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
