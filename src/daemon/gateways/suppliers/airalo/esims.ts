import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { EsimRef, EsimReportOf, Returned } from "../../../../core/supply/provider.ts";
import { done, mapped, notReturned, type Reply, shaped } from "../reply.ts";
import type { Shown } from "../reports.ts";
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

/** What Airalo knows of an eSIM: not whether a phone has it, and up to 20 minutes late. Null: there is no such one. */
export async function usageOf({ ask }: Client, { iccid }: EsimRef): Promise<Reply<Shown | null>> {
  const own = { bucket: `usage ${iccid}`, aMinute: 10 };
  const reply = await ask({ method: "GET", path: `/sims/${encodeURIComponent(iccid)}/usage`, own });
  if (reply.kind === "refused" && reply.code === "404") return done(null);
  // It was recycled.
  if (reply.kind === "refused" && reply.code === "73") return done({ status: "unknown" });
  return mapped(shaped(reply, usage), ({ data }) => {
    const status = statuses[data.status] ?? "unknown";
    // A recycled eSIM says 0 of 0; so does an unlimited one.
    const counts = status !== "unknown" && data.is_unlimited !== true;
    const [totalMb, leftMb] = counts ? [amountOf(data.total), amountOf(data.remaining)] : [null, null];
    const usedMb = totalMb === null || leftMb === null ? null : Math.max(0, totalMb - leftMb);
    return { status, usedMb, totalMb, expiresAt: momentOf(data.expired_at) };
  });
}

function amountOf(value: string | number | null | undefined): number | null {
  const amount = Number(value ?? Number.NaN);
  return value !== "" && Number.isFinite(amount) && amount >= 0 ? amount : null;
}

/** Asks for a refund of an eSIM. People at Airalo decide; the money comes as credit of the account. */
export async function requestRefund({ ask }: Client, { iccid }: EsimRef): Promise<Returned> {
  const form = { "iccids[]": iccid, reason: "OTHERS", notes: "Requested by the operator" };
  const own = { bucket: "refund", aMinute: 5 };
  const reply = shaped(await ask({ method: "POST", path: "/refund", form, own }), requested);
  if (reply.kind === "done") {
    const reference = String(reply.value.data.refund_id);
    const detail = `Airalo has the request as ${reference}: its people decide, and a refund is credit of the account.`;
    return { outcome: "requested", detail, reference };
  }
  // A refusal of this call may be a message without a code.
  const worded = reply.kind === "unclear" && reply.code === "422";
  return { ...notReturned(NAME, reply), ...(worded && { outcome: "not_available" }) };
}
