import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { EsimRef, EsimReportOf, Returned } from "../../../../core/supply/provider.ts";
import { faultWords, type Reply, shaped, unclear, usable } from "../reply.ts";
import { nothingShown } from "../reports.ts";
import { maybe, momentOf, TextOrNumber } from "../values.ts";
import { type Client, NAME } from "./client.ts";

const Usage = Type.Object({
  status: Type.String(),
  ...maybe(TextOrNumber, "remaining", "total"),
  ...maybe(Type.String(), "expired_at"),
  ...maybe(Type.Boolean(), "is_unlimited"),
});
const usage = Compile(Type.Object({ data: Usage }));
const requested = Compile(Type.Object({ data: Type.Object({ refund_id: TextOrNumber }) }));

const statuses: Readonly<Record<string, EsimReportOf["status"]>> = {
  ...{ NOT_ACTIVE: "inactive", ACTIVE: "active", FINISHED: "used_up", EXPIRED: "expired" },
};

/**
 * What Airalo knows of these eSIMs, and nothing where it does not know one, or gave no answer. Whether a phone has it
 * shows nowhere, and answers may be 20 minutes old. Throws `supplier_unreachable` when none got a usable answer.
 */
export async function lookAt(client: Client, now: () => number, esims: readonly EsimRef[]): Promise<EsimReportOf[]> {
  const looked: Reply<EsimReportOf | null>[] = [];
  for (const esim of esims) looked.push(await lookAtOne(client, now, esim));
  const answered = looked.filter(({ kind }) => kind === "done");
  return (answered.length > 0 ? answered : looked).flatMap((one) => usable(NAME, one) ?? []);
}

/** Null: there is no such eSIM. */
async function lookAtOne(client: Client, now: () => number, esim: EsimRef): Promise<Reply<EsimReportOf | null>> {
  const own = { bucket: `usage ${esim.iccid}`, aMinute: 10 };
  const reply = await client.ask({ method: "GET", path: `/sims/${encodeURIComponent(esim.iccid)}/usage`, own });
  const value = { ...esim, ...nothingShown, status: "unknown" as const, at: now() };
  if (reply.kind === "refused" && reply.code === "404") return { kind: "done", value: null, at: null };
  // It was recycled.
  if (reply.kind === "refused" && reply.code === "73") return { kind: "done", value, at: null };
  if (reply.kind !== "done") return reply;
  if (!usage.Check(reply.value)) return unclear("its usage of the eSIM is not understood");
  const { remaining, total, expired_at, is_unlimited, ...data } = reply.value.data;
  const status = statuses[data.status] ?? "unknown";
  // A recycled eSIM says 0 of 0; so does an unlimited one.
  const counts = status !== "unknown" && is_unlimited !== true;
  const [totalMb, leftMb] = counts ? [amountOf(total), amountOf(remaining)] : [null, null];
  const usedMb = totalMb === null || leftMb === null ? null : Math.max(0, totalMb - leftMb);
  return { ...reply, value: { ...value, status, usedMb, totalMb, expiresAt: momentOf(expired_at) } };
}

function amountOf(value: string | number | null | undefined): number | null {
  const amount = Number(value ?? Number.NaN);
  return value !== "" && Number.isFinite(amount) && amount >= 0 ? amount : null;
}

/** Asks for a refund of an eSIM. People at Airalo decide; the money comes as credit of the account. */
export async function requestRefund(client: Client, { iccid }: EsimRef): Promise<Returned> {
  const form = Object.entries({ "iccids[]": iccid, reason: "OTHERS", notes: "Requested by the operator" });
  const own = { bucket: "refund", aMinute: 5 };
  const reply = shaped(await client.ask({ method: "POST", path: "/refund", form, own }), requested);
  if (reply.kind !== "done") {
    // A refusal of this call may be a message without a code.
    const worded = reply.kind === "unclear" && reply.code === "422";
    const refused = worded || (reply.kind === "refused" && reply.because === "plan");
    return { outcome: refused ? "not_available" : "unknown", detail: faultWords(NAME, reply) };
  }
  const reference = String(reply.value.data.refund_id);
  const detail = `Airalo has the request as ${reference}: its people decide, and a refund is credit of the account.`;
  return { outcome: "requested", detail, reference };
}
