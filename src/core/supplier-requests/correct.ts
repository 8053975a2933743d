import { type Actor, recordAudit } from "../audit/record.ts";
import { type EsimRow, esimsOfIccid } from "../esims/esim.ts";
import { replaceSupplied } from "../esims/supplied.ts";
import { invalid, Problem } from "../kernel/problem.ts";
import { type ItemRow, requireItem } from "../orders/items.ts";
import { requireOrder } from "../orders/order.ts";
import type { Read, Tx } from "../store/store.ts";
import { announceItem } from "./apply-outcome.ts";
import { esimsOf } from "./operator.ts";
import { attemptsOfItem, recordAttempt, saidOf } from "./outcome.ts";

/**
 * Replaces the eSIM that was recorded for an item of one unit: its ICCID and codes. The eSIM keeps its id, so that its
 * links show the new code; activation.activated goes out again, with `corrected_at`. Throws `not_found`, `validation`,
 * `conflict` unless an eSIM was recorded for the item and never was in use.
 */
export async function correctItem(
  tx: Tx,
  input: { id: string; iccid: string | null; activationCode: string | null; actor: Actor },
): Promise<ItemRow> {
  const item = await requireItem(tx, input.id);
  const [correct] = esimsOf(input);
  if (correct === undefined) throw invalid({ iccid: ["is required for an order item, with its activation code"] });
  const recorded = await recordedEsim(tx, item);
  if (recorded.status !== "inactive") {
    throw new Problem("conflict", `The eSIM ${recorded.iccid} is ${recorded.status}: it is in use.`);
  }
  await replaceSupplied(tx, recorded, correct);
  const esims = [correct];
  await recordAttempt(tx, item, saidOf({ kind: "activated", confirmationNumber: null, esims }), { source: "operator" });
  const order = await requireOrder(tx, item.order_id);
  const [targetKind, fields] = ["order_item", ["iccid", "activation_code"]] as const;
  const about = { targetKind, targetId: item.id, partnerId: order.partner_id, fields: [...fields] };
  await recordAudit(tx, { actor: input.actor, action: "items.correct", ...about });
  await announceItem(tx, order, item, "activated", correct.iccid, { corrects: item.activated_at ?? tx.now });
  return item;
}

/** The one eSIM of an activated item: the newest attempt that delivered it names its ICCID. Throws `conflict`. */
async function recordedEsim(q: Read, item: ItemRow): Promise<EsimRow> {
  if (item.status !== "activated") {
    throw new Problem("conflict", `The order item is ${item.status}; only an activated one has an eSIM to correct.`, {
      members: { current_status: item.status },
    });
  }
  const delivered = (await attemptsOfItem(q, item.id)).findLast(({ outcome }) => outcome === "activated");
  const esims = await esimsOfIccid(q, delivered?.answer ?? "");
  const own = esims.find(({ line_id }) => line_id === item.line_id);
  if (own === undefined) throw new Problem("conflict", "No single eSIM is recorded for this order item.");
  return own;
}
