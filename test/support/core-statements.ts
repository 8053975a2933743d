import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import type { Tables } from "../../src/core/store/schema/tables.ts";
import type { Slots } from "../../src/core/store/statement.ts";
import type { Db, Dialect, Read } from "../../src/core/store/store.ts";
import type { Statement } from "./query-plans.ts";
import { root } from "./sources.ts";

type Build = (db: Db, t: Tables, slot: Slots<Record<string, unknown>>, dialect: Dialect) => Buildable;
interface Buildable {
  toSQL(): { sql: string; params: unknown[] };
}
type StatementModule = typeof import("../../src/core/store/statement.ts");

/** Each call of `statement` by core, with the line that made it, once `recorded` is in its place. */
export const made: { stack: string; build: Build }[] = [];

/** The module of `statement` with every call of it noted in `made`, for a mock. It stays what it is. */
export function recorded(real: StatementModule) {
  const statement = (build: Build) => {
    made.push({ stack: String(new Error().stack), build });
    // It accepts builders of any result; this one is passed on unchanged.
    return real.statement(build as never);
  };
  return { ...real, statement };
}

/** Where core is. */
export const core = join(root, "src/core");

/** The files of core, relative to its folder. */
export const coreFiles = readdirSync(core, { recursive: true, encoding: "utf8" })
  .map((name) => name.replaceAll("\\", "/"))
  // A thread's own program runs when it is imported.
  .filter((name) => name.endsWith(".ts") && !name.startsWith("store/migrations/") && !name.endsWith("-thread.ts"));

/** Loads all of core. */
export async function importCore(): Promise<void> {
  for (const name of coreFiles) await import(join(core, name));
}

/** What an engine gets to prepare. */
export function statementOf({ db, t, dialect }: Pick<Read, "db" | "t" | "dialect">, build: Build): Statement {
  // Answers every key with its placeholder, as statement() itself does.
  const slots = new Proxy({}, { get: (_, key) => sql.placeholder(String(key)) }) as Parameters<Build>[2];
  const { sql: text, params } = build(db, t, slots, dialect).toSQL();
  return { sql: text, parameters: params.length };
}

/** `file name`: the constant, member or function around a statement, from the line that made it. */
export function nameOf(stack: string): string {
  const [, path, line] = /(src\/core\/[\w/-]+\.ts):(\d+)/.exec(stack) ?? [];
  if (path === undefined) throw new Error(`a statement of nowhere: ${stack}`);
  const before = readFileSync(join(root, path), "utf8").split("\n").slice(0, Number(line)).reverse();
  const name = /(?:const|function) (\w+)|^\s+(\w+): statement\(/;
  const found = before.map((text) => name.exec(text)).find((match) => match !== null);
  return `${path} ${found?.[1] ?? found?.[2] ?? line}`;
}

/** Statements that read or sort beyond an index, each with the reason why that is acceptable. */
export const wholeReads: Record<string, string> = {
  "src/core/accounts/sessions.ts endEvery": "ends all sessions, as a backup is restored",
  "src/core/orders/by-day.ts perDay":
    "sums a month of one partner, the newest 20,000 orders at most, found by an index",
  "src/core/accounts/list-users.ts staff": "reads every user: a few people",
  "src/core/accounts/list-users.ts atPartners": "reads every user: a few people",
  "src/core/accounts/last-admin.ts staffIn": "reads the users, who are few, when one of the staff loses access",
  "src/core/alerts/conditions.ts lowStock": "reads the products whose stock is watched, by the index of just them",
  "src/core/alerts/conditions.ts watchedWallets": "reads the wallets of partners with a threshold, every ten seconds",
  "src/core/alerts/settle.ts raisedNow": "reads what is raised, by the index of just that",
  "src/core/alerts/settle.ts all": "reads the targets: a few rows",
  "src/core/alerts/targets.ts all": "reads the targets: a few rows",
  "src/core/catalog/inventory.ts all": "answers the whole catalog, which the operator keeps",
  "src/core/catalog/price-changes.ts prices": "compares an import with the whole catalog, which the operator keeps",
  "src/core/catalog/inventory.ts ofRegion": "answers a region of the catalog in the order of skus",
  "src/core/esims/stock.ts levels": "answers the whole catalog, which the operator keeps",
  "src/core/esims/expiring.ts ownDays": "reads the partners whose days the operator set, once a minute",
  "src/core/outbox/fan-out.ts waiting": "counts what an index has found, at most as many as may wait",
  "src/core/orders/idempotency.ts keysUsed": "reads the list of keys that it is given, and finds each by its index",
  "src/core/orders/idempotency.ts booked": "looks at one key of each partner",
  "src/core/orders/waiting-of-order.ts groups": "groups the items of one order by line and status",
  "src/core/evidence/register.ts latest": "reads every chain's last signature, as verifying reads them all",
  "src/core/orders/check-money.ts wrongOrders": "an audit compares every order with the ledger",
  "src/core/orders/check-money.ts withoutOrder": "an audit looks at every transaction",
  "src/core/orders/check-money.ts counted": "an audit reads what each credential with a cap has spent",
  "src/core/insight/status.ts inQueue": "groups the requests in the queue, by the index of just them",
  "src/core/partners/partner.ts all": "answers all partners, in the order of their slugs",
  "src/core/partners/credit-line.ts lines": "looks at every wallet, asked for by the operator",
  "src/core/orders/spend.ts today": "groups the orders of one day by currency, when a cap is set",
  "src/core/orders/spend.ts topupsToday": "groups the top-ups of one day by currency, when a cap is set",
  "src/core/supply/hold.ts release": "reads what is held: as many rows as purchases are under way, in most cases none",
  "src/core/after-sale/settle.ts requested": "reads what was asked of suppliers after sales: a row for each refund",
  "src/core/after-sale/settle.ts counted": "counts what was asked of suppliers after sales: a row for each refund",
  "src/core/orders/check-money.ts wrongTopups": "an audit compares every top-up with the ledger",
  "src/core/insight/queues.ts topupsStuck": "counts what is paid and not ended, by the index of just that",
  "src/core/orders/guard-rails.ts ofCredentials":
    "reads the list of ids that it is given, and what is paused: a few rows, in most installations none",
  "src/core/orders/guard-rails.ts ofPartner": "reads what is paused: a few rows, in most installations none",
  "src/core/prices/delete-list.ts dropList": "looks for rules that are left, once the operator deletes a list",
  "src/core/prices/lists.ts all": "answers every list, asked for by the operator",
  "src/core/prices/lists.ts having": "reads the partners that have a list, asked for by the operator",
  "src/core/prices/lists.ts ruleCounts": "counts the rules of every list, asked for by the operator",
  "src/core/prices/products.ts all": "answers the whole catalog, which the operator keeps",
  "src/core/prices/rates.ts all": "answers every rate, which the operator sets by hand",
  "src/core/prices/rules.ts withPrice": "reads the lists, which are few, when a product changes its currency",
  "src/core/platform/pauses.ts all": "reads what is paused: a few rows, in most installations none",
  "src/core/wallet/check.ts credits": "an audit of every wallet, asked for by the operator",
  "src/core/wallet/check.ts drawn": "an audit adds up every draw and repayment",
  "src/core/wallet/check.ts afterwards": "an audit adds up every chain",
  "src/core/wallet/balances.ts ofAll": "looks at every wallet, asked for by the operator",
  "src/core/wallet/check.ts wallets": "an audit of every wallet, asked for by the operator",
  "src/core/wallet/check.ts sums": "an audit adds up every posting",
  "src/core/wallet/check.ts unbalancedRows": "an audit looks at every transaction",
  "src/core/maintenance/verify-backup.ts tally": "counts the rows of a table: the operator asked how many there are",
  "src/core/supply/costs.ts owed": "sums what was bought in a month, found by an index",
  "src/core/supply/sync-survey.ts allSources": "a sync compares a supplier's plans with the whole catalog",
  "src/core/supply/sync-survey.ts allSkus": "a sync compares a supplier's plans with the whole catalog",
  "src/core/maintenance/state-checks.ts deliveries": "reads the index of what waits, and nothing else",
  "src/core/feed/last-numbers.ts ofPartners": "reads the list of ids that it is given",
  "src/core/webhooks/due.ts eventsOf": "reads the list of ids that it is given",
  "src/core/webhooks/look-again.ts setDue": "reads the list of ids that it is given",
  "src/core/webhooks/outcome.ts settleAll": "reads the list of leases that it is given",
  "src/core/webhooks/webhook.ts ofIds": "reads the list of ids that it is given",
  "src/core/webhooks/webhook.ts pendingOf": "reads the list of ids that it is given",
  "src/core/passports/import.ts ofDocuments": "reads the list of documents that it is given",
  "src/core/webhooks/failed-deliveries.ts failedOf": "looks at every endpoint once, asked for by the operator's staff",
  "src/core/webhooks/redeliver.ts againFrom": "reads the list of kinds that it is given",
  "src/core/outbox/fan-out.ts lookNow": "reads the list of ids that it is given",
  "src/core/outbox/feed-number.ts raiseAll": "reads the list of feeds that it is given",
  "src/core/catalog/product.ts soldOf": "reads the list of ids that it is given",
  "src/core/esims/stock.ts freeOf": "reads the list of ids that it is given",
  "src/core/esims/stock.ts takeEach": "reads the list of ids that it is given",
  "src/core/orders/order.ts takenNumbers": "reads the list of numbers that it is given",
  "src/core/outbox/subscribers.ts endpointsOfEach":
    "reads the list of ids that it is given, and sorts their few endpoints",
  "src/core/outbox/feed-number.ts lastNumbers": "reads the list of ids that it is given",
  "src/core/wallet/held.ts ofPartners": "reads the list of ids that it is given",
  "src/core/outbox/record.ts endpointsOfAll": "reads the list of ids that it is given",
  "src/core/catalog/announce.ts feedsAfter": "merges two lists, each of at most the rows that it is asked for",
  "src/core/sandbox/settle.ts clocksToSettle": "looks at every advanced clock, each second",
  "src/core/store/sealing/chain.ts auditHeads": "an audit of every chain; the signing looks at every head once an hour",
  "src/core/store/sealing/chain.ts walletHeads":
    "an audit of every chain; the signing looks at every head once an hour",
  "src/core/store/sealing/chain.ts anySignature": "asks whether the table holds any row",
  "src/core/evidence/verify.ts audit": "an audit counts every row",
  "src/core/evidence/verify.ts ledger": "an audit counts every row",
  "src/core/evidence/verify.ts postings": "an audit counts every row",
  "src/core/evidence/verify.ts signatures": "an audit counts every row",
  "src/core/insight/rates.ts orders": "groups one hour's orders by their minutes",
  "src/core/insight/rates.ts tries": "groups one hour's tries by their minutes",
  "src/core/insight/queues.ts ordersToShip": "counts the orders to ship, by the index of just their lines",
  "src/core/insight/queues.ts deliveriesPending": "counts what waits, by the index of just that",
  "src/core/insight/queues.ts deliveriesHeld": "counts what is held, by the index of just that",
  "src/core/insight/queues.ts funding": "counts what is announced, by the index of just that",
  "src/core/insight/status.ts failing": "answers the endpoints that fail, of all there are",
  "src/core/insight/status.ts wallets": "looks at every wallet, asked for by the operator",
  "src/core/maintenance/data-checks.ts pools": "an audit compares every stock counter",
  "src/core/maintenance/data-checks.ts unassigned": "an audit counts every eSIM in stock",
  "src/core/maintenance/data-checks.ts reserved": "an audit adds up what orders on their way hold",
  "src/core/store/sealing/data-keys.ts storedSecrets": "reads every credential once, when a database is converted",
  "src/core/store/sealing/named-records.ts kindsOlder": "reads the list of digests that it is given",
  "src/core/store/sealing/named-records.ts under":
    "reads the list of digests that it is given, and sorts what is under them",
  "src/core/store/sealing/people.ts partners": "answers all partners",
  "src/core/esims/list-all.ts listed": "reads the eSIMs of the orders that its list of digests leads to",
  "src/core/orders/list.ts linesOfIds": "reads the list of ids that it is given",
  "src/core/orders/list-all.ts listed": "reads the list of digests that it is given",
  "src/core/activations/list-all.ts listed": "reads the list of digests that it is given",
  "src/core/store/sealing/reseal.ts under": "asked once when a key is retired: is anything left under it",
  "src/core/passports/operator-view.ts byNumber": "sorts the few records of one number",
  "src/core/passports/operator-view.ts usesOf": "sorts the few uses of one passport",
  "src/core/webhooks/trigger.ts deliveriesOf": "sorts the deliveries of one event, at most one an endpoint",
};
