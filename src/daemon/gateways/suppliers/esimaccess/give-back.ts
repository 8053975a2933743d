import type { Returned } from "../../../../core/supply/provider.ts";
import { reasonOf } from "../reply.ts";
import type { Client } from "./client.ts";
import { WRONG_STATE } from "./codes.ts";
import { queryRows } from "./esims.ts";

/** Cancels the eSIM with this esimTranNo, if it was never downloaded; asking again is safe. */
export async function giveBack(client: Client, esimTranNo: string): Promise<Returned> {
  const reply = await client("/esim/cancel", { esimTranNo });
  const detail = "It is canceled; its price is back on the balance.";
  const done: Returned = { outcome: "done", detail, reference: esimTranNo, replacement: null };
  if (reply.kind === "done") return done;
  const isRefused = reply.kind === "unclear" && reply.code === WRONG_STATE;
  if (!isRefused) return { outcome: "unknown", detail: `Cancel: ${reasonOf(reply)}.` };
  // A cancel whose answer was lost is refused when it is repeated: the eSIM itself shows which of both it was.
  const answer = await queryRows(client, { esimTranNo });
  if (answer.kind !== "done") return { outcome: "unknown", detail: `After the cancel: ${reasonOf(answer)}.` };
  const row = answer.value.find((one) => one.esimTranNo === esimTranNo);
  if (row?.esimStatus === "CANCEL") return done;
  const state = `${row?.esimStatus ?? "not shown"}, ${row?.smdpStatus ?? "not shown"}`;
  const isOpen = row === undefined || state === "GOT_RESOURCE, RELEASED";
  if (isOpen) return { outcome: "unknown", detail: `It refuses the cancel of an eSIM that is ${state}.` };
  const words = `Only an eSIM that was never downloaded can be canceled; this one is ${state}.`;
  return { outcome: "not_available", detail: words };
}
