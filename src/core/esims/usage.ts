import { type Actor, recordAudit } from "../audit/record.ts";
import type { Checked } from "../kernel/checked.ts";
import { isoTime } from "../kernel/clock.ts";
import { iccidFault } from "../kernel/iccid.ts";
import { recordEvent } from "../outbox/record.ts";
import { thresholdsOfPartner } from "../platform/partner-thresholds.ts";
import type { Tx } from "../store/store.ts";
import { type DeliveredEsim, findRealEsim } from "./delivered.ts";
import type { EsimRow } from "./esim.ts";
import { audienceOf } from "./life.ts";
import { dataUsage, soldIn } from "./status.ts";
import { changeEsim } from "./synthetic.ts";

/** What a network reports of one eSIM. Megabytes are whole; `at` is when it was measured (ms). */
export interface UsageReport {
  iccid: string;
  used_mb: number;
  total_mb: number | null;
  country: string | null;
  network: string | null;
  /** Null: when it was signed, or else now. */
  at: number | null;
  signedAt?: number;
}

export type UsageOutcome = "imported" | "updated" | "duplicate" | { rejected: string };

type Usage = Pick<EsimRow, "used_mb" | "total_mb" | "usage_at" | "country" | "network" | "location_at">;

/**
 * Applies usage reports, all in one transaction. One that is not newer than what is known is a duplicate, so that
 * the order of files makes no difference; an ICCID that was never delivered is rejected.
 */
export async function recordUsage(
  tx: Tx,
  input: { reports: readonly UsageReport[]; actor: Actor },
): Promise<UsageOutcome[]> {
  const outcomes: UsageOutcome[] = [];
  for (const report of input.reports) outcomes.push(await recordOne(tx, report));
  const taken = outcomes.filter((outcome) => outcome === "imported" || outcome === "updated").length;
  if (taken > 0) {
    const note = `${taken} reports`;
    await recordAudit(tx, { actor: input.actor, action: "esims.usage", targetKind: "esims", targetId: "usage", note });
  }
  return outcomes;
}

async function recordOne(tx: Tx, report: UsageReport): Promise<UsageOutcome> {
  const at = report.at ?? tx.now;
  if (at > tx.now) return { rejected: "at must not be in the future" };
  const found = await findRealEsim(tx, report.iccid);
  if (found === null) return { rejected: "no delivered eSIM has this iccid" };
  return takeUsage(tx, found, report);
}

/**
 * Writes what was reported of this eSIM, unless it is known or older than what is; with esim.data_low where it reaches
 * a threshold.
 */
export async function takeUsage(
  tx: Tx,
  known: DeliveredEsim,
  report: UsageReport,
): Promise<Exclude<UsageOutcome, { rejected: string }>> {
  const { esim } = known;
  const at = report.at ?? report.signedAt ?? tx.now;
  if (isKnown(esim, report, at)) return "duplicate";
  const usage = usageAfter(esim, report, at);
  const low = await lowDataAfter(tx, known, usage);
  await changeEsim(tx, esim, { ...usage, low_data_percent: low.percent });
  if (low.reached !== null) await announceLowData(tx, { ...known, esim: { ...esim, ...usage } }, low.reached);
  return esim.usage_at === null ? "imported" : "updated";
}

/** Not newer than what is known; or, where no moment is named, nothing else than what is known. */
function isKnown(esim: EsimRow, report: UsageReport, at: number): boolean {
  if (esim.usage_at === null) return false;
  if (at <= esim.usage_at) return true;
  const after = usageAfter(esim, report, at);
  const fields = ["used_mb", "total_mb", "country", "network"] as const;
  return report.at === null && fields.every((field) => after[field] === esim[field]);
}

/** Writes where this eSIM was seen, where nothing is said of its usage; the same rules. */
export async function takePlace(
  tx: Tx,
  esim: EsimRow,
  report: Pick<UsageReport, "country" | "network" | "at" | "signedAt">,
): Promise<"updated" | "duplicate"> {
  const { country, network } = report;
  const at = report.at ?? report.signedAt ?? tx.now;
  if (esim.location_at !== null) {
    if (at <= esim.location_at) return "duplicate";
    if (report.at === null && country === esim.country && network === esim.network) return "duplicate";
  }
  await changeEsim(tx, esim, { country, network, location_at: at });
  return "updated";
}

function usageAfter(esim: EsimRow, report: UsageReport, at: number): Usage {
  const { country, network } = report;
  // A place may be known of a later moment than the usage is.
  const seen = (country !== null || network !== null) && (esim.location_at === null || at > esim.location_at);
  return {
    used_mb: report.used_mb,
    total_mb: report.total_mb ?? esim.total_mb,
    usage_at: at,
    // Country and network change together: a mixture of an old and a new one would be no place.
    country: seen ? country : esim.country,
    network: seen ? network : esim.network,
    location_at: seen ? at : esim.location_at,
  };
}

const MOMENT = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?) ?(Z|UTC|[+-]\d{2}:?\d{2})?$/i;

/** A moment (ms) as networks write it; "zone": it names none. Null: it is no time. */
function momentIn(text: string): number | "zone" | null {
  const [, day, time, zone] = MOMENT.exec(text) ?? [];
  if (day === undefined || time === undefined) return /^\d{4}-\d{2}-\d{2}$/.test(text) ? "zone" : null;
  if (zone === undefined) return "zone";
  const offset = /^(z|utc)$/i.test(zone) ? "Z" : zone.replace(/^(...):?(..)$/, "$1:$2");
  const at = Date.parse(`${day}T${time.replace(/(\.\d{3})\d+$/, "$1")}${offset}`);
  return Number.isNaN(at) ? null : at;
}

/** Megabytes of one unit of each column. */
interface Factors {
  used: number;
  total: number;
}

/** Checks one line of a usage file, and names in words all that is wrong with it. */
export function checkUsageRow(
  values: Record<string, string>,
  factors: Factors = { used: 1, total: 1 },
): Checked<UsageReport> {
  const problems: string[] = [];
  const text = (name: string) => (values[name] ?? "").trim();
  const megabytes = (name: string, factor: number) => {
    const whole = factor === 1 ? /^\d{1,15}$/ : /^\d{1,15}(\.\d{1,9})?$/;
    if (whole.test(text(name))) return Math.round(Number(text(name)) * factor);
    problems.push(`${name} must be ${factor === 1 ? "a whole number of megabytes" : "a number"}`);
    return 0;
  };
  const words = (name: string) => {
    if (text(name).length > 100) problems.push(`${name} must be at most 100 characters`);
    return text(name) || null;
  };
  const iccid = text("iccid");
  const fault = iccidFault(iccid, { least: 19 });
  if (fault !== null) problems.push(`iccid ${fault}`);
  const used_mb = megabytes("used_mb", factors.used);
  const total_mb = text("total_mb") === "" ? null : megabytes("total_mb", factors.total);
  const read = text("at") === "" ? 0 : momentIn(text("at"));
  if (read === null) problems.push("at must be a time as 2026-03-01T09:30:00Z");
  if (read === "zone") problems.push("at must be a time with its zone, as 2026-03-01T09:30:00Z or +01:00");
  const at = typeof read === "number" && text("at") !== "" ? read : null;
  const report = { iccid, used_mb, total_mb, country: words("country"), network: words("network"), at };
  return problems.length > 0 ? { problems } : { ok: report };
}

type ReportedData = Pick<EsimRow, "used_mb" | "total_mb">;
type DataUsage = ReturnType<typeof dataUsage>;

/** What a report of usage means for the thresholds of an eSIM. */
interface LowData {
  /** The threshold that it reaches, of several the highest; null: none. */
  reached: number | null;
  /** `low_data_percent` from now on. */
  percent: number | null;
}

/** Whether a percentage of the data is used up. Nothing is where there is no data. */
function isReached(percent: number, { used_mb, total_mb }: DataUsage): boolean {
  return total_mb > 0 && used_mb >= (total_mb / 100) * percent;
}

/**
 * Whether a report, which is newer than what is known, reaches a threshold of the eSIM's partner. A threshold is sent
 * once: usage that falls and rises again, as counters do that are corrected, sends nothing. More data, or usage that
 * begins again at 0, sends the thresholds above it again.
 */
async function lowDataAfter(tx: Tx, { esim, product }: DeliveredEsim, report: ReportedData): Promise<LowData> {
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
async function announceLowData(tx: Tx, { esim, product }: DeliveredEsim, threshold_percent: number) {
  const data = {
    iccid: esim.iccid,
    order_id: soldIn(esim),
    threshold_percent,
    data_usage: dataUsage(esim, product.data_amount_mb),
    reported_at: isoTime(esim.usage_at ?? tx.now),
  };
  await recordEvent(tx, { kind: "esim.data_low", ...audienceOf(esim), data });
}
