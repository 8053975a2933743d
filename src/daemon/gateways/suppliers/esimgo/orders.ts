import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Cost } from "../../../../core/kernel/brand.ts";
import { readCost } from "../../../../core/kernel/cost.ts";
import type { Ask, Step } from "../../../../core/supply/provider.ts";
import { accountBalance } from "./account.ts";
import { type EsimgoClient, type Failed, notBought, type Reply } from "./client.ts";

const Money = Type.Union([Type.Number(), Type.String()]);
const Line = Type.Object({
  type: Type.String(),
  item: Type.Optional(Type.String()),
  iccids: Type.Optional(Type.Array(Type.String())),
  esims: Type.Optional(Type.Array(Type.Object({ iccid: Type.String() }))),
});
const priced = Compile(Type.Object({ total: Money, valid: Type.Optional(Type.Boolean()) }));
const placed = Compile(
  Type.Object({
    orderReference: Type.String({ minLength: 1, maxLength: 200 }),
    status: Type.Literal("completed"),
    total: Type.Optional(Money),
    order: Type.Array(Line),
  }),
);
const Row = Type.Object({
  orderReference: Type.String(),
  createdDate: Type.String(),
  assigned: Type.Optional(Type.Boolean()),
  total: Type.Optional(Money),
  order: Type.Array(Line),
});
// A bare array as the specification has it, or within an envelope as clients read it.
const listed = Compile(Type.Union([Type.Array(Row), Type.Object({ orders: Type.Array(Row) })]));

/** An order that was placed, with the eSIMs that it names. */
export interface Placed {
  reference: string;
  cost: Cost | null;
  iccids: string[];
}

const PAGE = 100;
const MOST_PAGES = 10;
/** An order may have been made so long before and after the moment that was noted (ms). */
const BEFORE_MS = 5_000;
const AFTER_MS = 900_000;

/** Buys one bundle, for the inventory or onto an eSIM: never to be repeated. */
export async function placeOrder({ ask }: EsimgoClient, plan: string, iccid: string | null): Promise<Reply<Placed>> {
  const reply = await ask(orderCall("transaction", plan, iccid), placed);
  return reply.kind === "done" ? { ...reply, value: placedOf(reply.value) } : reply;
}

/** Asks for the price, which buys nothing; null: it costs no more than it should. */
export async function guardPrice(client: EsimgoClient, ask: Ask, iccid: string | null): Promise<Step | null> {
  if (ask.cost === null) return null;
  const reply = await client.ask(orderCall("validate", ask.plan, iccid), priced);
  if (reply.kind !== "done") return orderRefused(client, ask, reply);
  const cost = readCost(reply.value.total);
  if (reply.value.valid !== false && cost !== null && cost <= ask.cost) return null;
  const reason = reply.value.valid === false ? "it cannot be ordered" : `it costs ${reply.value.total} by now`;
  return notBought({ kind: "refused", code: "price", reason }, "plan");
}

/** An order that was not placed, as a step. No code says that the balance is too small: the balance itself does. */
export async function orderRefused(client: EsimgoClient, ask: Ask, reply: Failed): Promise<Step> {
  if (reply.kind !== "refused" || reply.code !== "400") return notBought(reply);
  const account = await accountBalance(client.ask);
  const known = account.kind === "done" && ask.cost !== null;
  const poor = known ? account.value.balance < (ask.cost ?? 0) : /balance|funds|credit/i.test(reply.reason);
  return notBought(reply, poor ? "account" : "plan");
}

/** Orders of one bundle of this type in the time after `since`, without those that are known as other purchases'. */
export async function ordersSince(
  client: EsimgoClient,
  ask: Ask,
  { since, type }: { since: number; type: "bundle" | "bundleAssignment" },
): Promise<Reply<Placed[]>> {
  const edges = [since - BEFORE_MS, since + AFTER_MS].map((edge) => new Date(edge).toISOString());
  const rows = new Map<string, Type.Static<typeof Row>>();
  for (let page = 1; page <= MOST_PAGES; page++) {
    const query = new URLSearchParams({ includeIccids: "true", page: String(page), limit: String(PAGE) });
    for (const [at, edge] of edges.entries()) query.append("createdAt", `${at === 0 ? "gte" : "lte"}:${edge}`);
    const reply = await client.ask({ method: "GET", path: `/orders?${query}` }, listed);
    if (reply.kind !== "done") return reply;
    const before = rows.size;
    for (const row of Array.isArray(reply.value) ? reply.value : reply.value.orders) rows.set(row.orderReference, row);
    // A page may be shorter than asked for: only one with nothing new is the last.
    if (rows.size > before) continue;
    const alike = [...rows.values()].filter((row) => {
      const [line] = row.order;
      const one = row.order.length === 1 && line?.type === type && line.item === ask.plan;
      return one && (type !== "bundle" || row.assigned !== true) && !(Date.parse(row.createdDate) < since - BEFORE_MS);
    });
    const known = await ask.known(alike.map((row) => row.orderReference));
    return { ...reply, value: alike.filter((row) => !known.has(row.orderReference)).map(placedOf) };
  }
  return { kind: "unclear", reason: "more orders than can be read", waitMs: null };
}

function placedOf({
  orderReference,
  total,
  order,
}: Pick<Type.Static<typeof Row>, "orderReference" | "total" | "order">) {
  const iccids = order.flatMap(({ iccids = [], esims = [] }) => [...iccids, ...esims.map(({ iccid }) => iccid)]);
  const cost = total === undefined ? null : readCost(total);
  return { reference: orderReference, cost, iccids: [...new Set(iccids)] };
}

function orderCall(type: "validate" | "transaction", item: string, iccid: string | null) {
  // With allowReassign a bundle that does not fit would go on a new eSIM.
  const line = {
    type: "bundle",
    item,
    quantity: 1,
    allowReassign: false,
    ...(iccid === null ? {} : { iccids: [iccid] }),
  };
  return { method: "POST" as const, path: "/orders", body: { type, assign: iccid !== null, order: [line] } };
}
