import type { EsimStatus } from "../client/answers.ts";
import { type Result, recordResult } from "../output/result.ts";
import { moment, shown, statusPaint } from "../output/words.ts";

/** The keys of a status record. */
export const ESIM_JSON =
  "{iccid, order_id, status, activation_status, activated_at, expires_at, data_usage, location, …}";

/** The status record of an eSIM. */
export function esimResult(esim: EsimStatus): Result {
  const { data_usage: usage, location } = esim;
  return recordResult(esim, (sheet) => ({
    iccid: esim.iccid,
    order: esim.order_id,
    status: statusPaint(sheet, esim.status)(esim.status),
    "activation policy": shown(esim.activation_policy),
    activated: moment(esim.activated_at),
    expires: moment(esim.expires_at),
    data: `${usage.used_mb} of ${usage.total_mb} MB used, ${usage.remaining_mb} MB left`,
    reported: moment(usage.updated_at),
    location: location === null ? "-" : `${shown(location.country)}, ${shown(location.network)}`,
    seen: moment(location?.updated_at ?? null),
  }));
}
