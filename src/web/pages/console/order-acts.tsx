import type { OrderId } from "../../../core/kernel/brand.ts";
import { counted } from "../../../core/kernel/counted.ts";
import { invalid } from "../../../core/kernel/problem.ts";
import { type ActedOn, actAndFollow, type OrderAct } from "../../../core/orders/act.ts";
import { actOnOrderByForm } from "../../../core/orders/by-form.ts";
import type { Consequence, StockMove } from "../../../core/orders/consequence.ts";
import { type Order, requireOrder } from "../../../core/orders/order.ts";
import type { FieldOf } from "../../parts/act-form.tsx";
import { actPage } from "../../parts/act-page.tsx";
import { links } from "../../parts/shown.tsx";
import { moneyWords, plain } from "../../parts/words.ts";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, field, idIn, integerField, optionalField, requiredField } from "../../session/visit.ts";

type Verb = OrderAct["verb"];

const shipment: readonly FieldOf[] = [
  { name: "carrier", label: "Carrier", required: true },
  { name: "tracking", label: "Tracking number", required: true },
  { name: "tracking_url", label: "Tracking address", hint: "May be left out." },
];

const reason: FieldOf = {
  ...{ name: "reason", label: "Reason", required: true },
  hint: "For the partner and the audit trail.",
};

/** What an act is called, and its form; `money`: it moves money. */
const acts: Readonly<Record<Verb, { title: string; done: string; fields: readonly FieldOf[]; money?: true }>> = {
  approve: { title: "Approve", done: "is approved", fields: [] },
  retry: { title: "Try again", done: "is tried again", fields: [] },
  ship: { title: "Ship", done: "is shipped", fields: shipment },
  correct: { title: "Correct the shipment", done: "is corrected", fields: shipment },
  cancel: { title: "Cancel", done: "is cancelled", fields: [reason], money: true },
  reject: { title: "Reject", done: "is rejected", fields: [reason], money: true },
  refund: {
    ...{ title: "Refund", done: "is refunded", money: true },
    fields: [
      reason,
      { name: "amount", label: "Amount", inputmode: "decimal", hint: "Left out: all that is left." },
      { name: "line", label: "Line", inputmode: "numeric", hint: "Of this line alone, from 1 on." },
      { name: "units", label: "Units", inputmode: "numeric", hint: "The price of so many units." },
    ],
  },
};

// The keys of a record are its names.
const verbs = Object.keys(acts) as Verb[];

/** The acts that may be possible in a state; whether they are, the act itself decides. */
const actsIn: Readonly<Partial<Record<Order["status"], readonly Verb[]>>> = {
  waiting_review: ["approve", "retry", "ship", "reject", "cancel", "refund"],
  paid: ["retry", "ship", "cancel", "refund"],
  fulfilled: ["correct", "refund"],
  cancelled: ["refund"],
};

interface Actable {
  order: Order;
  hasCards: boolean;
  inside: { environment: string };
}

/** Links to the acts of an order, each of which shows first what comes of it. */
export function orderLinks(visit: ConsoleVisit, { order, hasCards, inside }: Actable) {
  const possible = (actsIn[order.status] ?? []).filter((verb) => {
    if (verb === "ship" || verb === "correct") return hasCards;
    if (verb === "refund") return inside.environment === "production" && order.refunded_cents < order.total_price_cents;
    return true;
  });
  return links(
    visit,
    possible.map((verb) => [`/orders/${order.id}/${verb}`, acts[verb].title]),
  );
}

/** The act that a form asks for. Throws `validation`. */
function actIn(verb: Verb, { form }: ConsoleVisit): OrderAct {
  switch (verb) {
    case "approve":
    case "retry":
      return { verb };
    case "cancel":
    case "reject":
      return { verb, reason: requiredField(form, "reason") };
    case "ship":
    case "correct": {
      const [carrier, tracking] = [requiredField(form, "carrier"), requiredField(form, "tracking")];
      return { verb, carrier, tracking, trackingUrl: trackingUrl(field(form, "tracking_url")) };
    }
    case "refund": {
      const reason = requiredField(form, "reason");
      const number = (name: string) => (field(form, name) === "" ? null : integerField(form, name));
      const [line, units, amount] = [number("line"), number("units"), optionalField(form, "amount") ?? null];
      if (units !== null && amount !== null) throw invalid({ amount: ["is given beside units: give one of them"] });
      return { verb, reason, line, units, amount };
    }
  }
}

function trackingUrl(typed: string): string | null {
  if (typed === "") return null;
  const { protocol } = URL.parse(typed) ?? {};
  if (protocol !== "https:" && protocol !== "http:") throw invalid({ tracking_url: ["must be an http(s) address"] });
  return typed;
}

/** "waiting review → fulfilled". */
function endingWords(verb: Verb, { before, order: { status } }: ActedOn): string {
  if (status !== before) return `Status: ${plain(before)} → ${plain(status)}.`;
  if (verb === "refund") return `It stays ${plain(status)}, with its eSIMs as they are.`;
  return `It stays ${plain(status)}${status === "fulfilled" ? "" : " until the rest is delivered"}.`;
}

/** Everything that an act changes beside the status, a line for each. */
function consequenceWords(verb: Verb, { done, order }: ActedOn): string[] {
  const { refund_cents, from_stock, to_stock, shipped, sent_again, events } = done;
  const saysMoney = refund_cents > 0 || verb === "cancel" || verb === "reject";
  const isIdle = verb === "retry" && sent_again.length + from_stock.length === 0;
  const suppliers = Map.groupBy(sent_again, ({ supplier }) => supplier);
  return [
    ...(saysMoney ? [backWords(refund_cents, order.currency)] : []),
    ...shipped.map(({ sku, quantity }) => `${quantity} × ${sku} count as shipped`),
    ...(isIdle ? ["No part of it is stuck"] : []),
    ...[...suppliers].map(([name, sent]) => `${counted(sent.length, "request")} to ${name} sent again`),
    ...from_stock.map((move) => `${stockWords(move)} taken from stock`),
    ...to_stock.map((move) => `${stockWords(move)} returned to stock`),
    ...events.filter(({ endpoints, held }) => endpoints + held > 0).map(eventWords),
  ];
}

function backWords(cents: number, currency: string): string {
  return cents > 0 ? `${moneyWords(cents, currency)} go back to the wallet` : "No money goes back to the wallet";
}

/** ICCIDs that a sentence can hold. */
const SAID = 5;

function stockWords({ sku, count, iccids }: StockMove): string {
  const named = iccids.length === 0 || iccids.length > SAID ? "" : ` (${iccids.join(", ")})`;
  return `${counted(count, "eSIM")} of ${sku}${named}`;
}

function eventWords({ kind, endpoints, held }: Consequence["events"][number]): string {
  const later = held === 0 ? "" : `, held for ${counted(held, "endpoint")}`;
  return `Event ${kind} to ${counted(endpoints, "endpoint")}${later}`;
}

const byVerb = (verb: Verb) =>
  actPage({
    verb,
    read: (visit: ConsoleVisit) => visit.store.read(requireOrder, idIn(visit) as OrderId), // the database decides
    at: ({ id }) => `/orders/${id}`,
    title: ({ order_number }) => `${acts[verb].title}: ${order_number}`,
    button: acts[verb].title,
    bad: acts[verb].money === true,
    fields: acts[verb].fields,
    command: actAndFollow,
    input: (visit, { id }) => ({ id, act: actIn(verb, visit) }),
    keyed: actOnOrderByForm,
    foresee: (acted) => (
      <>
        <p>{endingWords(verb, acted)}</p>
        <ul>
          {consequenceWords(verb, acted).map((words) => (
            <li>{words}</li>
          ))}
        </ul>
      </>
    ),
    done: ({ order }) => `${order.order_number} ${acts[verb].done}.`,
  });

/** The acts of the operator's verbs, each under the order's address. */
export const orderActPages = verbs.map((verb) =>
  consolePage({
    ...{ path: `/orders/:id/${verb}`, needs: "orders.write", ...byVerb(verb) },
    ...(acts[verb].money && { stepUp: true }),
  }),
);
