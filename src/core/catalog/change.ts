import { changesOf } from "../audit/changes.ts";
import { type Actor, recordAudit } from "../audit/record.ts";
import { formatCost } from "../kernel/cost.ts";
import { currencyDecimals } from "../kernel/money.ts";
import { invalid, notFound } from "../kernel/problem.ts";
import { updateRow } from "../store/rows.ts";
import type { WhenShort } from "../store/schema/values.ts";
import type { Tx } from "../store/store.ts";
import { type ProductChange, updateProduct } from "./import.ts";
import { findProductBySku, type ProductDetail, toProductDetail } from "./product.ts";

/** What the operator changes of one product together: its fields, and what is done about its stock. */
export interface ProductEdit {
  sku: string;
  /** Null: none. */
  fields: Omit<ProductChange, "sku" | "actor"> | null;
  rule: StockRule;
  /** What a unit costs; left out: as it is. */
  cost?: ProductCost | undefined;
  actor: Actor;
}

/** What a unit of a product costs, in 1/10,000; null: it is not known. `currency` null: the product's. */
export interface ProductCost {
  cost: number | null;
  currency: string | null;
}

/** A product with what only the operator sees of it. */
export interface ChangedProduct extends ProductDetail {
  /** A decimal. */
  cost: string | null;
  cost_currency: string | null;
  /** Why it is not on sale until the operator, or its supplier, says so. */
  held: string | null;
}

/** Makes all changes or none. Throws `not_found`, `validation`. */
export async function changeProduct(tx: Tx, edit: ProductEdit): Promise<ChangedProduct> {
  const { sku, fields, rule, cost, actor } = edit;
  if (fields !== null) await updateProduct(tx, { ...fields, sku, actor });
  if (Object.values(rule).some((value) => value !== undefined)) await setStockRule(tx, { sku, actor, ...rule });
  if (cost !== undefined) await setCost(tx, { sku, actor, ...cost });
  const row = await findProductBySku(tx, sku);
  if (row === null) throw notFound("product", sku);
  const { cost_currency, held } = row;
  return { ...toProductDetail(row), cost: row.cost === null ? null : formatCost(row.cost), cost_currency, held };
}

/** Sets what a unit costs. Throws `not_found`, `validation`: the cost of a product with sources is theirs. */
async function setCost(tx: Tx, { sku, actor, ...given }: ProductCost & { sku: string; actor: Actor }): Promise<void> {
  const row = await findProductBySku(tx, sku);
  if (row === null) throw notFound("product", sku);
  const cost_currency = given.cost === null ? null : (given.currency ?? row.currency);
  if (row.sourced) throw invalid({ cost: [`is that of its sources: sources add ${sku} --cost`] });
  if (cost_currency !== null && currencyDecimals(cost_currency) === null) {
    throw invalid({ cost_currency: ["must be an ISO 4217 code such as USD"] });
  }
  const changed = { cost: given.cost, cost_currency };
  await updateRow(tx, "products", { id: row.id }, changed);
  const changes = changesOf(row, changed, ["cost", "cost_currency"]);
  const about = { targetKind: "product", targetId: row.id, fields: Object.keys(changed) };
  await recordAudit(tx, { actor, action: "products.cost", ...about, changes });
  // Prices of price lists are made of costs.
  await tx.touch();
}

/** What is done about a product's stock; what is left out stays. */
interface StockRule {
  /** Free eSIMs below which the operator is alerted; null: never. */
  low_stock?: number | null | undefined;
  when_short?: WhenShort | undefined;
}

/** Sets the rule of one product that is delivered from stock. Throws `not_found`, `validation`. */
async function setStockRule(tx: Tx, { sku, actor, ...rule }: StockRule & { sku: string; actor: Actor }) {
  const row = await findProductBySku(tx, sku);
  if (row === null) throw notFound("product", sku);
  if (row.delivery_method !== "stock") {
    throw invalid({ delivery_method: [`is ${row.delivery_method}: ${sku} has no stock`] });
  }
  const { low_stock = row.low_stock, when_short: given } = rule;
  if (low_stock !== null && (!Number.isSafeInteger(low_stock) || low_stock < 1)) {
    throw invalid({ low_stock: ["must be a whole number above 0"] });
  }
  const when_short = given === undefined ? row.when_short : given === "review" ? null : given;
  const changed = { low_stock, when_short };
  await updateRow(tx, "products", { id: row.id }, { ...changed, updated_at: tx.now });
  const changes = changesOf(row, changed, ["low_stock", "when_short"]);
  const about = { targetKind: "product", targetId: row.id, fields: Object.keys(changed) };
  await recordAudit(tx, { actor, action: "products.stock_rule", ...about, changes });
  await tx.touch();
}
