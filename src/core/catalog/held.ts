import type { Row } from "../store/schema/tables.ts";

/** Why a product waits for the operator. */
export const NEGATIVE_MARGIN = "margin is negative";
/** Why a product waits for its supplier, whose next sync puts it on sale again. */
export const NO_PLAN = "no supplier has it any more";

/**
 * What a change ends of a product's hold: any status that is given decides, and a new price puts a product on sale
 * whose margin was negative.
 */
export function releaseOf(
  { held }: Pick<Row<"products">, "held">,
  change: { status?: unknown; price_cents?: unknown },
): { held?: null; status?: "active" } {
  if (held === null) return {};
  if (change.status !== undefined) return { held: null };
  return held === NEGATIVE_MARGIN && change.price_cents !== undefined ? { held: null, status: "active" } : {};
}
