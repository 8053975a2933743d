import { and, count, eq, inArray, isNull, sql } from "drizzle-orm";
import { counted } from "../kernel/counted.ts";
import { checkOrderMoney, checkSpending, checkTopupMoney } from "../orders/check-money.ts";
import { notFulfilled } from "../orders/order.ts";
import { statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { checkBalancesAfter, checkCredit, checkWallets } from "../wallet/check.ts";
import { type Finding, fault, fine, named } from "./finding.ts";

/** Whether every balance is the sum of its postings, and every transaction sums to zero. */
export async function checkLedger(q: Read): Promise<Finding> {
  const { ok, wallets, unbalanced } = await checkWallets(q, { minimum: () => null });
  if (ok) return fine("ledger", `The ledger agrees with the balances of ${counted(wallets.length, "wallet")}.`);
  const wrong = wallets.filter((wallet) => !wallet.ok).map(({ partner, currency }) => `${partner} ${currency}`);
  const words = [
    ...(wrong.length > 0 ? [`balances of ${named(wrong)}`] : []),
    ...(unbalanced.length > 0 ? [`transactions ${named(unbalanced)}`] : []),
  ];
  const message = `The ledger does not agree: ${words.join("; ") || "postings to a wallet that is not there"}.`;
  return fault("ledger", message, "Stop serve, see esimctl wallet check, and restore a backup from before.");
}

/** Whether the balance after each ledger transaction is the sum of those before and its own. */
export async function checkBalances(q: Read): Promise<Finding> {
  const wrong = await checkBalancesAfter(q, null);
  if (wrong.length === 0) return fine("balances", "Every ledger transaction has the balance that came of it.");
  const ids = named(wrong.map(({ id }) => id));
  const message = `The balance after ledger transactions is not the sum of their chain: ${ids}.`;
  return fault("balances", message, "Stop serve, see esimctl wallet check, and restore a backup from before.");
}

/** Whether what is drawn on credit is what the ledger says. */
export async function checkCredits(q: Read): Promise<Finding> {
  const wrong = await checkCredit(q, null);
  if (wrong.length === 0) return fine("credit", "The ledger agrees with what is drawn on credit.");
  const wallets = wrong.map(({ partner, currency }) => `${partner} ${currency}`);
  const message = `The ledger does not agree with what is drawn on credit: ${named(wallets)}.`;
  return fault("credit", message, "Stop serve, see esimctl wallet check, and restore a backup from before.");
}

/** Whether orders, and what credentials spend, are what the ledger says. */
export async function checkOrders(q: Read): Promise<Finding> {
  const { orders, transactions } = await checkOrderMoney(q);
  const topups = await checkTopupMoney(q);
  const spending = await checkSpending(q);
  const words = [
    ...(orders.length > 0 ? [`total, refunds or owner of ${named(orders)}`] : []),
    ...(transactions.length > 0 ? [`transactions of no order: ${named(transactions)}`] : []),
    ...(topups.length > 0 ? [`price or refunds of the top-ups ${named(topups)}`] : []),
    ...(spending.length > 0 ? [`less counted than charged for ${named(spending)}`] : []),
  ];
  if (words.length === 0) return fine("orders", "Orders, refunds and spending agree with the ledger.");
  const message = `Orders do not agree with the ledger: ${words.join("; ")}.`;
  return fault("orders", message, "Orders were changed by hand: undo it, or restore a backup from before.");
}

const pools = statement((db, t, _slot) =>
  db
    .select({ product_id: t.products.id, sku: t.products.sku, available: t.stockPools.available })
    .from(t.stockPools)
    .innerJoin(t.products, eq(t.products.id, t.stockPools.product_id))
    .orderBy(t.stockPools.product_id),
);

const unassigned = statement((db, t, _slot) =>
  db
    .select({ product_id: t.esims.product_id, many: count() })
    .from(t.esims)
    .where(isNull(t.esims.order_id))
    .groupBy(t.esims.product_id),
);

/** Reserved for orders on their way, and not handed to them yet. */
const reserved = statement((db, t, _slot) =>
  db
    .select({
      product_id: t.orderLines.product_id,
      many: sql`sum(${t.orderLines.quantity} - ${t.orderLines.assigned})`.mapWith(Number),
    })
    .from(t.orders)
    .innerJoin(t.orderLines, eq(t.orderLines.order_id, t.orders.id))
    .where(
      and(
        inArray(t.orders.status, ["paid", "waiting_review"]),
        notFulfilled(t),
        eq(t.orders.reserved, true),
        eq(t.orders.environment, "production"),
        eq(t.orderLines.delivery_method, "stock"),
        eq(t.orderLines.status, "pending"),
      ),
    )
    .groupBy(t.orderLines.product_id),
);

/** Whether each stock counter says what the eSIMs themselves say, less what is reserved. */
export async function checkStock(q: Read): Promise<Finding> {
  const rows = new Map((await unassigned(q, {})).map((row) => [row.product_id, row.many]));
  const held = new Map((await reserved(q, {})).map((row) => [row.product_id, row.many]));
  const all = await pools(q, {});
  const wrong = all.flatMap(({ product_id, sku, available }) => {
    const free = (rows.get(product_id) ?? 0) - (held.get(product_id) ?? 0);
    return free === available ? [] : [`${sku} counts ${available}, there are ${free}`];
  });
  if (wrong.length === 0) {
    return fine("stock", `The stock counters of ${counted(all.length, "product")} agree with their eSIMs.`);
  }
  const remedy = "eSIMs or counters were changed by hand: undo it, or restore a backup from before.";
  return fault("stock", `Stock counters are wrong: ${named(wrong)}.`, remedy);
}
