import { moveByHand } from "../../../core/activations/operator.ts";
import { auditStory, itemStory } from "../../../core/find/stories.ts";
import type { OrderId } from "../../../core/kernel/brand.ts";
import { notFound } from "../../../core/kernel/problem.ts";
import { travelerOf } from "../../../core/orders/customer.ts";
import { requireItem } from "../../../core/orders/items.ts";
import { requireOrder } from "../../../core/orders/order.ts";
import type { OrderItemStatus } from "../../../core/store/schema/values.ts";
import type { Read } from "../../../core/store/store.ts";
import type { FieldOf } from "../../parts/act-form.tsx";
import { actPage } from "../../parts/act-page.tsx";
import { changeWords, type Fields, links, pageShown, record } from "../../parts/shown.tsx";
import { shownMoments } from "../../parts/timeline.tsx";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, idIn, partIn, type Shown } from "../../session/visit.ts";
import { failing, type HandVerb, moveIn } from "./hand-moves.ts";
import { timelineShown } from "./history.tsx";
import { personWords } from "./masked.ts";

const esim: readonly FieldOf[] = [
  { name: "iccid", label: "ICCID", hint: "Of the eSIM, where the supplier delivered one." },
  { name: "activation_code", label: "Activation code", hint: "LPA:1$…, whole." },
];

/** What an act on an item is called, its form, and what comes of it beside the status. */
const acts: Readonly<Record<HandVerb, { title: string; fields: readonly FieldOf[]; words: string }>> = {
  confirm: {
    ...{ title: "Confirm", words: "Its partner is notified." },
    fields: [{ name: "number", label: "The supplier's confirmation number", required: true }],
  },
  complete: { title: "Complete", fields: esim, words: "It is completed for good, and its partner is notified." },
  fail: {
    ...{ title: "Fail", words: "It fails for good, and its partner is notified." },
    fields: failing("no_profile"),
  },
  retry: { title: "Send again", fields: [], words: "Its supplier is asked again, under the same reference." },
  correct: {
    ...{ title: "Correct the eSIM", fields: esim },
    words: "Links to the eSIM show the new code, and its partner is notified again.",
  },
};

// The keys of a record are its names.
const verbs = Object.keys(acts) as HandVerb[];

/** The acts that may be possible in a state; whether they are, the act itself decides. */
function actsIn(status: OrderItemStatus): readonly HandVerb[] {
  if (status === "activated") return ["correct"];
  return status === "failed" || status === "cancelled" ? [] : ["confirm", "complete", "fail", "retry"];
}

/** An item of this order, for whom it is, on one snapshot. Throws `not_found`. */
async function seenItem(q: Read, { order: orderId, item: itemId }: { order: OrderId; item: string }) {
  const order = await requireOrder(q, orderId);
  const item = await requireItem(q, itemId);
  if (item.order_id !== order.id) throw notFound("order_item");
  const traveler = travelerOf(q, item)?.customer_name ?? null;
  const { id, status, supplier, quantity, error_type, error_message, confirmation_number } = item;
  const state = { status, supplier, quantity, error_type, error_message, confirmation_number };
  const moments = [...(await itemStory(q, item)), ...(await auditStory(q, id))].toSorted((a, b) => a.at - b.at);
  const history = shownMoments(moments);
  return { id, ...state, traveler, order: { id: order.id, number: order.order_number }, history };
}

type SeenItem = Awaited<ReturnType<typeof seenItem>>;

function readItem(visit: ConsoleVisit): Promise<SeenItem> {
  // The database decides what they are.
  return visit.store.read(seenItem, { order: idIn(visit) as OrderId, item: partIn(visit, "item") });
}

function pathOf({ order, id }: SeenItem): string {
  return `/orders/${order.id}/items/${id}`;
}

async function itemPage(visit: ConsoleVisit): Promise<Shown> {
  const item = await readItem(visit);
  const { order, error_type, error_message } = item;
  const fields: Fields = [
    ["Status", { status: item.status }],
    ["Order", { text: order.number, to: `/orders/${order.id}` }],
    ["Quantity", item.quantity],
    ["Traveler", personWords(item.traveler)],
    ["Confirmation", item.confirmation_number],
    ["Error", error_type === null ? error_message : `${error_type}: ${error_message ?? ""}`],
    ["ID", item.id],
  ];
  const possible = visit.may("orders.write") ? actsIn(item.status) : [];
  const buttons = possible.map((verb) => [`${pathOf(item)}/${verb}`, acts[verb].title] as const);
  return pageShown(visit, `Request to ${item.supplier} for ${order.number}`, [
    record(visit, fields, links(visit, buttons)),
    await timelineShown(visit, item.history),
  ]);
}

const byHand = (verb: HandVerb) =>
  actPage({
    verb,
    read: readItem,
    at: pathOf,
    title: ({ order }) => `${acts[verb].title}: ${order.number}`,
    button: acts[verb].title,
    bad: verb === "fail",
    fields: acts[verb].fields,
    command: moveByHand,
    input: (visit, { id }) => ({ id, move: moveIn(verb, visit, "esim") }),
    foresee: (moved, { status }) => {
      const after = moved.kind === "order_item" ? moved.item.status : status;
      return [<p>{changeWords(status, after)}</p>, <p>{acts[verb].words}</p>];
    },
    done: () => `${acts[verb].title}: done.`,
  });

const at = "/orders/:id/items/:item";

/** What suppliers are to deliver, and what staff record of it by hand. */
export const orderItemPages = [
  consolePage({ path: at, needs: "orders.read", show: itemPage }),
  ...verbs.map((verb) => consolePage({ path: `${at}/${verb}`, needs: "orders.write", ...byHand(verb) })),
];
