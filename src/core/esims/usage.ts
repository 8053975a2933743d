import { type Actor, recordAudit } from "../audit/record.ts";
import type { Checked } from "../kernel/checked.ts";
import type { Tx } from "../store/store.ts";
import { type DeliveredEsim, findRealEsim } from "./delivered.ts";
import type { EsimRow } from "./esim.ts";
import { announceLowData, lowDataAfter } from "./low-data.ts";
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

const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/;

/** Checks one line of a usage file, and names in words all that is wrong with it. */
export function checkUsageRow(values: Record<string, string>): Checked<UsageReport> {
  const problems: string[] = [];
  const text = (name: string) => (values[name] ?? "").trim();
  const megabytes = (name: string) => {
    const mb = Number(text(name));
    if (/^\d{1,15}$/.test(text(name))) return mb;
    problems.push(`${name} must be a whole number of megabytes`);
    return 0;
  };
  const words = (name: string) => {
    if (text(name).length > 100) problems.push(`${name} must be at most 100 characters`);
    return text(name) || null;
  };
  const iccid = text("iccid");
  if (!/^\d{19,20}$/.test(iccid)) problems.push("iccid must have 19 or 20 digits");
  const used_mb = megabytes("used_mb");
  const total_mb = text("total_mb") === "" ? null : megabytes("total_mb");
  const at = text("at") === "" ? null : Date.parse(text("at"));
  if (at !== null && (!MOMENT.test(text("at")) || Number.isNaN(at))) {
    problems.push("at must be a time as 2026-03-01T09:30:00Z");
  }
  const report = { iccid, used_mb, total_mb, country: words("country"), network: words("network"), at };
  return problems.length > 0 ? { problems } : { ok: report };
}
