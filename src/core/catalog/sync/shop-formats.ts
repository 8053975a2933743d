import type { SyncFormat } from "./sync.ts";

/** The shapes of a catalog for shops under the names of the shops, with the API's name of each. */
export const shopFormats = {
  generic: "generic",
  shopify: "platform_a",
  woocommerce: "platform_b",
} as const satisfies Record<string, SyncFormat>;

export type ShopFormat = keyof typeof shopFormats;

/** Their names. */
export const shopFormatNames = ["generic", "shopify", "woocommerce"] as const satisfies readonly ShopFormat[];
