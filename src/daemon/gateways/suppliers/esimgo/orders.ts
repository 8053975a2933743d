import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Ask, EsimRef, Step, TopupAsk } from "../../../../core/supply/provider.ts";
import { notBought } from "../look-ups.ts";
import { readPages } from "../pages.ts";
import { mapped, otherForm, type Reply } from "../reply.ts";
import { costIn, dearer, maybe, TextOrNumber } from "../values.ts";
import { accountBalance, type Client } from "./client.ts";
import { bundlesOn, referenceOf } from "./esims.ts";

const iccids = maybe(Type.Array(Type.String()), "iccids");
const Line = Type.Object({ type: Type.String(), ...maybe(Type.String(), "item"), ...iccids });
const Reference = Type.String({ minLength: 1, maxLength: 200 });
const Order = Type.Object({ orderReference: Reference, ...maybe(TextOrNumber, "total"), order: Type.Array(Line) });
const Row = Type.Object({ ...Order.properties, createdDate: Type.String(), ...maybe(Type.Boolean(), "assigned") });
const priced = Compile(Type.Object({ total: TextOrNumber, ...maybe(Type.Boolean(), "valid") }));
const placed = Compile(Type.Object({ ...Order.properties, status: Type.Literal("completed") }));
// A bare array as the specification has it, or within an envelope as clients read it.
const listed = Compile(Type.Union([Type.Array(Row), Type.Object({ orders: Type.Array(Row) })]));
const Stock = Type.Object({ name: Type.String(), available: Type.Array(Type.Object({ remaining: Type.Integer() })) });
const stocked = Compile(Type.Object({ bundles: Type.Array(Stock) }));
const Esim = Type.Object({ iccid: Type.String({ pattern: "^\\d{18,22}$" }) });
const applied = Compile(Type.Object({ esims: Type.Tuple([Esim]), applyReference: Reference }));

const MOST_PAGES = 10;
/** An order may have been made so long before and after the moment that was noted (ms). */
const BEFORE_MS = 5_000;
const AFTER_MS = 900_000;

/** An order that was placed, with the eSIMs that it names. */
type Placed = ReturnType<typeof placedOf>;

function placedOf({ orderReference: reference, total, order }: Type.Static<typeof Order>) {
  return { reference, cost: costIn(total), iccids: order.flatMap(({ iccids }) => iccids ?? []) };
}

/** Buys one bundle, for the inventory or onto an eSIM: never to be repeated. */
export async function placeOrder(client: Client, ask: Ask | TopupAsk): Promise<Reply<Placed>> {
  return mapped(await order(client, ask, "transaction", placed), placedOf);
}

/** Asks for the price, which buys nothing; null: it costs no more than it should. */
export async function guardPrice(client: Client, ask: Ask | TopupAsk): Promise<Step | null> {
  if (ask.cost === null) return null;
  const reply = await order(client, ask, "validate", priced);
  if (reply.kind !== "done") return notBought(reply);
  const { total, valid } = reply.value;
  if (valid === false) return { kind: "refused", code: "invalid", message: "it cannot be ordered", because: "plan" };
  const cost = costIn(total);
  return cost === null ? notBought(otherForm) : dearer(ask.cost, cost);
}

/** The order of one bundle. No code says that the balance is too small for it: the balance itself does. */
async function order<T>(
  client: Client,
  ask: Ask | TopupAsk,
  type: "validate" | "transaction",
  shape: { Check(value: unknown): value is T },
): Promise<Reply<T>> {
  const iccids = "esim" in ask ? [ask.esim.iccid] : undefined;
  // With allowReassign a bundle that does not fit would go on a new eSIM.
  const line = { type: "bundle", item: ask.plan, quantity: 1, allowReassign: false, iccids };
  const body = { type, assign: "esim" in ask, order: [line] };
  const reply = await client({ method: "POST", path: "/orders", body }, shape);
  if (reply.kind !== "refused" || reply.code !== "400") return reply;
  const held = await accountBalance(client);
  const { cost } = ask;
  const isKnown = held.kind === "done" && cost !== null;
  const isPoor = isKnown ? held.value.balance < cost : /balance|funds|credit/i.test(reply.message);
  return { ...reply, because: isPoor ? "account" : "plan" };
}

/** Orders of one bundle of this type in the time after `since`, without those that are known as other purchases'. */
export async function ordersSince(
  client: Client,
  { plan, known }: Ask,
  { since, type }: { since: number; type: "bundle" | "bundleAssignment" },
): Promise<Reply<Placed[]>> {
  const [from, to] = [since - BEFORE_MS, since + AFTER_MS].map((edge) => new Date(edge).toISOString());
  const read = async (page: number) => {
    const query = new URLSearchParams({ includeIccids: "true", page: String(page), limit: "100" });
    for (const edge of [`gte:${from}`, `lte:${to}`]) query.append("createdAt", edge);
    const rows = await client({ method: "GET", path: `/orders?${query}` }, listed);
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

/** How many bundles of a plan the inventory has. */
export async function remainingOf(client: Client, plan: string): Promise<Reply<number>> {
  return mapped(await client({ method: "GET", path: "/inventory" }, stocked), ({ bundles }) => {
    const available = bundles.flatMap((one) => (one.name === plan ? one.available : []));
    return available.reduce((sum, { remaining }) => sum + remaining, 0);
  });
}

/** Puts a bundle of the inventory on a new eSIM, whose reference is that of the apply. */
export async function applyToNewEsim(client: Client, plan: string): Promise<Reply<EsimRef>> {
  const body = { name: plan, allowReassign: false };
  const reply = await client({ method: "POST", path: "/esims/apply", body }, applied);
  return mapped(reply, ({ esims: [{ iccid }], applyReference: reference }) => ({ iccid, reference }));
}

/** The eSIMs that this plan was put on from the inventory since then, and that no other purchase is known to have. */
export async function newEsimsSince(client: Client, ask: Ask, since: number): Promise<Reply<EsimRef[]>> {
  const rows = await ordersSince(client, ask, { since, type: "bundleAssignment" });
  if (rows.kind !== "done") return rows;
  const found: EsimRef[] = [];
  for (const { reference: listed, iccids } of rows.value) {
    const [iccid, ...others] = iccids;
    if (iccid === undefined || others.length > 0) continue;
    const on = await bundlesOn(client, iccid);
    if (on.kind !== "done") return on;
    const bundle = on.value.find(({ plan }) => plan === ask.plan);
    // The list may name an order of its own; the eSIM shows the apply.
    const reference = (bundle && referenceOf(bundle)) ?? listed;
    if ((await ask.known([reference])).size === 0) found.push({ iccid, reference });
  }
  return { ...rows, value: found };
}
