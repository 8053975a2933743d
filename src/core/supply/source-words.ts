import type { Source } from "./sources.ts";

/** What is said of sources before they are changed, in terminal and console alike. */
export const SOURCE_POLICY =
  "A unit is bought at the source with the lowest priority that can be asked, then the lowest cost.";
export const ABOUT_ADDING = "Units of the product are bought there from the next one on, as its priority says.";
export const ABOUT_REMOVING = "Nothing more of the product is bought there; what is under way stays.";

/** What is asked before a source is taken away. */
export function removalQuestion({ sku, supplier }: Pick<Source, "sku" | "supplier">): string {
  return `Buy no more ${sku} from ${supplier}?`;
}

/** What a unit costs at a source; null: it is not known. */
export function costWords({ cost, currency }: Pick<Source, "cost" | "currency">): string | null {
  return cost === null ? null : `${cost} ${currency ?? ""}`.trim();
}
