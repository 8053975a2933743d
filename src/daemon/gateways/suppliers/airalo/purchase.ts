import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import { civilDateAt } from "../../../../core/kernel/civil-date.ts";
import type { Ask, Step, TopupAsk } from "../../../../core/supply/provider.ts";
import { deliveredEsim } from "../delivered.ts";
import { afterSending, lookAgain, lookFailed, lookLater, notBought, notUnderstood } from "../look-ups.ts";
import { mapped, type Reply, shaped, unclear } from "../reply.ts";
import { costIn, dearer, maybe, TextOrNumber } from "../values.ts";
import { costsOf, type Prices, topupPlansOf } from "./catalog.ts";
import { type ApiCall, type Client, CURRENCY } from "./client.ts";

/** What is remembered of an order that is sent, or may be. */
const Ordered = Type.Object({
  stage: Type.Literal("order"),
  /** The order's description: what it is looked up by, as there is no key. */
  token: Type.String(),
  /** When it was about to be sent. */
  since: Type.Number(),
  /** Look-ups that were answered and had no such order, and those without a usable answer. */
  looks: Type.Integer(),
  silent: Type.Integer(),
});
type Ordered = Static<typeof Ordered>;
const ordered = Compile(Ordered);

const Sim = Type.Object({
  id: TextOrNumber,
  iccid: Type.String(),
  ...maybe(Type.String(), "lpa", "matching_id", "qrcode"),
  ...maybe(TextOrNumber, "confirmation_code"),
});
/** What is read of an order. It has more: `user` is personal, and never gets further than this. */
const Order = Type.Object({
  id: TextOrNumber,
  ...maybe(Type.String(), "code", "currency"),
  ...maybe(TextOrNumber, "net_price", "total_amount_paid"),
  ...maybe(Type.Object(maybe(Type.String(), "slug")), "status"),
  ...maybe(Type.Array(Sim), "sims"),
});
type Order = Static<typeof Order>;
const order = Compile(Order);
const links = Type.Optional(Type.Object(maybe(Type.String(), "next")));
const list = Compile(Type.Object({ data: Type.Array(Type.Object(maybe(Type.Unknown(), "description"))), links }));
const single = Compile(Type.Object({ data: Order }));

const DAY_MS = 86_400_000;
/** States of an order that was made and holds no longer. */
const ended = ["failed", "refunded", "partially_refunded"];

interface Buying {
  client: Client;
  prices: Prices;
  now: () => number;
}

/** The next step of buying an eSIM, or a top-up. No `to_email`: Airalo would write to the traveler itself. */
export async function purchaseStep(buying: Buying, ask: Ask | TopupAsk): Promise<Step> {
  const { client } = buying;
  const { memory, fresh, reference } = ask;
  if (memory === null) {
    // All that can be done before the order is sent is done before it is noted.
    const stopped = await guardPrice(buying, ask);
    if (stopped !== null) return stopped;
    const ready = await client.ready();
    if (ready.kind !== "done") return notBought(ready);
    // This purchase's alone, not to be guessed, and without `%` and `_`, which the search reads as patterns.
    const token = `esimctl-${reference.replaceAll("-", "")}`;
    return { kind: "note", memory: { stage: "order", token, since: buying.now(), looks: 0, silent: 0 } };
  }
  if (!ordered.Check(memory)) return notUnderstood(memory);
  return fresh ? sendOrder(buying, ask, memory) : lookUp(client, ask, memory);
}

/** Compares the cost with the catalog's, or with what is offered to the eSIM; null: nothing stops the purchase. */
async function guardPrice({ client, prices }: Buying, ask: Ask | TopupAsk): Promise<Step | null> {
  if (ask.cost === null) return null;
  const costs = "esim" in ask ? mapped(await topupPlansOf(client.send, ask.esim), costsOf) : await prices.current();
  return costs.kind === "done" ? dearer(ask.cost, costs.value.get(ask.plan) ?? null) : notBought(costs);
}

/** Sends the order, once. */
async function sendOrder({ client, prices }: Buying, ask: Ask | TopupAsk, memory: Ordered): Promise<Step> {
  const path = "esim" in ask ? "/orders/topups" : "/orders";
  const more: ApiCall["form"] = "esim" in ask ? { iccid: ask.esim.iccid } : { quantity: "1", type: "sim" };
  const form = { package_id: ask.plan, ...more, description: memory.token };
  const reply = shaped(await client.send({ method: "POST", path, form, taken: true }), single);
  if (reply.kind !== "done") return afterSending(memory, reply);
  const step = stepOf(reply.value.data, ask);
  if (step?.kind === "bought" && step.cost !== null) prices.keep(ask.plan, step.cost);
  return step ?? lookLater(memory, "the answer to the order has no eSIM that can be read");
}

/**
 * Looks for an order that may have been made. Never makes one. How soon a new order is listed is not published; orders
 * are answered within seconds, so that a quarter of an hour is enough, and people alone take it as final.
 */
async function lookUp(client: Client, ask: Ask | TopupAsk, memory: Ordered): Promise<Step> {
  const lost = (reason: string): Step => ({ kind: "lost", reason, memory });
  const found = await ordersNamed(client, memory);
  if (found.kind !== "done") return lookFailed(memory, found);
  const [order, ...others] = found.value;
  if (order === undefined) return lookAgain({ ...memory, looks: memory.looks + 1 }, "the list has no such order");
  if (others.length > 0) return lost(`it was bought more than once: orders ${found.value.map(referenceOf).join(", ")}`);
  const state = order.status?.slug;
  if (state && ended.includes(state)) return lost(`order ${referenceOf(order)} is ${state}`);
  const bought = stepOf(order, ask);
  if (bought !== null) return bought;
  const path = `/orders/${encodeURIComponent(order.id)}?include=sims`;
  const whole = shaped(await client.send({ method: "GET", path }), single);
  if (whole.kind !== "done") return lookFailed(memory, whole);
  const unreadable = unclear(`order ${referenceOf(order)} has no eSIM that can be read`);
  return stepOf(whole.value.data, ask) ?? lookFailed(memory, unreadable);
}

/** The orders with exactly this description, of the days around it: clocks and zones may differ. */
async function ordersNamed({ send }: Client, { token, since }: Ordered): Promise<Reply<Order[]>> {
  const query = new URLSearchParams({ include: "sims,status", limit: "100", "filter[description]": token });
  query.set("filter[created_at]", `${civilDateAt(since - DAY_MS)} - ${civilDateAt(since + DAY_MS)}`);
  const listed = shaped(await send({ method: "GET", path: `/orders?${query}` }), list);
  if (listed.kind !== "done") return listed;
  // The search finds what is like it.
  const named = listed.value.data.filter(({ description }) => description === token);
  const found = named.filter((row) => order.Check(row));
  // Where it finds many others, what is missing may be on a later page.
  const isPart = found.length === 0 && typeof listed.value.links?.next === "string";
  if (isPart || found.length < named.length) return unclear("the list of orders is not understood");
  return { ...listed, value: [...new Map(found.map((one) => [String(one.id), one])).values()] };
}

/** How people name an order. */
function referenceOf({ id, code }: Order): string {
  return code || String(id);
}

/** What an order means to whom it was made for; null: it has not what was bought. */
function stepOf(order: Order, ask: Ask | TopupAsk): Step | null {
  const { currency, total_amount_paid, net_price } = order;
  // Lists do not say what it cost.
  const cost = currency === CURRENCY ? (costIn(total_amount_paid) ?? costIn(net_price)) : null;
  const reference = referenceOf(order);
  if ("esim" in ask) return { kind: "applied", reference, cost };
  const [sim, ...others] = order.sims ?? [];
  if (sim === undefined || others.length > 0) return null;
  // By its address and matching id, which both must be there, else by what its QR code says.
  const codes = [`LPA:1$${sim.lpa ?? ""}$${sim.matching_id ?? ""}`, sim.qrcode].filter((one) => !one?.endsWith("$"));
  const confirmationCode = String(sim.confirmation_code ?? "").trim() || null;
  const esim = deliveredEsim({ iccid: sim.iccid, codes, confirmationCode, reference: String(sim.id) });
  return esim === null ? null : { kind: "bought", esim, reference, cost };
}
