import { and, asc, eq, isNotNull, isNull, lt, lte, ne, sql } from "drizzle-orm";
import { heldProducts } from "../catalog/held-products.ts";
import { type CronRun, lastCronRuns } from "../insight/cron-runs.ts";
import { failingEndpoints } from "../insight/status.ts";
import { formatMoney } from "../kernel/money.ts";
import { notFulfilled } from "../orders/order.ts";
import { currentOutages } from "../platform/outages.ts";
import type { AlertKind, CronJob } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { storedValue, storeValue } from "../store/stored-value.ts";
import { lowBalances } from "../supply/balance.ts";
import { circuits } from "../supply/circuit.ts";

/** Something that is wrong now. */
export interface Condition {
  kind: AlertKind;
  /** A SKU, a partner with a currency, an order number, an endpoint, a supplier, a carrier's prefix, a job, a host. */
  subject: string;
  /** What is wrong, in words that hold no identity data and no secret. */
  detail: string;
}

/** What a node sees of itself, and may decide. */
export interface NodeView {
  /** Its host: the subject of what it sees of itself. */
  host: string;
  /** What is wrong with its disk or clock. */
  own: readonly Condition[];
  /** Whether it has served for long enough to say that jobs of the calendar were missed. */
  knowsCron: boolean;
}

/** Kinds that each node decides for its own host. */
export const ownKinds: readonly AlertKind[] = ["disk.low", "clock.off"];

const lowStock = statement((db, t, _slot) =>
  db
    .select({ sku: t.products.sku, available: t.stockPools.available, below: t.products.low_stock })
    .from(t.products)
    .innerJoin(t.stockPools, eq(t.stockPools.product_id, t.products.id))
    .where(
      and(
        // As the partial index has it.
        sql`low_stock is not null`,
        lt(t.stockPools.available, t.products.low_stock),
        ne(t.products.status, "inactive"),
      ),
    )
    .orderBy(asc(t.products.sku)),
);

const watchedWallets = statement((db, t, _slot) =>
  db
    .select({
      partner: t.partners.slug,
      thresholds: t.partners.low_wallet,
      currency: t.wallets.currency,
      balance_cents: t.wallets.balance_cents,
    })
    .from(t.wallets)
    .innerJoin(t.partners, eq(t.partners.id, t.wallets.partner_id))
    .where(isNotNull(t.partners.low_wallet))
    .orderBy(asc(t.wallets.partner_id), asc(t.wallets.currency)),
);

/** Most orders that are alerted of at a time: the oldest. */
const MOST_ORDERS = 1_000;

/** Most products held that are alerted of at a time: the longest held. */
const MOST_PRODUCTS = 1_000;

const inReview = statement((db, t, slot: Slots<{ before: number; limit: number }>) =>
  db
    .select({ number: t.orders.order_number, partner: t.partners.slug, reason: t.orders.reason })
    .from(t.orders)
    .innerJoin(t.partners, eq(t.partners.id, t.orders.partner_id))
    .where(
      and(
        eq(t.orders.status, "waiting_review"),
        notFulfilled(t),
        eq(t.orders.environment, "production"),
        // Approved, and being delivered: it waits for no one.
        isNull(t.orders.due_at),
        // Nothing of an order changes while it waits in review.
        lte(t.orders.updated_at, slot.before),
      ),
    )
    .orderBy(asc(t.orders.created_at), asc(t.orders.id))
    .limit(slot.limit),
);

/** How long an outage lasts before it is alerted of (ms): a single fault is retried soon. */
const OUT_FOR_MS = 30_000;

/** How long ago the last run of a job is at most (ms); those of an hour are allowed to miss one. */
const LONGEST_REST_MS: Readonly<Record<CronJob, number>> = {
  activation_calendar: 10 * 60_000,
  esim_expiry: 10 * 60_000,
  esim_notices: 10 * 60_000,
  head_signing: 3 * 3_600_000,
  passport_notices: 3 * 3_600_000,
  sandbox_retention: 3 * 3_600_000,
  webhook_retention: 3 * 3_600_000,
};

const REVIEW_KEY = "alert_review_minutes";
const REVIEW_MINUTES = 30;

/** Minutes that an order may wait in review before it is alerted of. */
export async function reviewMinutes(q: Read): Promise<number> {
  return Number((await storedValue(q, REVIEW_KEY)) ?? REVIEW_MINUTES);
}

/** Sets them. */
export async function setReviewMinutes(tx: Tx, minutes: number): Promise<void> {
  await storeValue(tx, REVIEW_KEY, String(minutes));
}

/** All that is wrong now, as far as a node may decide it. */
export async function currentConditions(q: Read, view: NodeView): Promise<Condition[]> {
  return [
    ...(await ofStock(q)),
    ...(await ofHeld(q)),
    ...(await ofWallets(q)),
    ...(await ofReview(q)),
    ...(await ofEndpoints(q)),
    ...(await ofSuppliers(q)),
    ...(await ofBalances(q)),
    ...(view.knowsCron ? await ofCron(q) : []),
    ...view.own,
  ];
}

async function ofStock(q: Read): Promise<Condition[]> {
  return (await lowStock(q, {})).map(({ sku, available, below }) => {
    return { kind: "stock.low", subject: sku, detail: `${available} in stock, fewer than ${below}` };
  });
}

async function ofHeld(q: Read): Promise<Condition[]> {
  return (await heldProducts(q)).slice(0, MOST_PRODUCTS).map(({ sku, price_cents, currency, ...one }) => {
    const price = `${formatMoney(price_cents, currency)} ${currency}`;
    const detail = `off sale: at ${price} it sells below its cost of ${one.cost} ${one.cost_currency}`;
    return { kind: "product.held", subject: sku, detail };
  });
}

async function ofWallets(q: Read): Promise<Condition[]> {
  return (await watchedWallets(q, {})).flatMap(({ partner, thresholds, currency, balance_cents }): Condition[] => {
    const least = thresholds?.[currency];
    if (least === undefined || balance_cents >= least) return [];
    const detail = `${formatMoney(balance_cents, currency)}, less than ${formatMoney(least, currency)}`;
    return [{ kind: "wallet.low", subject: `${partner} ${currency}`, detail }];
  });
}

async function ofReview(q: Read): Promise<Condition[]> {
  const minutes = await reviewMinutes(q);
  const rows = await inReview(q, { before: q.now - minutes * 60_000, limit: MOST_ORDERS });
  return rows.map(({ number, partner, reason }) => {
    const why = reason === null ? "" : `: ${reason}`;
    return { kind: "order.review", subject: number, detail: `${partner}: in review for over ${minutes} minutes${why}` };
  });
}

async function ofEndpoints(q: Read): Promise<Condition[]> {
  return (await failingEndpoints(q)).map(({ id, partner, url, failing_since, last_status_code }) => {
    const last = last_status_code === null ? "no response" : `status ${last_status_code}`;
    const since = failing_since === null ? "stopped" : `fails since ${failing_since}`;
    // The path may carry a token.
    return { kind: "webhook.failing", subject: id, detail: `${partner}: ${new URL(url).host} ${since}, last ${last}` };
  });
}

/** Suppliers and carriers that cannot be reached, and suppliers of which nothing can be bought though they answer. */
async function ofSuppliers(q: Read): Promise<Condition[]> {
  const long = (since: string) => Date.parse(since) <= q.now - OUT_FOR_MS;
  const out = (await currentOutages(q)).filter(({ since }) => long(since));
  const failing = out.map(({ kind, name, since, failures, last_error }): Condition => {
    return { kind: `${kind}.failing`, subject: name, detail: `fails since ${since}, ${failures} times: ${last_error}` };
  });
  const low = new Set((await lowBalances(q)).map(({ supplier }) => supplier));
  const named = new Set(out.flatMap(({ kind, name }) => (kind === "supplier" ? name : [])));
  const open = (await circuits(q)).flatMap(({ name, circuit, since, reason }): Condition[] => {
    if (circuit === "closed" || since === null || !long(since) || named.has(name) || low.has(name)) return [];
    return [{ kind: "supplier.failing", subject: name, detail: `nothing is bought there since ${since}: ${reason}` }];
  });
  return [...failing, ...open];
}

async function ofBalances(q: Read): Promise<Condition[]> {
  return (await lowBalances(q)).map(({ supplier, detail }) => ({ kind: "supplier.low", subject: supplier, detail }));
}

async function ofCron(q: Read): Promise<Condition[]> {
  return (await lastCronRuns(q)).flatMap((run): Condition[] => {
    const detail = missedWords(run, q.now);
    return detail === null ? [] : [{ kind: "cron.missed", subject: run.job, detail }];
  });
}

function missedWords({ job, started_at, failing_since, error }: CronRun, now: number): string | null {
  const longest = LONGEST_REST_MS[job];
  if (Date.parse(started_at) < now - longest) return `last run at ${started_at}`;
  const isFailing = failing_since !== null && Date.parse(failing_since) < now - longest;
  return isFailing ? `breaks off since ${failing_since}: ${error}` : null;
}
