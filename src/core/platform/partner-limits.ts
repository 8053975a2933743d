import type { PartnerId } from "../kernel/brand.ts";
import { notFound } from "../kernel/problem.ts";
import { findByKey } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import { type PartnerBound, partnerBounds } from "../store/schema/values.ts";
import type { Read } from "../store/store.ts";

/** What holds for a partner: what the operator set, else the default. Null: no bound. */
export type PartnerLimits = Record<PartnerBound, number | null> & {
  /** Whether its sandbox credentials may submit activation requests. */
  sandbox_activations: boolean;
};

/** The bounds of a partner's row. */
export function limitsOf(row: Pick<Row<"partners">, keyof PartnerLimits>): PartnerLimits {
  const or = (bound: PartnerBound) => row[bound] ?? partnerBounds[bound].default;
  return {
    max_endpoints: or("max_endpoints"),
    max_pool: or("max_pool"),
    max_open_activations: or("max_open_activations"),
    max_sandbox_activations: or("max_sandbox_activations"),
    max_pending_deliveries: or("max_pending_deliveries"),
    max_days_ahead: or("max_days_ahead"),
    max_requests_per_minute: or("max_requests_per_minute"),
    sandbox_activations: row.sandbox_activations,
  };
}

/**
 * The bounds of a partner that is known to exist. A command that reads them and counts holds its bound under parallel
 * requests: commands run one after the other.
 */
export async function limitsOfPartner(q: Read, id: PartnerId): Promise<PartnerLimits> {
  const row = await findByKey(q, "partners", { id });
  if (row === null) throw notFound("partner");
  return limitsOf(row);
}
