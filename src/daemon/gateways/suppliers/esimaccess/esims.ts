import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { EsimRef, EsimReportOf } from "../../../../core/supply/provider.ts";
import { readPages } from "../pages.ts";
import { mapped, type Reply, shaped, usable } from "../reply.ts";
import { installOf, nothingShown } from "../reports.ts";
import { maybe, momentOf } from "../values.ts";
import { type Client, NAME } from "./client.ts";
import { NOT_SHOWN } from "./codes.ts";

const Size = Type.Number({ minimum: 0 });
const Row = Type.Object({
  esimTranNo: Type.String({ minLength: 1 }),
  orderNo: Type.String({ minLength: 1 }),
  ...maybe(Type.String(), "transactionId", "iccid", "ac", "smdpStatus", "esimStatus", "activateTime", "expiredTime"),
  ...maybe(Size, "totalVolume", "orderUsage"),
  ...maybe(Type.Array(Type.Object(maybe(Type.String(), "esimTranNo", "transactionId"))), "packageList"),
});
/** An eSIM as /esim/query shows it. */
export type EsimRow = Type.Static<typeof Row>;
const list = Compile(Type.Object({ esimList: Type.Union([Type.Array(Row), Type.Null()]) }));

const UsageRow = Type.Object({ esimTranNo: Type.String(), ...maybe(Size, "dataUsage", "totalData") });
const UsageRows = Type.Array(UsageRow);
// Clients name the list; a copy of the reference has nothing around it.
const usages = Compile(Type.Union([UsageRows, Type.Object({ esimUsageList: UsageRows })]));

const PAGE_SIZE = 500;
/** At 8 calls a second no hour has as many orders as so many pages. */
const MOST_PAGES = 60;
/** Usage is answered for so many at once. */
const AT_ONCE = 10;
const MEGABYTE = 1_048_576;

/** Asks for rows, page by page. A page with a row of another form is no answer: it may be the one looked for. */
export function queryRows(client: Client, filter: object, waitMs?: number): Promise<Reply<EsimRow[]>> {
  const read = async (pageNum: number) => {
    const asked = { ...filter, pager: { pageNum, pageSize: PAGE_SIZE } };
    return mapped(shaped(await client("/esim/query", asked, waitMs), list), ({ esimList }) => esimList ?? []);
  };
  return readPages({ most: MOST_PAGES, read, nameOf: ({ esimTranNo }) => esimTranNo, size: PAGE_SIZE });
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
    const usage = shaped(await client("/esim/usage/query", { esimTranNoList }), usages);
    // Without an answer of its own, usage is what the row says.
    const used =
      usage.kind === "done" ? [usage.value].flatMap((one) => ("esimUsageList" in one ? one.esimUsageList : one)) : [];
    for (const esim of some) {
      const answer = await queryRows(client, { esimTranNo: esim.reference });
      const rows = isNotShown(answer) ? [] : usable(NAME, answer);
      const row = rows.find(({ esimTranNo }) => esimTranNo === esim.reference);
      const own = used.find(({ esimTranNo }) => esimTranNo === esim.reference);
      if (row !== undefined) reports.push({ ...esim, ...reportOf(row, own), at: now() });
    }
  }
  return reports;
}

/** Whether a reply says that what was asked for is not there, or not yet. */
export function isNotShown(reply: Reply): boolean {
  return reply.kind === "unclear" && NOT_SHOWN.includes(reply.code ?? "");
}

function reportOf(row: EsimRow, own: Type.Static<typeof UsageRow> | undefined) {
  // Both are hours late, each in its own time; what is used never becomes less.
  const seen = [row.orderUsage, own?.dataUsage].filter((one) => typeof one === "number");
  const total = row.totalVolume ?? own?.totalData ?? null;
  const activatedAt = momentOf(row.activateTime);
  const isBegun = activatedAt !== null || seen.some((bytes) => bytes > 0);
  const status = statuses[row.esimStatus ?? ""] ?? "unknown";
  return {
    ...nothingShown,
    install: installOf(row.smdpStatus),
    // An enabled one may be IN_USE before it is used.
    status: row.esimStatus === "IN_USE" && isBegun ? "active" : status,
    usedMb: seen.length > 0 ? Math.round(Math.max(...seen) / MEGABYTE) : null,
    totalMb: total === null ? null : Math.round(total / MEGABYTE),
    activatedAt,
    expiresAt: momentOf(row.expiredTime),
  } as const;
}

// One that was given back or revoked has no word of its own: it is unknown.
const statuses: Readonly<Record<string, EsimReportOf["status"]>> = {
  GOT_RESOURCE: "inactive",
  IN_USE: "inactive",
  USED_UP: "used_up",
  USED_EXPIRED: "expired",
  UNUSED_EXPIRED: "expired",
  SUSPENDED: "suspended",
};
