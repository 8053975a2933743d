import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { InstallState } from "../../../../core/store/schema/values.ts";
import type { EsimRef, EsimReportOf } from "../../../../core/supply/provider.ts";
import { type Client, Count, listOf, PEOPLE_WAIT_MS, type Reply, Text, unreachable } from "./client.ts";
import { NOT_SHOWN } from "./codes.ts";

const Row = Type.Object({
  esimTranNo: Type.String({ minLength: 1 }),
  orderNo: Type.String({ minLength: 1 }),
  transactionId: Text,
  iccid: Text,
  ac: Text,
  smdpStatus: Text,
  esimStatus: Text,
  activateTime: Text,
  expiredTime: Text,
  totalVolume: Count,
  orderUsage: Count,
  packageList: listOf(Type.Object({ esimTranNo: Text, transactionId: Text })),
});
/** The rows found, or why there are none. */
type Rows = { rows: EsimRow[] } | { failed: Reply };
/** An eSIM as /esim/query shows it. */
export type EsimRow = Type.Static<typeof Row>;
const list = Compile(Type.Object({ esimList: Type.Union([Type.Array(Row), Type.Null()]) }));

const UsageRows = Type.Array(Type.Object({ esimTranNo: Type.String(), dataUsage: Count, totalData: Count }));
// Clients name the list; a copy of the reference has nothing around it.
const usages = Compile(Type.Union([UsageRows, Type.Object({ esimUsageList: UsageRows })]));

const PAGE_SIZE = 500;
/** At 8 calls a second no hour has as many orders as so many pages. */
const MOST_PAGES = 60;
/** Usage is answered for so many at once. */
const AT_ONCE = 10;
const MEGABYTE = 1_048_576;

/** Asks for rows, page by page. A page with a row of another form is no answer: it may be the one looked for. */
export async function queryRows(client: Client, filter: object, waitMs?: number): Promise<Rows> {
  const rows: EsimRow[] = [];
  for (let pageNum = 1; pageNum <= MOST_PAGES; pageNum += 1) {
    const reply = await client("/esim/query", { ...filter, pager: { pageNum, pageSize: PAGE_SIZE } }, waitMs);
    if (reply.kind !== "done" || !list.Check(reply.obj)) return { failed: reply };
    const page = reply.obj.esimList ?? [];
    rows.push(...page);
    if (page.length < PAGE_SIZE) return { rows };
  }
  return { failed: { kind: "unclear", reason: "its list of eSIMs has no end" } };
}

/**
 * What the provider shows of eSIMs. Only those whose esimTranNo is known are asked for: an ICCID may be another eSIM's
 * by now. Throws `supplier_unreachable`.
 */
export async function lookAt(client: Client, esims: readonly EsimRef[], now: () => number): Promise<EsimReportOf[]> {
  const reports: EsimReportOf[] = [];
  const named = esims.filter(({ reference }) => reference !== null);
  for (let from = 0; from < named.length; from += AT_ONCE) {
    const some = named.slice(from, from + AT_ONCE);
    const esimTranNoList = some.map(({ reference }) => reference);
    const usage = await client("/esim/usage/query", { esimTranNoList }, PEOPLE_WAIT_MS);
    for (const esim of some) {
      const answer = await queryRows(client, { esimTranNo: esim.reference }, PEOPLE_WAIT_MS);
      const rows = "rows" in answer ? answer.rows : [];
      if ("failed" in answer && !isNotShown(answer.failed)) throw unreachable(answer.failed);
      const row = rows.find(({ esimTranNo }) => esimTranNo === esim.reference);
      if (row !== undefined) reports.push(reportOf(esim, row, usage, now()));
    }
  }
  return reports;
}

/** Whether a reply says that what was asked for is not there, or not yet. */
export function isNotShown(reply: Reply): boolean {
  return reply.kind === "code" && NOT_SHOWN.includes(reply.code);
}

function reportOf(esim: EsimRef, row: EsimRow, usage: Reply, at: number): EsimReportOf {
  // Without an answer of its own, usage is what the row says.
  const obj = usage.kind === "done" && usages.Check(usage.obj) ? usage.obj : [];
  const own = ("esimUsageList" in obj ? obj.esimUsageList : obj).find((one) => one.esimTranNo === row.esimTranNo);
  // Both are hours late, each in its own time; what is used never becomes less.
  const seen = [row.orderUsage, own?.dataUsage].filter((one) => typeof one === "number");
  const usedMb = seen.length > 0 ? Math.round(Math.max(...seen) / MEGABYTE) : null;
  const total = row.totalVolume ?? own?.totalData ?? null;
  const activatedAt = momentOf(row.activateTime);
  const isBegun = activatedAt !== null || seen.some((bytes) => bytes > 0);
  return {
    ...esim,
    install: installs.get(row.smdpStatus ?? "") ?? null,
    // An enabled one may be IN_USE before it is used.
    status: row.esimStatus === "IN_USE" && isBegun ? "active" : (statuses.get(row.esimStatus ?? "") ?? "unknown"),
    usedMb,
    totalMb: total === null ? null : Math.round(total / MEGABYTE),
    activatedAt,
    expiresAt: momentOf(row.expiredTime),
    country: null,
    network: null,
    at,
  };
}

const installs = new Map<string, InstallState>([
  ["RELEASED", "not_downloaded"],
  ["DOWNLOAD", "downloaded"],
  ["INSTALLATION", "installed"],
  ["ENABLED", "enabled"],
  ["DISABLED", "disabled"],
  ["DELETED", "deleted"],
]);

// One that was given back or revoked has no word of its own: it is unknown.
const statuses = new Map<string, EsimReportOf["status"]>([
  ["GOT_RESOURCE", "inactive"],
  ["IN_USE", "inactive"],
  ["USED_UP", "used_up"],
  ["USED_EXPIRED", "expired"],
  ["UNUSED_EXPIRED", "expired"],
  ["SUSPENDED", "suspended"],
]);

/** A moment (ms) as 2026-09-27T19:29:36+0000; without an offset it is UTC. Null: none. */
function momentOf(text: string | null | undefined): number | null {
  const zoned = /(Z|[+-]\d\d:?\d\d)$/.test(text ?? "") ? text : `${text}Z`;
  return Date.parse(zoned ?? "") || null;
}
