import type { OrderId } from "../kernel/brand.ts";
import { isoTimeOrNull } from "../kernel/clock.ts";
import type { Owner } from "../kernel/owner.ts";
import { notFound, Problem } from "../kernel/problem.ts";
import type { Read } from "../store/store.ts";
import { type DeliveredEsim, deliveredEsims } from "./delivered.ts";
import { activationStatusOf, type EsimRow } from "./esim.ts";

/** How much of its data an eSIM has used (contract: esim.expired). Nothing reported yet: none of what was promised. */
export function dataUsage(esim: Pick<EsimRow, "used_mb" | "total_mb">, promisedMb: number) {
  const total_mb = esim.total_mb ?? promisedMb;
  const used_mb = esim.used_mb ?? 0;
  return { total_mb, used_mb, remaining_mb: Math.max(0, total_mb - used_mb) };
}

function locationOf({ country, network, location_at }: EsimRow) {
  return location_at === null ? null : { country, network, updated_at: isoTimeOrNull(location_at) };
}

/** The status record of an eSIM (contract: GET /esims/{iccid}/status). */
export function toEsimStatus({ esim, product }: DeliveredEsim) {
  return {
    iccid: esim.iccid,
    order_id: soldIn(esim),
    status: esim.status,
    activation_status: activationStatusOf[esim.status],
    activation_policy: product.activation_policy ?? "",
    activated_at: isoTimeOrNull(esim.activated_at),
    expires_at: isoTimeOrNull(esim.expires_at),
    data_usage: { ...dataUsage(esim, product.data_amount_mb), updated_at: isoTimeOrNull(esim.usage_at) },
    location: locationOf(esim),
    ...(esim.environment === "sandbox" ? { is_test: true } : {}),
  };
}

export type EsimStatusRecord = ReturnType<typeof toEsimStatus>;

/** The order of an eSIM that was delivered. */
export function soldIn({ order_id }: Pick<EsimRow, "order_id">): OrderId {
  if (order_id === null) throw new Error("an eSIM in stock belongs to no order");
  return order_id;
}

/** One of the caller's eSIMs, by its ICCID. Throws as `esimStatus` does. */
export async function requireOwnEsim(q: Read, input: EsimAsked): Promise<DeliveredEsim> {
  if (!/^\d{19,20}$/.test(input.iccid))
    throw new Problem("invalid_iccid", "An ICCID is 19 or 20 digits and nothing else.");
  const here = (await deliveredEsims(q, input.iccid)).filter(({ esim }) => esim.environment === input.environment);
  const own = here.find(({ esim }) => esim.partner_id === input.partnerId);
  if (own !== undefined) return own;
  if (here.length > 0) throw new Problem("esim_forbidden", "This eSIM was not delivered to you.");
  throw notFound("esim");
}

/** The eSIM that a caller names. */
export interface EsimAsked extends Owner {
  iccid: string;
}

/**
 * The status of one of the caller's eSIMs. Throws `invalid_iccid`; `not_found` for one that was never delivered in this
 * environment; `esim_forbidden` for another partner's.
 */
export async function esimStatus(q: Read, input: EsimAsked): Promise<EsimStatusRecord> {
  return toEsimStatus(await requireOwnEsim(q, input));
}
