import { escapeHtml } from "../../kernel/html.ts";
import { formatMoney } from "../../kernel/money.ts";
import { coverageWords, imagesOf, type Offer, planWords } from "./offer.ts";

/** The item in the shape of WooCommerce's product (contract: platform_b). */
export function toWoocommerce(offer: Offer) {
  const { product, retail } = offer;
  const plan = escapeHtml(planWords(product));
  const meta = {
    esim_product_id: product.id,
    data_amount_mb: String(product.data_amount_mb),
    validity_days: String(product.validity_days),
    coverage: coverageWords(product),
    currency: product.currency,
  };
  return {
    name: product.name,
    type: "simple" as const,
    sku: product.sku,
    regular_price: formatMoney(retail, product.currency),
    // WordPress makes paragraphs of plain text by itself.
    description: product.description === null ? plan : `${escapeHtml(product.description)}\n\n${plan}`,
    short_description: plan,
    categories: [{ name: product.region }],
    virtual: product.product_type !== "physical_sim",
    images: imagesOf(offer, "png"),
    meta_data: Object.entries(meta).map(([key, value]) => ({ key, value })),
  };
}

export type WoocommerceItem = ReturnType<typeof toWoocommerce>;
