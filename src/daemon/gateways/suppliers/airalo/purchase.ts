import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import { FormData } from "undici";
import { civilDateAt } from "../../../../core/kernel/civil-date.ts";
import type { Ask, Step, TopupAsk } from "../../../../core/supply/provider.ts";
import type { Client } from "./client.ts";
import { type AiraloOrder, costOfOrder, esimOf, readOrder, readOrders, referenceOf } from "./order.ts";
import { faultWords } from "./reply.ts";

/** What is bought. */
interface Purchase {
  path: "/orders" | "/orders/topups";
  fields: Record<string, string>;
  /** What an order of it means; null: it has not what was bought. */
  read(order: AiraloOrder): Step | null;
}

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

const DAY_MS = 86_400_000;
/** How long before the first look, and after each one (s): a quarter of an hour in all. */
const waits = [2, 5, 10, 30, 60, 120, 300, 300];
/**
 * How soon a new order is in the list is not published. Orders are answered within seconds; a list that has one not
 * after a quarter of an hour is taken as final by people alone.
 */
const MOST_LOOKS = waits.length;
/** Three hours without an answer: what is wrong then is for people. */
const MOST_SILENT = 40;
/** States of an order that was made and holds no longer. */
const ended = ["failed", "refunded", "partially_refunded"];

/** The next step of buying an eSIM. No `to_email`: Airalo would write to the traveler itself. */
export function buyEsim(client: Client, now: number, ask: Ask): Promise<Step> {
  return nextStep(client, now, ask, {
    path: "/orders",
    fields: { package_id: ask.plan, quantity: "1", type: "sim" },
    read(order) {
      const esim = esimOf(order);
      return esim === null ? null : { kind: "bought", esim, reference: referenceOf(order), cost: costOfOrder(order) };
    },
  });
}

/** The next step of a top-up. */
export function buyTopup(client: Client, now: number, ask: TopupAsk): Promise<Step> {
  return nextStep(client, now, ask, {
    path: "/orders/topups",
    fields: { package_id: ask.plan, iccid: ask.esim.iccid },
    read: (order) => ({ kind: "applied", reference: referenceOf(order), cost: costOfOrder(order) }),
  });
}

async function nextStep(client: Client, now: number, ask: Ask, purchase: Purchase): Promise<Step> {
  const { memory, fresh, reference } = ask;
  if (memory === null) {
    // This purchase's alone, not to be guessed, and without `%` and `_`, which the search reads as patterns.
    const token = `esimctl-${reference.replaceAll("-", "")}`;
    return { kind: "note", memory: { stage: "order", token, since: now, looks: 0, silent: 0 } };
  }
  if (!ordered.Check(memory)) return { kind: "lost", reason: "what was noted of it is not understood", memory };
  return fresh ? sendOrder(client, purchase, memory) : lookUp(client, purchase, memory);
}

/** Sends the order, once. */
async function sendOrder(client: Client, { path, fields, read }: Purchase, memory: Ordered): Promise<Step> {
  const body = new FormData();
  for (const [name, value] of Object.entries({ ...fields, description: memory.token })) body.append(name, value);
  const reply = await client.send({ method: "POST", path, body });
  if (reply.kind === "done") {
    const order = readOrder(reply.body);
    return (order === null ? null : read(order)) ?? unknown("the answer to the order is not understood", memory);
  }
  if (reply.kind === "unclear") return unknown(reply.reason, memory);
  return reply;
}

/** Looks for an order that may have been made. Never makes one. */
async function lookUp(client: Client, { read }: Purchase, memory: Ordered): Promise<Step> {
  const silent = (reason: string) => unknown(reason, { ...memory, silent: memory.silent + 1 });
  const lost = (reason: string): Step => ({ kind: "lost", reason, memory });
  const reply = await client.send({ method: "GET", path: searchPath(memory) });
  if (reply.kind === "busy") return reply;
  if (reply.kind !== "done") return silent(faultWords(reply));
  const found = readOrders(reply.body, memory.token);
  if (found === null) return silent("the list of orders is not understood");
  const [order, ...others] = found;
  if (order === undefined) return unknown("the list has no such order", { ...memory, looks: memory.looks + 1 });
  if (others.length > 0) return lost(`it was bought more than once: orders ${found.map(referenceOf).join(", ")}`);
  const state = order.status?.slug ?? "";
  if (ended.includes(state)) return lost(`order ${referenceOf(order)} is ${state}`);
  const bought = read(order);
  if (bought !== null) return bought;
  const path = `/orders/${encodeURIComponent(order.id)}?include=sims`;
  const single = await client.send({ method: "GET", path });
  const whole = single.kind === "done" ? readOrder(single.body) : null;
  return (whole === null ? null : read(whole)) ?? silent(`order ${referenceOf(order)} has no eSIM that can be read`);
}

/** The search for an order, in the days around it: clocks and zones may differ. */
function searchPath({ token, since }: Ordered): string {
  const query = new URLSearchParams({ include: "sims,status", limit: "100", "filter[description]": token });
  query.set("filter[created_at]", `${civilDateAt(since - DAY_MS)} - ${civilDateAt(since + DAY_MS)}`);
  return `/orders?${query}`;
}

/** It may be bought: the next look is after a wait that grows with each one. */
function unknown(reason: string, memory: Ordered): Step {
  const { looks, silent } = memory;
  if (looks >= MOST_LOOKS) return { kind: "lost", reason: `no look-up shows the order: ${reason}`, memory };
  if (silent >= MOST_SILENT) return { kind: "lost", reason: `it cannot be looked up: ${reason}`, memory };
  const seconds = waits[Math.max(looks, silent)] ?? Math.max(...waits);
  return { kind: "unknown", reason, memory, waitMs: seconds * 1_000 };
}
