import type { Actor } from "../audit/record.ts";
import { notFound } from "../kernel/problem.ts";
import type { Tx } from "../store/store.ts";
import { type ProductChange, updateProduct } from "./import.ts";
import { findProductBySku, type ProductDetail, toProductDetail } from "./product.ts";
import { type StockRule, setStockRule } from "./stock-rule.ts";

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
