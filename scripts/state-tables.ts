/** The state machines as docs/states.md shows them: the moves come from core's own tables, the occasions from here. */
import { activationTransitions, stateOf, statusesOf } from "../src/core/activations/states.ts";
import { activationStatusOf, esimTransitions } from "../src/core/esims/esim.ts";
import { finalStates, type Transitions } from "../src/core/kernel/state-machine.ts";
import { orderItemTransitions } from "../src/core/orders/items.ts";
import { orderLineTransitions, orderTransitions } from "../src/core/orders/progress.ts";
import { fundingTransitions } from "../src/core/wallet/funding.ts";
import { deliveryTransitions, webhookTransitions } from "../src/core/webhooks/webhook.ts";
import { code, markdownTable } from "./markdown.ts";

/** A machine, what begins it, and what makes each of its moves: `from → to` in words. */
interface Machine {
  table: Transitions<string>;
  begins: Readonly<Record<string, string>>;
  occasions: Readonly<Record<string, string>>;
}

/** The machines by the name of their section. */
export const machines: Readonly<Record<string, Machine>> = {
  orders: {
    table: orderTransitions,
    begins: { paid: "a production order is placed and charged", pending_payment: "a sandbox order is placed" },
    occasions: {
      "pending_payment → paid": "it is paid (orders of this version are paid as they are placed)",
      "pending_payment → fulfilled": "the sandbox delivers, within seconds",
      "pending_payment → cancelled": "the operator cancels",
      "paid → fulfilled": "its last line is delivered, or the operator cancels the rest of a partly delivered order",
      "paid → waiting_review": "stock is short, or a supplier cannot be reached, is silent or refuses a part",
      "paid → failed": "a supplier refuses and nothing was delivered: refunded in full",
      "paid → cancelled": "the operator rejects or cancels and nothing was delivered: refunded in full",
      "waiting_review → fulfilled": "the operator approves, retries or delivers by hand, or cancels what is missing",
      "waiting_review → failed": "a supplier refuses and nothing was delivered: refunded in full",
      "waiting_review → cancelled": "the operator rejects or cancels and nothing was delivered: refunded in full",
    },
  },
  "order lines": {
    table: orderLineTransitions,
    begins: { pending: "its order is placed" },
    occasions: {
      "pending → fulfilled": "all its units are delivered; or what was delivered stays when the rest is cancelled",
      "pending → failed": "its order fails",
      "pending → cancelled": "the operator cancels and nothing of the line was delivered",
    },
  },
  "order items": {
    table: orderItemTransitions,
    begins: { pending: "its order is placed; it waits for its activation date, if it has one" },
    occasions: {
      "pending → submitted": "the supplier took the request, or accepted the mail",
      "pending → confirmed": "the operator confirms, or the supplier says so before it took the request",
      "pending → activated": "the supplier delivers at once, or the operator completes it",
      "pending → failed": "the supplier refuses, or the operator fails it",
      "pending → cancelled": "its order is cancelled, or fails",
      "submitted → confirmed": "the supplier or the operator confirms",
      "submitted → activated": "the supplier delivers, or the operator completes it",
      "submitted → failed": "the supplier refuses, or the operator fails it",
      "submitted → cancelled": "its order is cancelled, or fails",
      "confirmed → activated": "the supplier delivers, or the operator completes it",
      "confirmed → failed": "the supplier refuses, or the operator fails it",
      "confirmed → cancelled": "its order is cancelled, or fails",
    },
  },
  activations: {
    table: activationTransitions,
    begins: { pending: "it is submitted" },
    occasions: {
      "pending → processing": "its date has come in Sydney and the queue picks it up",
      "pending → cancelled": "the partner or the operator cancels, or another date replaces it",
      "processing → confirmed": "the carrier or the operator confirms",
      "processing → completed": "the carrier assigned a number, or the operator completes it",
      "processing → failed": "the carrier refuses, or the operator fails it",
      "processing → manual_required": "five retries found no carrier, or its final answer is overdue",
      "confirmed → completed": "the carrier assigned a number, or the operator completes it",
      "confirmed → failed": "the carrier refuses, or the operator fails it",
      "confirmed → manual_required": "the final answer is overdue, or the carrier cannot be reached any more",
      "manual_required → processing": "the operator retries",
      "manual_required → completed": "the operator completes it, or the carrier did activate after all",
      "manual_required → failed": "the operator fails it",
    },
  },
  esims: {
    table: esimTransitions,
    begins: { inactive: "it is delivered" },
    occasions: {
      "inactive → active": "it is activated: its validity begins",
      "inactive → suspended": "the operator or its supplier suspends it",
      "inactive → expired": "it lapses unused, or its supplier takes it back",
      "active → suspended": "the operator or its supplier suspends it; its validity runs on",
      "active → expired": "its validity ends",
      "suspended → active": "it is activated (again)",
      "suspended → expired": "its validity ends",
    },
  },
  "funding requests": {
    table: fundingTransitions,
    begins: { requested: "a partner announces money" },
    occasions: {
      "requested → credited": "the operator credits it",
      "requested → cancelled": "the operator cancels it",
    },
  },
  webhooks: {
    table: webhookTransitions,
    begins: { active: "it is created" },
    occasions: {
      "active → disabled": "it answers 410 Gone, or the operator disables it",
      "active → failed": "20 deliveries in a row were given up",
      "disabled → active": "the operator enables it",
      "failed → active": "the operator enables it",
      "failed → disabled": "the operator disables it",
    },
  },
  deliveries: {
    table: deliveryTransitions,
    begins: {
      pending: "an event happens",
      held: "an event happens while its endpoint is not active, or has as many waiting as its partner's limit allows",
    },
    occasions: {
      "pending → delivered": "the endpoint answers 2xx",
      "pending → exhausted": "the first attempt and five retries failed",
      "pending → held": "its endpoint is disabled or failed",
      "held → pending": "the operator sends it again",
      "held → delivered": "an attempt that was under way is answered 2xx after all",
      "held → exhausted": "the body of its event is cleared with the personal data in it",
      "exhausted → pending": "the operator sends it again",
      "delivered → pending": "the operator sends it again",
    },
  },
};

/** A machine as a table in Markdown. Throws when a move of core's has no words, or words have no move. */
export function machineTable({ table, begins, occasions }: Machine): string {
  const moves = Object.entries(table).flatMap(([from, next]) => next.map((to) => ({ from, to })));
  const known = new Set(moves.map(({ from, to }) => `${from} → ${to}`));
  const stray = Object.keys(occasions).find((move) => !known.has(move));
  if (stray !== undefined) throw new Error(`there is no move ${stray}`);
  const rows = moves.map(({ from, to }) => {
    const when = occasions[`${from} → ${to}`];
    if (when === undefined) throw new Error(`what makes the move ${from} → ${to}?`);
    return [code(from), code(to), when];
  });
  const first = Object.entries(begins).map(([to, when]) => ["(begins)", code(to), when]);
  const ends = finalStates(table).map(code);
  const last = ends.length === 0 ? "No state is final." : `Final: ${ends.join(", ")}.`;
  return `${markdownTable(["from", "to", "when"], [...first, ...rows])}\n\n${last}`;
}

/** The states of an activation as its two public statuses show them. */
export function activationStatusTable(): string {
  const states = Object.keys(activationTransitions);
  const rows = Object.values(statusesOf).map((both) => [stateOf(both), both.status, both.processing_status].map(code));
  if (rows.length !== states.length) throw new Error("a state of activations has no statuses");
  return markdownTable(["state", "`status`", "`processing_status`"], rows);
}

/** The states of an eSIM as its status record shows them. */
export function esimStatusTable(): string {
  const rows = Object.entries(activationStatusOf).map((names) => names.map(code));
  return markdownTable(["`status`", "`activation_status`"], rows);
}
