import type { ChangedProduct } from "../../../core/catalog/change.ts";
import { dataWords } from "../../../core/catalog/data-words.ts";
import type { Product, ProductDetail } from "../../client/answers.ts";
import { type Result, recordResult } from "../../output/result.ts";
import type { Column, Sheet } from "../../output/sheet.ts";
import { shown, statusPaint } from "../../output/words.ts";

/** The keys of a product's JSON. */
export const PRODUCT_JSON = "the API's body: {id, sku, name, price_cents, currency, status, product_type, …}";

export const productColumns: Column<Product>[] = [
  { title: "sku", value: (product) => product.sku },
  { title: "name", value: (product) => product.name, shrinks: true },
  { title: "region", value: (product) => product.region, shrinks: true, spare: 1 },
  { title: "data", value: (product) => dataWords(product.data_amount_mb), align: "right" },
  { title: "days", value: (product) => product.validity_days, align: "right", spare: 2 },
  { title: "price", value: (product, sheet) => sheet.money(product.price_cents, product.currency), align: "right" },
  { title: "kind", value: (product) => product.product_type, spare: true },
  {
    title: "status",
    value: (product) => product.status,
    paint: (sheet, { status }) => statusPaint(sheet, status),
    spare: 3,
  },
];

/** The keys of the JSON of a product that the operator has changed. */
export const CHANGED_JSON = `${PRODUCT_JSON}, and {cost, cost_currency, held (why it is not on sale)}`;

/** One product with its details. */
export function productResult(product: ProductDetail): Result {
  return recordResult(product, (sheet) => productFields(sheet, product));
}

/** The same with what only the operator sees. */
export function changedResult(product: ChangedProduct): Result {
  const { cost, cost_currency, held } = product;
  return recordResult(product, (sheet) => ({
    ...productFields(sheet, product),
    ...(cost === null ? {} : { cost: `${cost} ${shown(cost_currency)}` }),
    ...(held === null ? {} : { "not on sale": shown(held) }),
  }));
}

function productFields(sheet: Sheet, product: ProductDetail): Record<string, string> {
  return {
    sku: shown(product.sku),
    name: shown(product.name),
    id: product.id,
    status: statusPaint(sheet, product.status)(product.status),
    price: sheet.money(product.price_cents, product.currency),
    data: `${dataWords(product.data_amount_mb)} for ${product.validity_days} days (${product.type})`,
    kind: `${product.product_type}, delivered by ${product.delivery_method}`,
    region: shown(product.region),
    coverage: shown(product.coverage.join(", ")),
    description: shown(product.description),
    features: shown(product.features?.join(", ")),
    "activation policy": shown(product.activation_policy),
    network: shown(product.network_type),
    devices: shown(product.compatible_devices?.join(", ")),
  };
}
