import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { EsimRef, Returned } from "../../../../core/supply/provider.ts";
import { faultWords, shaped } from "../reply.ts";
import { TextOrNumber } from "../values.ts";
import { type Client, NAME } from "./client.ts";

const requested = Compile(Type.Object({ data: Type.Object({ refund_id: TextOrNumber }) }));

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
