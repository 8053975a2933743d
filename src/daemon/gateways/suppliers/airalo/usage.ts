import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { EsimRef, EsimReportOf } from "../../../../core/supply/provider.ts";
import { usageCall } from "./limits.ts";
import type { Buying } from "./purchase.ts";
import { faultWords, unreachable } from "./reply.ts";
import { Maybe, momentOf, TextOrNumber } from "./values.ts";

const usage = Compile(
  Type.Object({
    data: Type.Object({
      status: Type.String(),
      remaining: Maybe(TextOrNumber),
      total: Maybe(TextOrNumber),
      expired_at: Maybe(Type.String()),
      is_unlimited: Maybe(Type.Boolean()),
    }),
  }),
);

const statuses: Readonly<Record<string, EsimReportOf["status"]>> = {
  NOT_ACTIVE: "inactive",
  ACTIVE: "active",
  FINISHED: "used_up",
  EXPIRED: "expired",
};

/** An eSIM that was taken back for good: all that is known is that nothing is. */
const RECYCLED = "73";

/**
 * What Airalo knows of these eSIMs; of those that it does not know, or that got no answer, nothing. Whether a phone has
 * one shows nowhere, and answers may be 20 minutes old. Throws `supplier_unreachable` when none got a usable answer.
 */
export async function lookAt(buying: Buying, esims: readonly EsimRef[]): Promise<EsimReportOf[]> {
  const reports: EsimReportOf[] = [];
  const faults: string[] = [];
  for (const esim of esims) {
    const looked = await lookAtOne(buying, esim);
    if (typeof looked === "string") faults.push(looked);
    else if (looked !== null) reports.push(looked);
  }
  const [fault] = faults;
  if (fault !== undefined && faults.length === esims.length) throw unreachable(fault);
  return reports;
}

/** Null: there is no such eSIM; a text: why there is no usable answer. */
async function lookAtOne({ client, now }: Buying, esim: EsimRef): Promise<EsimReportOf | string | null> {
  const { iccid } = esim;
  const path = `/sims/${encodeURIComponent(iccid)}/usage`;
  const reply = await client.ask({ method: "GET", path, limits: usageCall(iccid) });
  if (reply.kind === "refused" && reply.code === "404") return null;
  if (reply.kind === "refused" && reply.code === RECYCLED) return { ...unseen(esim), at: now() };
  if (reply.kind !== "done") return faultWords(reply);
  if (!usage.Check(reply.body)) return "Airalo's usage of the eSIM is not understood.";
  const { status, remaining, total, expired_at, is_unlimited } = reply.body.data;
  const state = statuses[status] ?? "unknown";
  // A recycled eSIM says 0 of 0; so does an unlimited one.
  const counts = state !== "unknown" && is_unlimited !== true;
  const [totalMb, leftMb] = counts ? [amountOf(total), amountOf(remaining)] : [null, null];
  return {
    ...unseen(esim),
    status: state,
    usedMb: totalMb === null || leftMb === null ? null : Math.max(0, totalMb - leftMb),
    totalMb,
    expiresAt: momentOf(expired_at),
    at: now(),
  };
}

function unseen({ iccid, reference }: EsimRef): Omit<EsimReportOf, "at"> {
  return {
    ...{ iccid, reference, install: null, status: "unknown", usedMb: null, totalMb: null },
    ...{ activatedAt: null, expiresAt: null, country: null, network: null },
  };
}

function amountOf(value: string | number | null | undefined): number | null {
  const amount = value === null || value === undefined || value === "" ? Number.NaN : Number(value);
  return Number.isFinite(amount) && amount >= 0 ? amount : null;
}
