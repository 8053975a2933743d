import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { type EsimgoAccount, type EsimgoShown, type EsimgoStock, nextEsimgoId } from "./esimgo-account.ts";
import { checkedBody, type EsimgoCall, EsimgoRefusal, isShown } from "./esimgo-call.ts";
import { bundleAllowances, bundleSpeeds } from "./esimgo-catalogue.ts";
import type { EsimgoBundle } from "./esimgo-price-list.ts";
import type { ProviderAnswer } from "./provider.ts";

const DAY_MS = 86_400_000;
/** Unused inventory lapses after this. */
const LAPSES_AFTER_MS = 365 * DAY_MS;
/** The usual refund period. */
const REFUND_PERIOD_MS = 60 * DAY_MS;

const Refund = Type.Object(
  { usageId: Type.Integer(), quantity: Type.Integer({ minimum: 1 }) },
  { additionalProperties: false },
);
const refund = Compile(Refund);

/** Books what was bought into the inventory; what an order assigns is taken from there at once. */
export function bookStock(account: EsimgoAccount, bundle: EsimgoBundle, total: number, shown: EsimgoShown) {
  const stock: EsimgoStock = { ...shown, id: nextEsimgoId(account), bundle, total, taken: [], refunded: 0 };
  account.stock.push(stock);
  account.bought += total;
  return stock;
}

/** Stock of a bundle that has units left, the oldest first. */
export function stockOf(account: EsimgoAccount, bundle: EsimgoBundle, now: number): EsimgoStock[] {
  return account.stock.filter((one) => one.bundle === bundle && unitsLeft(one) > 0 && now < one.at + LAPSES_AFTER_MS);
}

/** Units that are neither taken nor given back. */
export function unitsLeft({ total, taken, refunded }: EsimgoStock): number {
  return total - taken.length - refunded;
}

/** Whether a purchase can be given back: refunds are on, and it is not too long ago. */
export function isRefundable({ options }: EsimgoAccount, stock: EsimgoStock, now: number): boolean {
  return options.refunds === true && now < stock.at + REFUND_PERIOD_MS;
}

/** Gives units of a purchase back to the balance. */
export function repay(account: EsimgoAccount, stock: EsimgoStock, quantity: number): void {
  account.balance += stock.bundle.price * quantity;
  account.bought -= quantity;
}

/** GET /inventory. */
export function listInventory(call: EsimgoCall): ProviderAnswer {
  const rows = call.account.stock.flatMap((stock) => {
    const taken = stock.taken.filter((one) => isShown(one, call)).length;
    const remaining = stock.total - stock.refunded - taken;
    const shown = isShown(stock, call) && remaining > 0 && call.request.now < stock.at + LAPSES_AFTER_MS;
    return shown ? [{ stock, remaining }] : [];
  });
  const bundles = [...Map.groupBy(rows, ({ stock }) => stock.bundle)].map(([bundle, of]) => inventoryRow(bundle, of));
  return { status: 200, body: { bundles } };
}

/** POST /inventory/refund. */
export function refundInventory(call: EsimgoCall): ProviderAnswer {
  const { usageId, quantity } = checkedBody(call, refund);
  const { account, request } = call;
  const stock = account.stock.find(({ id }) => id === usageId);
  if (stock === undefined) throw new EsimgoRefusal(400, `There is no usage ${usageId}`);
  if (!isRefundable(account, stock, request.now)) throw new EsimgoRefusal(400, "Refund is not available");
  if (quantity > unitsLeft(stock)) throw new EsimgoRefusal(400, "Quantity is more than what remains");
  stock.refunded += quantity;
  repay(account, stock, quantity);
  return { status: 200, body: { status: "Successfully refunded to balance" } };
}

function inventoryRow(bundle: EsimgoBundle, rows: { stock: EsimgoStock; remaining: number }[]) {
  const available = rows.map(({ stock, remaining }) => {
    const expiry = new Date(stock.at + LAPSES_AFTER_MS).toISOString().slice(0, 10);
    return { id: stock.id, total: stock.total, remaining, expiry };
  });
  return {
    name: bundle.name,
    desc: bundle.description,
    available,
    countries: bundle.countries.map(({ iso }) => iso),
    data: bundle.megabytes,
    duration: bundle.days,
    durationUnit: "day",
    autostart: true,
    unlimited: bundle.unlimited,
    speed: bundleSpeeds,
    allowances: bundleAllowances(bundle),
  };
}
