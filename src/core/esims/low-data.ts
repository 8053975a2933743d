import { isoTime } from "../kernel/clock.ts";
import { recordEvent } from "../outbox/record.ts";
import { thresholdsOfPartner } from "../platform/partner-thresholds.ts";
import type { Tx } from "../store/store.ts";
import type { DeliveredEsim } from "./delivered.ts";
import type { EsimRow } from "./esim.ts";
import { audienceOf } from "./life.ts";
import { dataUsage, soldIn } from "./status.ts";

type Reported = Pick<EsimRow, "used_mb" | "total_mb">;
type Usage = ReturnType<typeof dataUsage>;

/** What a report of usage means for the thresholds of an eSIM. */
interface LowData {
  /** The threshold that it reaches, of several the highest; null: none. */
  reached: number | null;
  /** `low_data_percent` from now on. */
  percent: number | null;
}

/** Whether a percentage of the data is used up. Nothing is where there is no data. */
function isReached(percent: number, { used_mb, total_mb }: Usage): boolean {
  return total_mb > 0 && used_mb >= (total_mb / 100) * percent;
}

/**
 * Whether a report, which is newer than what is known, reaches a threshold of the eSIM's partner. A threshold is sent
 * once: usage that falls and rises again, as counters do that are corrected, sends nothing. More data, or usage that
 * begins again at 0, sends the thresholds above it again.
 */
export async function lowDataAfter(tx: Tx, { esim, product }: DeliveredEsim, report: Reported): Promise<LowData> {
  const { partnerId } = audienceOf(esim);
  const before = dataUsage(esim, product.data_amount_mb);
  const after = dataUsage(report, product.data_amount_mb);
  const renewed = after.total_mb > before.total_mb || (after.used_mb === 0 && before.used_mb > 0);
  if (
    esim.status === "expired" ||
    (!renewed && after.used_mb === before.used_mb && after.total_mb === before.total_mb)
  ) {
    return { reached: null, percent: esim.low_data_percent };
  }
  const { low_data } = await thresholdsOfPartner(tx, partnerId);
  const known = esim.low_data_percent;
  const lost = known !== null && renewed && !isReached(known, after);
  const sent = lost ? highest(low_data.filter((percent) => percent < known && isReached(percent, after))) : known;
  const crossed = low_data.filter((percent) => !isReached(percent, before) && isReached(percent, after));
  const reached = highest(crossed.filter((percent) => sent === null || percent > sent));
  return { reached, percent: reached ?? sent };
}

function highest(percents: readonly number[]): number | null {
  return percents.length === 0 ? null : Math.max(...percents);
}

/** Records esim.data_low of an eSIM whose usage has just been written. */
export async function announceLowData(tx: Tx, { esim, product }: DeliveredEsim, threshold_percent: number) {
  const data = {
    iccid: esim.iccid,
    order_id: soldIn(esim),
    threshold_percent,
    data_usage: dataUsage(esim, product.data_amount_mb),
    reported_at: isoTime(esim.usage_at ?? tx.now),
  };
  await recordEvent(tx, { kind: "esim.data_low", ...audienceOf(esim), data });
}
