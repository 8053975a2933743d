import { type Actor, isOperator, recordAudit } from "../audit/record.ts";
import { soldProducts } from "../catalog/product.ts";
import { stockPools } from "../esims/stock.ts";
import { takeUnits } from "../esims/synthetic.ts";
import type { NewEvent } from "../events/catalog.ts";
import type { MinorUnits, OrderId, OrderLineId, ProductId } from "../kernel/brand.ts";
import { type Environment, environments } from "../kernel/environment.ts";
import { newId } from "../kernel/ids.ts";
import { minorUnits } from "../kernel/money.ts";
import { together } from "../kernel/together.ts";
import { feedNumbers } from "../outbox/feed-number.ts";
import { recordEvents } from "../outbox/record.ts";
import { subscribers } from "../outbox/subscribers.ts";
import { aheadOf } from "../platform/sandbox-clock.ts";
import { insert } from "../store/rows.ts";
import { type Lane, laneOfOrders } from "../store/schema/lanes.ts";
import type { OrderCustomer, OrderScenario, SandboxScenario } from "../store/schema/values.ts";
import { indexRecords, keysOfCustomer, sealedOrderCustomer } from "../store/sealing/people.ts";
import type { Prefetch, Tx } from "../store/store.ts";
import { drawnFor, type HeldWallet, heldWallets, walletIn } from "../wallet/held.ts";
import { postMovement } from "../wallet/post.ts";
import { type AskedOrder, assessFound, lookUpOrder } from "./assess.ts";
import { eventsOfFinishing } from "./finish.ts";
import { guardRails } from "./guard-rails.ts";
import { type KeyedRequest, keepKey, type OwnKey, orderToReplay, usedKeys } from "./idempotency.ts";
import { insertItems } from "./items.ts";
import {
  type LineRow,
  linesOfOrder,
  newNumber,
  type Order,
  type OrderRow,
  prefetchNumbers,
  requireOrder,
  toOrder,
} from "./order.ts";
import type { PricedOrder } from "./price-lines.ts";
import { deliverAtOnce, fulfilledLine, fulfilledOrder, type Taken, takeStock } from "./reserve.ts";
import { scenarioOf } from "./scenario.ts";
import { spendWithinCaps } from "./spend.ts";

/** An order as a partner places it, its shape checked. */
export interface NewOrder extends AskedOrder {
  key: { space: OwnKey["space"]; value: string };
  /** The hash of the whole payload as received, see kernel/canonical. */
  payloadHash: string;
  metadata: Record<string, unknown>;
  /** The partner's own id of a single order; a bulk order's is its key. */
  externalOrderId?: string | null;
  /** Only bulk orders have it. */
  customer: OrderCustomer | null;
  /** The outcome that a sandbox order asks for; null or left out: the normal one. */
  scenario?: SandboxScenario | null;
  /** The order is fulfilled as it is created up to this many units of stock; left out: `MAX_INSTANT_UNITS`. */
  unitsAtOnce?: number;
  /** Who places it; an operator does so in the partner's name, and the audit trail says so. */
  actor?: Actor;
}

/** An order, and whether this request created it. */
export interface CreatedOrder {
  order: Order & { wallet_balance_after_cents: number };
  /** True when the key was used before and this is its order as it is now. */
  replayed: boolean;
}

/**
 * Creates an order, charged to the wallet in the same transaction, or returns the one its key created before (contract:
 * POST /orders). Throws `idempotency_conflict`, what `assessOrder` throws, and `insufficient_balance`; a refusal leaves
 * the key free.
 */
export async function createOrder(tx: Tx, input: NewOrder): Promise<CreatedOrder> {
  const { partnerId: partner_id, environment, payloadHash } = input;
  const [key] = keyOf(input);
  const request = { key, payloadHash };
  const [replay, known, name, wallets] = await together(
    replayOf(tx, request),
    lookUpOrder(tx, input),
    nameOrder(tx, input),
    heldWallets.get(tx, partner_id),
  );
  if (replay !== null) return replay;
  const { priced, travelers, budget } = await assessFound(tx, input, known);
  const scenario = scenarioOf(input, priced);
  const { currency, total } = priced;
  refuseUnfunded(input, priced, wallets);
  // From here on nothing is refused: a refusal that has written makes its batch be made again (ADR 0002).
  if (budget !== null) await spendWithinCaps(tx, budget, { environment, currency, total });
  const [{ balanceAfter, transactionId }, taken] = await together(
    pay(tx, input, { ...name, priced, wallets }),
    takeStock(tx, input, priced),
  );
  const draft: Draft = { ...name, scenario, priced, balanceAfter, taken };
  const { order, lines } = await insertOrder(tx, input, draft);
  await insertItems(
    tx,
    order,
    lines.map((line, at) => ({
      line,
      travelers: travelers[at] ?? [],
      sourced: priced.lines[at]?.product.sourced === true,
    })),
  );
  await keepKey(tx, request, order.id);
  await recordPlacing(tx, input, order.id);
  // As it is placed, also where it is fulfilled next: what follows has events of its own.
  const placed = { ...toOrder(tx, order, lines), status: firstStatus(input.environment) };
  const events = [...eventsOfPlacing(placed, transactionId), ...(taken.atOnce ? eventsOfFinishing(order, lines) : [])];
  await recordEvents(tx, { partnerId: partner_id, environment, subjectId: order.id }, events);
  if (!taken.atOnce) tx.signal("fulfillment");
  return { order: { ...placed, wallet_balance_after_cents: balanceAfter }, replayed: false };
}

/** Its writes stay with its partner, but for stock; the sandbox counts its units over all partners. */
createOrder.lane = (input: NewOrder): Lane => laneOfOrders(input);
/** What is left out here, as by the sandbox, each order asks for by itself. */
createOrder.prefetch = [
  usedKeys.prefetch(keyOf),
  prefetchNumbers,
  soldProducts.prefetch(productsOf),
  // Callers may pass any text; only the ID of a product has a pool.
  stockPools.prefetch((order) => (order.environment === "production" ? (productsOf(order) as ProductId[]) : [])),
  guardRails.prefetch(({ credential, partnerId }) => (credential ? [{ credential, partnerId }] : [])),
  heldWallets.prefetch(({ partnerId }) => [partnerId]),
  ...environments.flatMap((environment) => {
    const partnersOf = (order: NewOrder) => (order.environment === environment ? [order.partnerId] : []);
    return [subscribers[environment].prefetch(partnersOf), feedNumbers[environment].prefetch(partnersOf)];
  }),
] satisfies Prefetch<NewOrder>[];

function keyOf({ partnerId: partner_id, environment, key }: NewOrder): [KeyedRequest["key"]] {
  return [{ partner_id, environment, space: key.space, key: key.value }];
}

function productsOf({ lines }: NewOrder): string[] {
  return lines.map(({ product_id }) => product_id);
}

/** The order itself says that its partner placed it, unless an operator did. */
async function recordPlacing(tx: Tx, { actor, partnerId }: NewOrder, targetId: OrderId): Promise<void> {
  if (actor === undefined || !isOperator(actor)) return;
  await recordAudit(tx, { actor, action: "orders.create", targetKind: "order", targetId, partnerId });
}

async function replayOf(tx: Tx, request: KeyedRequest): Promise<CreatedOrder | null> {
  const id = await orderToReplay(tx, request);
  if (id === null) return null;
  const row = await requireOrder(tx, id);
  const order = toOrder(tx, row, await linesOfOrder(tx, id));
  return { order: { ...order, wallet_balance_after_cents: row.wallet_balance_after_cents ?? 0 }, replayed: true };
}

interface Payment {
  balanceAfter: MinorUnits;
  /** The charge in the ledger; null in the sandbox, which charges nothing. */
  transactionId: string | null;
}

/** Throws `insufficient_balance`; the sandbox charges nothing. */
function refuseUnfunded({ environment }: NewOrder, { currency, total }: PricedOrder, wallets: HeldWallet[]): void {
  if (environment === "production") drawnFor({ currency, amount: total }, walletIn(wallets, currency));
}

type Bill = Pick<Draft, "id" | "order_number" | "priced"> & { wallets: HeldWallet[] };

async function pay(tx: Tx, { environment, partnerId }: NewOrder, bill: Bill): Promise<Payment> {
  const { id: orderId, order_number: reference, priced, wallets } = bill;
  const { currency, total } = priced;
  if (environment === "sandbox") {
    return { balanceAfter: minorUnits(walletIn(wallets, currency)?.balance_cents ?? 0), transactionId: null };
  }
  return postMovement(tx, { kind: "charge", partnerId, currency, amount: total, orderId, reference }, wallets);
}

interface Draft {
  id: OrderId;
  order_number: string;
  ahead_ms: number;
  scenario: OrderScenario | null;
  priced: PricedOrder;
  balanceAfter: MinorUnits;
  taken: Taken;
}

/** Writes the order and its lines, and hands over the eSIMs of one that is fulfilled at once. */
async function insertOrder(tx: Tx, input: NewOrder, draft: Draft): Promise<{ order: OrderRow; lines: LineRow[] }> {
  const { id, order_number, ahead_ms, scenario, priced, balanceAfter, taken } = draft;
  const created_at = tx.now + ahead_ms;
  const sandbox = input.environment === "sandbox";
  const placed: OrderRow = {
    id,
    order_number,
    partner_id: input.partnerId,
    environment: input.environment,
    status: firstStatus(input.environment),
    currency: priced.currency,
    total_cents: priced.total,
    refunded_cents: 0,
    quantity: priced.quantity,
    product_id: priced.lines[0].product.id,
    product_sku: priced.lines[0].product.sku,
    unit_price_cents: priced.lines[0].price.unit_price_cents,
    metadata: sandbox ? { ...input.metadata, test: true } : input.metadata,
    wallet_balance_after_cents: balanceAfter,
    customer_sealed: input.customer === null ? null : sealedOrderCustomer.seal(tx, id, input.customer),
    ...originOf(tx, input),
    external_order_id: input.key.space === "bulk" ? input.key.value : (input.externalOrderId ?? null),
    created_at,
    updated_at: created_at,
    ahead_ms,
    scenario,
    fulfilled_at: null,
    cancelled_at: null,
    reason: null,
    due_at: tx.now,
    leased_until: null,
    lease_no: 0,
    reserved: taken.reserved,
    first_unit: sandbox ? await takeUnits(tx, priced.quantity) : null,
    version: 0,
  };
  const order = taken.atOnce ? fulfilledOrder(placed) : placed;
  await insert(tx, "orders", [order]);
  await indexCustomer(tx, order, input.customer);
  const lines = linesOf(tx, order, { priced, taken });
  if (taken.atOnce) await deliverAtOnce(tx, order, lines);
  await insert(tx, "orderLines", lines);
  return { order, lines };
}

type Goods = Pick<Draft, "priced" | "taken">;

function linesOf(tx: Tx, order: OrderRow, { priced, taken }: Goods): LineRow[] {
  return priced.lines.map(({ product, price, quantity }, position) => {
    const pending: LineRow = {
      id: newId<OrderLineId>(tx),
      order_id: order.id,
      partner_id: order.partner_id,
      environment: order.environment,
      created_at: order.created_at,
      position,
      product_id: product.id,
      product_name: product.name,
      product_sku: product.sku,
      product_type: product.product_type,
      delivery_method: product.delivery_method,
      supplier: product.supplier,
      quantity,
      ...price,
      status: "pending",
      assigned: 0,
      shipping: null,
      refunded_cents: 0,
    };
    return taken.atOnce ? fulfilledLine(pending) : pending;
  });
}

/** By which HTTP request, and by whom, an order is placed. */
function originOf(tx: Tx, { actor = null }: { actor?: Actor | null }): Pick<OrderRow, "request_id" | "created_by"> {
  return { request_id: tx.requestId, created_by: actor };
}

async function indexCustomer(tx: Tx, order: OrderRow, customer: OrderCustomer | null): Promise<void> {
  if (customer === null) return;
  const record = { kind: "order", id: order.id } as const;
  await indexRecords(tx, [{ scope: order, record, keys: keysOfCustomer(customer) }]);
}

/** The sandbox charges nothing: its orders are not paid. */
function firstStatus(environment: Environment): "pending_payment" | "paid" {
  return environment === "sandbox" ? "pending_payment" : "paid";
}

/** What names an order, and when its sandbox clock created it. */
type Name = Pick<Draft, "id" | "order_number" | "ahead_ms">;

async function nameOrder(tx: Tx, input: NewOrder): Promise<Name> {
  const ahead_ms = await aheadOf(tx, input);
  return { id: newId<OrderId>(tx), order_number: await newNumber(tx, tx.now + ahead_ms), ahead_ms };
}

/** An order as it is placed. */
type Placed = Order & { status: ReturnType<typeof firstStatus> };

function eventsOfPlacing(order: Placed, transaction_id: string | null): NewEvent[] {
  const { id, order_number, external_order_id, partner_id, status } = order;
  const { total_price_cents, currency, line_items, created_at } = order;
  const price = { total_price_cents, currency, line_items };
  const data = { id, order_number, external_order_id, partner_id, status, ...price, created_at };
  const created: NewEvent = { kind: "order.created", data };
  if (transaction_id === null) return [created];
  const payment = { payment_method: "wallet", transaction_id, completed_at: created_at } as const;
  const paid = { order_id: id, order_number, external_order_id, amount_cents: total_price_cents, currency, ...payment };
  return [created, { kind: "payment.completed", data: paid }];
}
