import { guardCell } from "../../csv/formula.ts";
import { csvLine } from "../../csv/write.ts";
import { toGeneric } from "./generic.ts";
import type { Offer } from "./offer.ts";
import { type ShopFormat, shopFormats } from "./shop-formats.ts";
import { toShopify } from "./shopify.ts";
import { CURRENCY_NOTE, itemOf } from "./sync.ts";
import { toWoocommerce } from "./woocommerce.ts";

/** A row of a CSV file: its cells by column, in the order of the file. */
type CsvCells = Readonly<Record<string, string | number>>;

/** Each format's row of an offer. All rows of a format have the same columns. */
const cellsOf: Readonly<Record<ShopFormat, (offer: Offer) => CsvCells>> = {
  generic: genericCells,
  shopify: shopifyCells,
  woocommerce: woocommerceCells,
};

/** Offers, as they are read. */
type Offers = AsyncIterable<Offer>;

/**
 * The CSV file that the importer of a platform takes, line by line. Names and descriptions come from suppliers: `seen`
 * hears of each offer whether an apostrophe keeps one of its cells from being a formula.
 */
export async function* shopCsv(
  format: ShopFormat,
  offers: Offers,
  seen?: (offer: Offer, isGuarded: boolean) => void,
): AsyncGenerator<string> {
  let isFirst = true;
  for await (const offer of offers) {
    const cells = cellsOf[format](offer);
    const texts = Object.values(cells).map(String);
    seen?.(
      offer,
      texts.some((text) => guardCell(text) !== text),
    );
    if (isFirst) yield csvLine(comma, Object.keys(cells));
    isFirst = false;
    yield csvLine(comma, texts);
  }
}

const comma = { delimiter: "," } as const;

/** The body of GET /catalog/sync, item by item; how many they are is known at its end. */
export async function* shopJson(format: ShopFormat, offers: Offers, generatedAt: string): AsyncGenerator<string> {
  const head = { format: shopFormats[format], generated_at: generatedAt, currency_note: CURRENCY_NOTE };
  yield `${JSON.stringify(head).slice(0, -1)},"products":[`;
  let count = 0;
  for await (const offer of offers) {
    yield `${count === 0 ? "" : ","}\n${JSON.stringify(itemOf[shopFormats[format]](offer))}`;
    count += 1;
  }
  yield `],"count":${count}}\n`;
}

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

/** WooCommerce's product CSV import schema. */
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
    Images: item.images.map(({ src }) => src).join(", "),
    ...Object.fromEntries(item.meta_data.map(({ key, value }) => [`Meta: ${key}`, value])),
  };
}
