import type { PartnerId } from "../kernel/brand.ts";
import { notFound } from "../kernel/problem.ts";
import { findByKey } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import { type EsimThreshold, esimThresholds } from "../store/schema/values.ts";
import type { Read } from "../store/store.ts";

/** What has events for a partner once it is crossed: what the operator set, else the default. */
export type PartnerThresholds = Record<EsimThreshold, readonly number[]> & {
  /** By currency, the least balance that is not low (minor units). */
  low_wallet: Readonly<Record<string, number>>;
};

/** The thresholds of a partner's row. */
export function thresholdsOf(row: Pick<Row<"partners">, keyof PartnerThresholds>): PartnerThresholds {
  return {
    low_wallet: row.low_wallet ?? {},
    low_data: row.low_data ?? esimThresholds.low_data.default,
    expiry_days: row.expiry_days ?? esimThresholds.expiry_days.default,
  };
}

/** The thresholds of a partner that is known to exist. */
export async function thresholdsOfPartner(q: Read, id: PartnerId): Promise<PartnerThresholds> {
  const row = await findByKey(q, "partners", { id });
  if (row === null) throw notFound("partner");
  return thresholdsOf(row);
}
