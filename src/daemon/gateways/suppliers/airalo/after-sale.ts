import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { FormData } from "undici";
import type { EsimRef, Returned } from "../../../../core/supply/provider.ts";
import type { Client } from "./client.ts";
import { refundCall } from "./limits.ts";
import { faultWords } from "./reply.ts";
import { TextOrNumber } from "./values.ts";

const requested = Compile(Type.Object({ data: Type.Object({ refund_id: TextOrNumber }) }));

/** Asks for a refund of an eSIM. People at Airalo decide; the money comes as credit of the account. */
export async function requestRefund(client: Client, { iccid }: EsimRef): Promise<Returned> {
  const body = new FormData();
  body.append("iccids[]", iccid);
  body.append("reason", "OTHERS");
  body.append("notes", "Requested by the operator");
  const reply = await client.ask({ method: "POST", path: "/refund", body, limits: refundCall });
  if (reply.kind === "done") {
    if (!requested.Check(reply.body)) return { outcome: "unknown", detail: "Airalo's answer is not understood." };
    const reference = String(reply.body.data.refund_id);
    const detail = `Airalo has the request as ${reference}: its people decide, and a refund is credit of the account.`;
    return { outcome: "requested", detail, reference };
  }
  // A refusal of this call may have a message and no code.
  const refused = reply.kind === "refused" ? reply.because === "plan" : reply.kind === "unclear" && isRefusal(reply);
  return { outcome: refused ? "not_available" : "unknown", detail: faultWords(reply) };
}

function isRefusal({ status, reason }: { status: number | null; reason: string }): boolean {
  return status === 422 && !reason.includes(", code ");
}

/** What `replace` answers: Airalo exchanges no eSIM. */
export const noReplacement: Returned = {
  outcome: "not_available",
  detail: "Airalo exchanges no eSIMs: ask for a refund of this one, and sell another.",
};
