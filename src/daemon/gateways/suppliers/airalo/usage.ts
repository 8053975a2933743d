import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { EsimRef, EsimReportOf } from "../../../../core/supply/provider.ts";
import type { Client } from "./client.ts";
import { faultWords, unreachable } from "./reply.ts";
import { Maybe, TextOrNumber } from "./values.ts";

const Usage = Type.Object({
  status: Type.String(),
  remaining: Maybe(TextOrNumber),
  total: Maybe(TextOrNumber),
  expired_at: Maybe(Type.String()),
  is_unlimited: Maybe(Type.Boolean()),
});
const usage = Compile(Type.Object({ data: Usage }));

const statuses: Readonly<Record<string, EsimReportOf["status"]>> = {
  ...{ NOT_ACTIVE: "inactive", ACTIVE: "active", FINISHED: "used_up", EXPIRED: "expired" },
};

/**
 * What Airalo knows of these eSIMs, and nothing where it does not know one, or gave no answer. Whether a phone has it
 * shows nowhere, and answers may be 20 minutes old. Throws `supplier_unreachable` when none got a usable answer.
 */
export async function lookAt(client: Client, now: () => number, esims: readonly EsimRef[]): Promise<EsimReportOf[]> {
  const looked: Awaited<ReturnType<typeof lookAtOne>>[] = [];
  for (const esim of esims) looked.push(await lookAtOne(client, now, esim));
  const faults = looked.filter((one) => typeof one === "string");
  if (faults[0] !== undefined && faults.length === esims.length) throw unreachable(faults[0]);
  return looked.flatMap((one) => (typeof one === "string" || one === null ? [] : one));
}

/** Null: there is no such eSIM; a text: why there is no usable answer. */
async function lookAtOne(client: Client, now: () => number, esim: EsimRef): Promise<EsimReportOf | string | null> {
  const own = { bucket: `usage ${esim.iccid}`, aMinute: 10 };
  const reply = await client.ask({ method: "GET", path: `/sims/${encodeURIComponent(esim.iccid)}/usage`, own });
  if (reply.kind === "refused" && reply.code === "404") return null;
  const recycled = reply.kind === "refused" && reply.code === "73";
  if (reply.kind !== "done" && !recycled) return faultWords(reply);
  const body = reply.kind === "done" ? reply.body : { data: { status: "RECYCLED" } };
  if (!usage.Check(body)) return "Airalo's usage of the eSIM is not understood.";
  const { remaining, total, expired_at, is_unlimited } = body.data;
  const status = statuses[body.data.status] ?? "unknown";
  // A recycled eSIM says 0 of 0; so does an unlimited one.
  const counts = status !== "unknown" && is_unlimited !== true;
  const [totalMb, leftMb] = counts ? [amountOf(total), amountOf(remaining)] : [null, null];
  const usedMb = totalMb === null || leftMb === null ? null : Math.max(0, totalMb - leftMb);
  return {
    ...{ iccid: esim.iccid, reference: esim.reference, install: null, status, usedMb, totalMb },
    ...{ activatedAt: null, expiresAt: momentOf(expired_at), country: null, network: null, at: now() },
  };
}

function amountOf(value: string | number | null | undefined): number | null {
  const amount = Number(value ?? Number.NaN);
  return value !== "" && Number.isFinite(amount) && amount >= 0 ? amount : null;
}

/** A moment such as "2026-03-02 09:30:00", which has no zone and is taken as UTC; null: it is none. */
function momentOf(text: string | null | undefined): number | null {
  const at = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(text ?? "")
    ? Date.parse(`${text?.replace(" ", "T")}Z`)
    : Number.NaN;
  return Number.isNaN(at) ? null : at;
}
