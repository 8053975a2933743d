import { counted } from "../../kernel/counted.ts";
import { escapeHtml } from "../../kernel/html.ts";
import { formatMoney } from "../../kernel/money.ts";
import type { Product } from "../product.ts";
import { coverageWords, imagesOf, type Offer, planWords } from "./offer.ts";

/** Shopify requires a vendor of at least two letters; the wholesaler's name is not shown to a shop's customers. */
const VENDOR = "Travel eSIM";

/** The item in the shape of Shopify's product resource (contract: platform_a). */
export function toShopify(offer: Offer) {
  const { product, retail } = offer;
  const price = formatMoney(retail, product.currency);
  return {
    handle: handleOf(product),
    title: product.name,
    body_html: bodyOf(product),
    vendor: VENDOR,
    product_type: product.product_type === "physical_sim" ? "SIM card" : "eSIM",
    tags: tagsOf(product),
    status: "active" as const,
    // How many a shop may sell is unknown here: not tracked.
    variants: [
      {
        sku: product.sku,
        price,
        presentment_prices: [{ price: { amount: price, currency_code: product.currency }, compare_at_price: null }],
        inventory_management: null,
        requires_shipping: product.product_type === "physical_sim",
      },
    ],
    images: imagesOf(offer, "png"),
  };
}

export type ShopifyItem = ReturnType<typeof toShopify>;

/** A product's own name in shop addresses; with a part of its id, since SKUs may differ in punctuation alone. */
function handleOf({ sku, id }: Product): string {
  const words = sku.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return [...words, id.slice(-6)].join("-");
}

function bodyOf(product: Product): string {
  const facts = [planWords(product), coverageWords(product)];
  const description = product.description === null ? "" : `<p>${escapeHtml(product.description)}</p>`;
  return `${description}<ul>${facts.map((fact) => `<li>${escapeHtml(fact)}</li>`).join("")}</ul>`;
}

/** Tags are separated by commas, so none may hold one. */
function tagsOf({ region, type, validity_days }: Product): string {
  const kind = type === "voice_data" ? "data and calls" : "data only";
  return [region, kind, counted(validity_days, "day")].map((tag) => tag.replaceAll(/\s*,\s*/g, " ")).join(", ");
}
