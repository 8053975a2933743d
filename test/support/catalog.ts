import { importProducts } from "../../src/core/catalog/import.ts";
import { findProductBySku } from "../../src/core/catalog/product.ts";
import type { ProductInput } from "../../src/core/catalog/product-input.ts";
import { importStock } from "../../src/core/esims/import-stock.ts";
import type { ProductId } from "../../src/core/kernel/brand.ts";
import { luhnDigit } from "../../src/core/kernel/check-digits.ts";
import type { Store } from "../../src/core/store/store.ts";

/** A realistic product; pass only what the test is about. */
export function product(fields: Partial<ProductInput> & { sku: string }): ProductInput {
  return {
    name: `Plan ${fields.sku}`,
    description: null,
    region: "Europe",
    coverage: ["FR", "DE"],
    data_amount_mb: 5120,
    validity_days: 30,
    price_cents: 1250,
    currency: "AUD",
    type: "data_only",
    status: "active",
    product_type: "esim_qr_pregen",
    delivery_method: "stock",
    supplier: null,
    features: null,
    activation_policy: null,
    network_type: null,
    compatible_devices: null,
    ...fields,
  };
}

/** Puts products into the catalog; answers their ids by sku. */
export async function addProducts(
  store: Store,
  products: (Partial<ProductInput> & { sku: string })[],
): Promise<Record<string, ProductId>> {
  await store.write(importProducts, { products: products.map(product), actor: "test" });
  const ids: Record<string, ProductId> = {};
  for (const { sku } of products) {
    const row = await store.read(findProductBySku, sku);
    if (row !== null) ids[sku] = row.id;
  }
  return ids;
}

let stocked = 0;

/** Puts `count` eSIMs of a product in stock; answers their ICCIDs. */
export async function addStock(store: Store, sku: string, count: number): Promise<string[]> {
  const rows = Array.from({ length: count }, () => {
    const digits = `894410${String(++stocked).padStart(12, "0")}`;
    const iccid = digits + luhnDigit(digits);
    return { iccid, smdp_address: "smdp.example.net", matching_id: `MATCH-${stocked}`, confirmation_code: null };
  });
  await store.write(importStock, { sku, rows, actor: "test" });
  return rows.map((row) => row.iccid);
}

/** One product for each way in which a supplier delivers. */
export const suppliedProducts: (Partial<ProductInput> & { sku: string })[] = [
  {
    sku: "MAIL",
    price_cents: 300,
    product_type: "esim_qr_api",
    delivery_method: "supplier_email",
    supplier: "kestrel",
  },
  {
    sku: "PUSH",
    price_cents: 500,
    product_type: "esim_eid_push",
    delivery_method: "eid_push",
    supplier: "northwind",
  },
  {
    sku: "API",
    price_cents: 200,
    product_type: "esim_qr_api",
    delivery_method: "supplier_api",
    supplier: "northwind",
  },
];
