import { toGeneric } from "../../../core/catalog/sync/generic.ts";
import type { Offer } from "../../../core/catalog/sync/offer.ts";
import { toShopify } from "../../../core/catalog/sync/shopify.ts";
import { toWoocommerce } from "../../../core/catalog/sync/woocommerce.ts";

/** A row of a CSV file: its cells by column, in the order of the file. */
export type CsvCells = Readonly<Record<string, string | number>>;

export const exportFormats = ["generic", "shopify", "woocommerce"] as const;
export type ExportFormat = (typeof exportFormats)[number];

/** Each format's row of an offer. All rows of a format have the same columns. */
export const cellsOf: Readonly<Record<ExportFormat, (offer: Offer) => CsvCells>> = {
  generic: genericCells,
  shopify: shopifyCells,
  woocommerce: woocommerceCells,
};

/** The fields of the API's generic item, lists with | between as in `products import`. */
function genericCells(offer: Offer): CsvCells {
  const { coverage, description, images, ...plain } = toGeneric(offer);
  return {
    ...plain,
    description: description ?? "",
    coverage: coverage.join("|"),
    images: images.map(({ src }) => src).join("|"),
  };
}

/**
 * Shopify's product CSV, under the names that its importer has now (until 2025 they were Handle, Body (HTML), Variant
 * Price and the like). Columns of options and stock that these products do not have are left out, as they may be.
 */
function shopifyCells(offer: Offer): CsvCells {
  const { variants, images, ...item } = toShopify(offer);
  const [variant] = variants;
  const [image] = images;
  return {
    Title: item.title,
    "URL handle": item.handle,
    Description: item.body_html,
    Vendor: item.vendor,
    Type: item.product_type,
    Tags: item.tags,
    "Published on online store": "TRUE",
    Status: "Active",
    SKU: variant?.sku ?? "",
    "Option1 name": "Title",
    "Option1 value": "Default Title",
    Price: variant?.price ?? "",
    "Charge tax": "TRUE",
    // Empty: not tracked.
    "Inventory tracker": "",
    "Continue selling when out of stock": "DENY",
    "Requires shipping": variant?.requires_shipping === true ? "TRUE" : "FALSE",
    "Fulfillment service": "manual",
    "Product image URL": image?.src ?? "",
    "Image position": image === undefined ? "" : 1,
    "Image alt text": image?.alt ?? "",
    "Gift card": "FALSE",
  };
}

/**
 * WooCommerce's product CSV import schema. There is no Images column: WordPress refuses SVG, and the importer then
 * refuses the whole product.
 */
function woocommerceCells(offer: Offer): CsvCells {
  const item = toWoocommerce(offer);
  return {
    Type: item.virtual ? `${item.type}, virtual` : item.type,
    SKU: item.sku,
    Name: item.name,
    Published: 1,
    "Is featured?": 0,
    "Visibility in catalog": "visible",
    "Short description": item.short_description,
    Description: item.description,
    "Tax status": "taxable",
    "In stock?": 1,
    "Regular price": item.regular_price,
    // Commas separate categories there unless a backslash is before them.
    Categories: item.categories.map(({ name }) => name.replaceAll(",", "\\,")).join(", "),
    ...Object.fromEntries(item.meta_data.map(({ key, value }) => [`Meta: ${key}`, value])),
  };
}
