import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Cost } from "../../../../core/kernel/brand.ts";
import type { Ask, Step, TopupAsk } from "../../../../core/supply/provider.ts";
import { notBought } from "../look-ups.ts";
import { readPages } from "../pages.ts";
import { mapped, otherForm, type Reply } from "../reply.ts";
import { costIn, dearer, TextOrNumber } from "../values.ts";
import { accountBalance } from "./account.ts";
import type { Client } from "./client.ts";

const Line = Type.Object({
  type: Type.String(),
  item: Type.Optional(Type.String()),
  iccids: Type.Optional(Type.Array(Type.String())),
  esims: Type.Optional(Type.Array(Type.Object({ iccid: Type.String() }))),
});
const orderReference = Type.String({ minLength: 1, maxLength: 200 });
const Order = Type.Object({ orderReference, total: Type.Optional(TextOrNumber), order: Type.Array(Line) });
const Row = Type.Object({ ...Order.properties, createdDate: Type.String(), assigned: Type.Optional(Type.Boolean()) });
const priced = Compile(Type.Object({ total: TextOrNumber, valid: Type.Optional(Type.Boolean()) }));
const placed = Compile(Type.Object({ ...Order.properties, status: Type.Literal("completed") }));
// A bare array as the specification has it, or within an envelope as clients read it.
const listed = Compile(Type.Union([Type.Array(Row), Type.Object({ orders: Type.Array(Row) })]));

/** An order that was placed, with the eSIMs that it names. */
interface Placed {
  reference: string;
  cost: Cost | null;
  iccids: string[];
}

const MOST_PAGES = 10;
/** An order may have been made so long before and after the moment that was noted (ms). */
const BEFORE_MS = 5_000;
const AFTER_MS = 900_000;

/** Buys one bundle, for the inventory or onto an eSIM: never to be repeated. */
export async function placeOrder(client: Client, asked: Ask | TopupAsk): Promise<Reply<Placed>> {
  return mapped(await order(client, asked, "transaction", placed), placedOf);
}

/** Asks for the price, which buys nothing; null: it costs no more than it should. */
export async function guardPrice(client: Client, asked: Ask | TopupAsk): Promise<Step | null> {
  if (asked.cost === null) return null;
  const reply = await order(client, asked, "validate", priced);
  if (reply.kind !== "done") return notBought(reply);
  const cost = costIn(reply.value.total);
  const invalid = { kind: "refused", code: "invalid", message: "it cannot be ordered", because: "plan" } as const;
  if (reply.value.valid === false) return invalid;
  return cost === null ? notBought(otherForm) : dearer(asked.cost, cost);
}

/** Orders of one bundle of this type in the time after `since`, without those that are known as other purchases'. */
export async function ordersSince(
  { ask }: Client,
  { plan, known }: Ask,
  { since, type }: { since: number; type: "bundle" | "bundleAssignment" },
): Promise<Reply<Placed[]>> {
  const [from, to] = [since - BEFORE_MS, since + AFTER_MS].map((edge) => new Date(edge).toISOString());
  const read = async (page: number) => {
    const query = new URLSearchParams({ includeIccids: "true", page: String(page), limit: "100" });
    for (const edge of [`gte:${from}`, `lte:${to}`]) query.append("createdAt", edge);
    const rows = await ask({ method: "GET", path: `/orders?${query}` }, listed);
    return mapped(rows, (shown) => (Array.isArray(shown) ? shown : shown.orders));
  };
  const reply = await readPages({ most: MOST_PAGES, read, nameOf: (row) => row.orderReference });
  if (reply.kind !== "done") return reply;
  const alike = reply.value.filter(({ order, assigned, createdDate }) => {
    const [line, ...others] = order;
    const isOne = others.length === 0 && line?.type === type && line.item === plan;
    return isOne && (type !== "bundle" || assigned !== true) && !(Date.parse(createdDate) < since - BEFORE_MS);
  });
  const others = await known(alike.map((row) => row.orderReference));
  return { ...reply, value: alike.map(placedOf).filter(({ reference }) => !others.has(reference)) };
}

function placedOf({ orderReference, total, order }: Type.Static<typeof Order>): Placed {
  const iccids = order.flatMap(({ iccids = [], esims = [] }) => [...iccids, ...esims.map(({ iccid }) => iccid)]);
  return { reference: orderReference, cost: costIn(total), iccids: [...new Set(iccids)] };
}

/** The order of one bundle. No code says that the balance is too small for it: the balance itself does. */
async function order<T>(
  { ask }: Client,
  asked: Ask | TopupAsk,
  type: "validate" | "transaction",
  shape: { Check(value: unknown): value is T },
): Promise<Reply<T>> {
  const iccids = "esim" in asked ? [asked.esim.iccid] : undefined;
  // With allowReassign a bundle that does not fit would go on a new eSIM.
  const line = { type: "bundle", item: asked.plan, quantity: 1, allowReassign: false, iccids };
  const body = { type, assign: "esim" in asked, order: [line] };
  const reply = await ask({ method: "POST", path: "/orders", body }, shape);
  if (reply.kind !== "refused" || reply.code !== "400") return reply;
  const held = await accountBalance(ask);
  const { cost } = asked;
  const isKnown = held.kind === "done" && cost !== null;
  const isPoor = isKnown ? held.value.balance < cost : /balance|funds|credit/i.test(reply.message);
  return { ...reply, because: isPoor ? "account" : "plan" };
}
