import { and, count, eq, gt, gte, lte, min, or, sql } from "drizzle-orm";
import { type WaitingColumns, waitingOfActivations } from "../activations/waiting-of-activations.ts";
import { type OpenRefund, openRefunds } from "../after-sale/settle.ts";
import { type HeldProduct, heldProducts } from "../catalog/held-products.ts";
import { stockLevels } from "../esims/stock.ts";
import type { PartnerId } from "../kernel/brand.ts";
import { isoTime, isoTimeOrNull } from "../kernel/clock.ts";
import type { Waiting } from "../kernel/waiting.ts";
import { heldOrders } from "../orders/queue.ts";
import { heldUpMs } from "../platform/blocked-writes.ts";
import { currentOutages, type Outage } from "../platform/outages.ts";
import { currentPauses, type Pause } from "../platform/pauses.ts";
import { type ServingState, servingState } from "../platform/serving.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Store } from "../store/store.ts";
import { type Circuit, circuits } from "../supply/circuit.ts";
import { availableOf } from "../wallet/spendable.ts";
import { type CronRun, lastCronRuns } from "./cron-runs.ts";
import { type Queue, queueDepths } from "./queues.ts";
import { type Rates, recentRates } from "./rates.ts";

/** An endpoint that fails for over 5 minutes, exhausted a delivery, or was stopped because it did too often. */
export interface FailingEndpoint {
  id: string;
  partner: string;
  url: string;
  status: string;
  consecutive_failures: number;
  /** The first of the attempts in a row that failed, and how many there were. */
  failing_since: string | null;
  failed_attempts: number;
  last_status_code: number | null;
  last_at: string | null;
}

/** A wallet that holds less, its credit line included, than its partner was charged in the last seven days. */
export interface LowWallet {
  partner: string;
  currency: string;
  balance_cents: number;
  charged_7d_cents: number;
}

/** The platform at a glance. */
export interface PlatformStatus extends Rates {
  at: string;
  serving: ServingState;
  /** Suppliers and carriers with whom the last exchange failed. */
  outages: Outage[];
  /** Whether each supplier is asked for more. */
  suppliers: Circuit[];
  /** What new orders are refused for: all orders, and suppliers. */
  paused: Pause[];
  queues: Queue[];
  /** What waits for people, by the act that ends it; the longest waiting first. */
  waiting: WaitingFor[];
  /** The last run of each job that the daemon runs by the clock; one that never ran is left out. */
  cron_runs: CronRun[];
  failing_endpoints: FailingEndpoint[];
  low_stock: { sku: string; available: number }[];
  low_wallets: LowWallet[];
  /** Products that a sync took off sale for their margin, until the operator decides. */
  held_products: HeldProduct[];
  /** Refunds of eSIMs that people at suppliers decide. */
  open_refunds: OpenRefund[];
}

/** The platform at a glance, with what its database says of the moment. */
export interface CurrentStatus extends PlatformStatus {
  /** For how long (ms) another session has held up all writes while it does nothing; null: none, or not for 2 s yet. */
  writes_held_ms: number | null;
}

/** eSIMs of a product below which its stock is low. */
const LOW_STOCK = 10;
const WEEK_MS = 7 * 86_400_000;

const failing = statement((db, t, slot: Slots<{ before: number }>) =>
  db
    .select({ endpoint: t.webhookEndpoints, partner: t.partners.slug })
    .from(t.webhookEndpoints)
    .innerJoin(t.partners, eq(t.partners.id, t.webhookEndpoints.partner_id))
    .where(
      or(
        eq(t.webhookEndpoints.status, "failed"),
        gte(t.webhookEndpoints.consecutive_failures, 1),
        lte(t.webhookEndpoints.failing_since, slot.before),
      ),
    )
    .orderBy(t.webhookEndpoints.id),
);

const wallets = statement((db, t, _slot) =>
  db
    .select({ wallet: t.wallets, partner: t.partners.slug })
    .from(t.wallets)
    .innerJoin(t.partners, eq(t.partners.id, t.wallets.partner_id))
    .orderBy(t.wallets.partner_id, t.wallets.currency),
);

type Charges = { partner_id: PartnerId; currency: string; from: number };

const charged = statement((db, t, slot: Slots<Charges>) =>
  db
    .select({ cents: sql`coalesce(sum(${t.ledgerTransactions.amount_cents}), 0)`.mapWith(Number) })
    .from(t.ledgerTransactions)
    .where(
      and(
        eq(t.ledgerTransactions.partner_id, slot.partner_id),
        gte(t.ledgerTransactions.created_at, slot.from),
        eq(t.ledgerTransactions.currency, slot.currency),
        eq(t.ledgerTransactions.kind, "charge"),
      ),
    ),
);

/** What is going on, on one snapshot: rates of the last hour, queues, and what needs attention. */
export async function platformStatus(q: Read): Promise<PlatformStatus> {
  const stock = await stockLevels(q, { below: LOW_STOCK });
  const queues = await queueDepths(q);
  return {
    at: isoTime(q.now),
    serving: await servingState(q),
    outages: await currentOutages(q),
    suppliers: await circuits(q),
    paused: await currentPauses(q),
    ...(await recentRates(q)),
    queues,
    waiting: await waitingForPeople(q, queues),
    cron_runs: await lastCronRuns(q),
    failing_endpoints: await failingEndpoints(q),
    low_stock: stock.map(({ sku, available }) => ({ sku, available })),
    low_wallets: await lowWallets(q),
    held_products: await heldProducts(q),
    open_refunds: await openRefunds(q),
  };
}

/** The same, and whether writes are held up at this moment, as /readyz and `doctor` report it. */
export async function currentStatus(store: Pick<Store, "read" | "ping">): Promise<CurrentStatus> {
  const seen = await store.read(platformStatus, null);
  return { ...seen, writes_held_ms: heldUpMs(await store.ping()) };
}

/** Every endpoint that fails for over 5 minutes, exhausted a delivery, or was stopped. */
export async function failingEndpoints(q: Read): Promise<FailingEndpoint[]> {
  return (await failing(q, { before: q.now - FAILING_AFTER_MS })).map(toFailing);
}

function toFailing({ endpoint, partner }: Awaited<ReturnType<typeof failing>>[number]): FailingEndpoint {
  const { id, url, status, consecutive_failures, failed_attempts, last_status_code } = endpoint;
  const failing_since = isoTimeOrNull(endpoint.failing_since);
  const last_at = isoTimeOrNull(endpoint.last_at);
  const counts = { consecutive_failures, failing_since, failed_attempts };
  return { id, partner, url, status, ...counts, last_status_code, last_at };
}

async function lowWallets(q: Read): Promise<LowWallet[]> {
  const low: LowWallet[] = [];
  for (const { wallet, partner } of await wallets(q, {})) {
    const { partner_id, currency, balance_cents } = wallet;
    const charged_7d_cents = first(await charged(q, { partner_id, currency, from: q.now - WEEK_MS }))?.cents ?? 0;
    const spendable_cents = balance_cents + (availableOf(wallet) ?? 0);
    if (spendable_cents < charged_7d_cents) low.push({ partner, currency, balance_cents, charged_7d_cents });
  }
  return low;
}

/** An endpoint whose attempts have failed for longer than this (ms) is failing: shorter, a retry may still arrive. */
const FAILING_AFTER_MS = 5 * 60_000;

/** How many orders, requests or passports wait for the same act of the same person. */
interface WaitingFor extends Waiting {
  waiting: number;
}

const idle = sql<number>`case when due_at is null and deadline_at is null then 1 else 0 end`.mapWith(Number);

const inQueue = statement((db, t, _slot) =>
  db
    .select({
      status: t.activations.status,
      processing_status: t.activations.processing_status,
      carrier_prefix: t.activations.carrier_prefix,
      idle,
      waiting: count(),
      queued_at: min(t.activations.queued_at),
      updated_at: min(t.activations.updated_at),
    })
    .from(t.activations)
    .where(gt(t.activations.queued_at, 0))
    .groupBy(t.activations.status, t.activations.processing_status, t.activations.carrier_prefix, idle),
);

const PAGE = 200;

/**
 * What waits for people, of all partners, by what ends it: as lists and `show` say it of each. `queues` are those of
 * the same snapshot. The longest waiting first.
 */
async function waitingForPeople(q: Read, queues: readonly Queue[]): Promise<WaitingFor[]> {
  const sums = new Map<string, WaitingFor>();
  const add = (one: Waiting | null, waiting: number) => {
    if (one === null || waiting === 0) return;
    const key = `${one.for} ${one.act} ${one.on}`;
    const known = sums.get(key) ?? { ...one, waiting: 0 };
    const since = known.since < one.since ? known.since : one.since;
    sums.set(key, { ...known, since, waiting: known.waiting + waiting });
  };
  for (const one of await waitingOrders(q)) add(one, 1);
  for (const [queue, act, on] of [
    ["orders_to_ship", "ship", "shipping"],
    ["passports_unverified", "verify", "passport"],
    ["funding_requests", "credit", "payment"],
    ["products_held", "update", "margin"],
  ] as const) {
    const found = queues.find((one) => one.queue === queue);
    if (found?.oldest_at) add({ for: "operator", act, on, since: found.oldest_at }, found.waiting);
  }
  const waitingOf = await waitingOfActivations(q);
  for (const group of await inQueue(q, {})) add(waitingOf(columnsOf(group)), group.waiting);
  return [...sums.values()].sort((a, b) => (a.since < b.since ? -1 : 1));
}

async function waitingOrders(q: Read): Promise<Waiting[]> {
  const found: Waiting[] = [];
  let after: Awaited<ReturnType<typeof heldOrders>>["next"] | undefined;
  while (after !== null) {
    const { data, next } = await heldOrders(q, { limit: PAGE, ...(after === undefined ? {} : { after }) });
    // SIM cards of a held order are counted with all that are to be shipped.
    found.push(...data.flatMap(({ waiting }) => (waiting === null || waiting.on === "shipping" ? [] : [waiting])));
    after = next;
  }
  return found;
}

type Group = Awaited<ReturnType<typeof inQueue>>[number];

function columnsOf({ idle: isIdle, updated_at, ...group }: Group): WaitingColumns {
  const at = isIdle === 1 ? null : 0;
  return { ...group, updated_at: updated_at ?? 0, due_at: at, deadline_at: at };
}
