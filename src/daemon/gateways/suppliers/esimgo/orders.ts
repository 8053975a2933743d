import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Cost } from "../../../../core/kernel/brand.ts";
import type { Ask, Step, TopupAsk } from "../../../../core/supply/provider.ts";
import { type Looking, lookLater, notBought } from "../look-ups.ts";
import { type Failed, mapped, otherForm, type Reply, reasonOf } from "../reply.ts";
import { costIn, dearer, TextOrNumber } from "../values.ts";
import { accountBalance } from "./account.ts";
import { type Client, everyRow } from "./client.ts";

const total = Type.Optional(TextOrNumber);
const Line = Type.Object({
  type: Type.String(),
  item: Type.Optional(Type.String()),
  iccids: Type.Optional(Type.Array(Type.String())),
  esims: Type.Optional(Type.Array(Type.Object({ iccid: Type.String() }))),
});
const Order = Type.Object({ orderReference: Type.String(), total, order: Type.Array(Line) });
const Row = Type.Object({ ...Order.properties, createdDate: Type.String(), assigned: Type.Optional(Type.Boolean()) });
const priced = Compile(Type.Object({ total: TextOrNumber, valid: Type.Optional(Type.Boolean()) }));
const orderReference = Type.String({ minLength: 1, maxLength: 200 });
const placed = Compile(Type.Object({ ...Order.properties, orderReference, status: Type.Literal("completed") }));
// A bare array as the specification has it, or within an envelope as clients read it.
const listed = Compile(Type.Union([Type.Array(Row), Type.Object({ orders: Type.Array(Row) })]));

/** An order that was placed, with the eSIMs that it names. */
export interface Placed {
  reference: string;
  cost: Cost | null;
  iccids: string[];
}

const MOST_PAGES = 10;
/** An order may have been made so long before and after the moment that was noted (ms). */
const BEFORE_MS = 5_000;
const AFTER_MS = 900_000;

/** Buys one bundle, for the inventory or onto an eSIM: never to be repeated. `then` says what follows. */
export async function placeOrder(
  client: Client,
  ask: Ask | TopupAsk,
  memory: Looking,
  then: (bought: Placed, at: number | null) => Step,
): Promise<Step> {
  const reply = await client.ask(orderCall("transaction", ask), placed);
  if (reply.kind === "done") return then(placedOf(reply.value), reply.at);
  if (reply.kind === "unclear") return lookLater(memory, reply.reason, reply.waitMs);
  return orderRefused(client, ask, reply);
}

/** Asks for the price, which buys nothing; null: it costs no more than it should. */
export async function guardPrice(client: Client, ask: Ask | TopupAsk): Promise<Step | null> {
  if (ask.cost === null) return null;
  const reply = await client.ask(orderCall("validate", ask), priced);
  if (reply.kind !== "done") return orderRefused(client, ask, reply);
  const cost = costIn(reply.value.total);
  if (cost === null) return notBought(otherForm);
  const invalid = { kind: "refused", code: "invalid", message: "it cannot be ordered", because: "plan" } as const;
  return reply.value.valid === false ? invalid : dearer(ask.cost, cost);
}

/** An order that was not placed, as a step. No code says that the balance is too small: the balance itself does. */
async function orderRefused(client: Client, ask: Ask, reply: Failed): Promise<Step> {
  if (reply.kind !== "refused" || reply.code !== "400") return notBought(reply);
  const account = await accountBalance(client.ask);
  const known = account.kind === "done" && ask.cost !== null;
  const poor = known ? account.value.balance < (ask.cost ?? 0) : /balance|funds|credit/i.test(reasonOf(reply));
  return { ...reply, because: poor ? "account" : "plan" };
}

/** Orders of one bundle of this type in the time after `since`, without those that are known as other purchases'. */
export async function ordersSince(
  client: Client,
  ask: Ask,
  { since, type }: { since: number; type: "bundle" | "bundleAssignment" },
): Promise<Reply<Placed[]>> {
  const [from, to] = [since - BEFORE_MS, since + AFTER_MS].map((edge) => new Date(edge).toISOString());
  const read = async (page: number) => {
    const query = new URLSearchParams({ includeIccids: "true", page: String(page), limit: "100" });
    for (const edge of [`gte:${from}`, `lte:${to}`]) query.append("createdAt", edge);
    const rows = await client.ask({ method: "GET", path: `/orders?${query}` }, listed);
    return mapped(rows, (shown) => (Array.isArray(shown) ? shown : shown.orders));
  };
  const reply = await everyRow(read, ({ orderReference }) => orderReference, MOST_PAGES);
  if (reply.kind !== "done") return reply;
  const alike = reply.value.filter((row) => {
    const [line] = row.order;
    const one = row.order.length === 1 && line?.type === type && line.item === ask.plan;
    return one && (type !== "bundle" || row.assigned !== true) && !(Date.parse(row.createdDate) < since - BEFORE_MS);
  });
  const known = await ask.known(alike.map((row) => row.orderReference));
  return { ...reply, value: alike.filter((row) => !known.has(row.orderReference)).map(placedOf) };
}

function placedOf({ orderReference, total, order }: Type.Static<typeof Order>): Placed {
  const iccids = order.flatMap(({ iccids = [], esims = [] }) => [...iccids, ...esims.map(({ iccid }) => iccid)]);
  return { reference: orderReference, cost: costIn(total), iccids: [...new Set(iccids)] };
}

function orderCall(type: "validate" | "transaction", ask: Ask | TopupAsk) {
  const iccids = "esim" in ask ? [ask.esim.iccid] : undefined;
  // With allowReassign a bundle that does not fit would go on a new eSIM.
  const line = { type: "bundle", item: ask.plan, quantity: 1, allowReassign: false, iccids };
  return { method: "POST" as const, path: "/orders", body: { type, assign: "esim" in ask, order: [line] } };
}
