import { type Static, Type } from "typebox";
import { civilDateAt } from "../../../../core/kernel/civil-date.ts";
import type { Step } from "../../../../core/supply/provider.ts";
import type { ApiCall, Client } from "./client.ts";
import { type AiraloOrder, readOrder, readOrders, referenceOf } from "./order.ts";
import { faultWords } from "./reply.ts";

/** What is bought: how it is ordered, and what an order of it means. */
export interface Purchase {
  order(description: string): ApiCall;
  /** Null: the order has not what was bought. */
  read(order: AiraloOrder): Step | null;
}

/** What is remembered of an order that is sent, or may be. */
export const Ordered = Type.Object({
  stage: Type.Literal("order"),
  /** The order's description: what it is looked up by, as there is no key. */
  token: Type.String(),
  /** When it was about to be sent. */
  since: Type.Number(),
  /** Look-ups that were answered and had no such order. */
  looks: Type.Integer(),
  /** Look-ups without a usable answer. */
  silent: Type.Integer(),
});
export type Ordered = Static<typeof Ordered>;

const DAY_MS = 86_400_000;

/** How long before the first look, and after each one (ms): a quarter of an hour in all. */
const waits = [2, 5, 10, 30, 60, 120, 300, 300].map((seconds) => seconds * 1_000);
const LONGEST_WAIT_MS = 300_000;
/**
 * How soon a new order is in the list is not published: a list that has it not after a minute may still be a copy from
 * before. An order is answered within seconds, and none is known to take longer than a quarter of an hour.
 */
const MOST_LOOKS = waits.length;
/** Three hours of looks without an answer: what is wrong then is for people. */
const MOST_SILENT = 40;

/** States of an order that was made and holds no longer. */
const ended = ["failed", "refunded", "partially_refunded"];

/** It may be bought: the next look is after a wait that grows with each one. */
export function unknown(reason: string, memory: Ordered): Step {
  const { looks, silent } = memory;
  if (looks >= MOST_LOOKS) return { kind: "lost", reason: `no look-up shows the order: ${reason}`, memory };
  if (silent >= MOST_SILENT) return { kind: "lost", reason: `it cannot be looked up: ${reason}`, memory };
  return { kind: "unknown", reason, memory, waitMs: waits[Math.max(looks, silent)] ?? LONGEST_WAIT_MS };
}

/** Looks for an order that may have been made. Never makes one. */
export async function lookUp(client: Client, purchase: Purchase, memory: Ordered): Promise<Step> {
  const silent = (reason: string) => unknown(reason, { ...memory, silent: memory.silent + 1 });
  const reply = await client.send({ method: "GET", path: listPath(memory) });
  if (reply.kind === "busy") return reply;
  if (reply.kind !== "done") return silent(faultWords(reply));
  const found = readOrders(reply.body, memory.token);
  if (found === null) return silent("the list of orders is not understood");
  const [order, ...others] = found;
  if (order === undefined) return unknown("the list has no such order", { ...memory, looks: memory.looks + 1 });
  if (others.length > 0) {
    const names = found.map(referenceOf).join(", ");
    return { kind: "lost", reason: `it was bought more than once: orders ${names}`, memory };
  }
  const state = order.status?.slug ?? "";
  if (ended.includes(state)) return { kind: "lost", reason: `order ${referenceOf(order)} is ${state}`, memory };
  const bought = purchase.read(order) ?? (await readWhole(client, purchase, order));
  return bought ?? silent(`order ${referenceOf(order)} has no eSIM yet`);
}

/** What a found order has when it is asked for by its id. */
async function readWhole(client: Client, purchase: Purchase, { id }: AiraloOrder): Promise<Step | null> {
  const reply = await client.send({ method: "GET", path: `/orders/${encodeURIComponent(id)}?include=sims` });
  const order = reply.kind === "done" ? readOrder(reply.body) : null;
  return order === null ? null : purchase.read(order);
}

/** The search for an order, in the days around it: clocks and zones may differ. */
function listPath({ token, since }: Ordered): string {
  const days = `${civilDateAt(since - DAY_MS)} - ${civilDateAt(since + DAY_MS)}`;
  const query = new URLSearchParams({
    include: "sims,status",
    "filter[description]": token,
    "filter[created_at]": days,
    limit: "100",
  });
  return `/orders?${query}`;
}
