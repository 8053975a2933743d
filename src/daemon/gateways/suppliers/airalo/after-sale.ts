import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { FormData } from "undici";
import type { EsimRef, Returned } from "../../../../core/supply/provider.ts";
import type { Client } from "./client.ts";
import { faultWords } from "./reply.ts";
import { TextOrNumber } from "./values.ts";

const requested = Compile(Type.Object({ data: Type.Object({ refund_id: TextOrNumber }) }));

/** Asks for a refund of an eSIM. People at Airalo decide; the money comes as credit of the account. */
export async function requestRefund(client: Client, { iccid }: EsimRef): Promise<Returned> {
  const body = new FormData();
  body.append("iccids[]", iccid);
  body.append("reason", "OTHERS");
  body.append("notes", "Requested by the operator");
  const reply = await client.ask({ method: "POST", path: "/refund", body, own: { bucket: "refund", aMinute: 5 } });
  if (reply.kind !== "done") {
    // A refusal of this call may be a message without a code.
    const worded = reply.kind === "unclear" && reply.status === 422 && reply.code === null;
    const refused = worded || (reply.kind === "refused" && reply.because === "plan");
    return { outcome: refused ? "not_available" : "unknown", detail: faultWords(reply) };
  }
  if (!requested.Check(reply.body)) return { outcome: "unknown", detail: "Airalo's answer is not understood." };
  const reference = String(reply.body.data.refund_id);
  const detail = `Airalo has the request as ${reference}: its people decide, and a refund is credit of the account.`;
  return { outcome: "requested", detail, reference };
}

/** What asking for another eSIM comes to: Airalo exchanges none. */
export const noReplacement: Returned = {
  outcome: "not_available",
  detail: "Airalo exchanges no eSIMs: ask for a refund of this one, and sell another.",
};
