import { changesOf } from "../audit/changes.ts";
import { type Actor, recordAudit } from "../audit/record.ts";
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
  actor: Actor;
}

/** Makes both changes or none. Throws `not_found`, `validation`. */
export async function changeProduct(tx: Tx, { sku, fields, rule, actor }: ProductEdit): Promise<ProductDetail> {
  if (fields !== null) await updateProduct(tx, { ...fields, sku, actor });
  if (Object.values(rule).some((value) => value !== undefined)) await setStockRule(tx, { sku, actor, ...rule });
  const row = await findProductBySku(tx, sku);
  if (row === null) throw notFound("product", sku);
  return toProductDetail(row);
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
