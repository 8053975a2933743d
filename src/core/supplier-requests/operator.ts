import { type Actor, recordAudit } from "../audit/record.ts";
import { readActivationCode } from "../esims/activation-code.ts";
import { type EsimRow, esimsOfIccid } from "../esims/esim.ts";
import { replaceSupplied } from "../esims/supplied.ts";
import { luhnValid } from "../kernel/check-digits.ts";
import { iccidFault, plainDigits } from "../kernel/iccid.ts";
import { invalid, Problem } from "../kernel/problem.ts";
import { type ItemRow, requireItem, sendAgain } from "../orders/items.ts";
import { type OrderRow, refuseSandboxOrder, requireOrder } from "../orders/order.ts";
import type { Read, Tx } from "../store/store.ts";
import { announceItem, applySupplyOutcome } from "./apply-outcome.ts";
import { attemptsOfItem, recordAttempt, type SuppliedEsim, type SupplyOutcome, saidOf } from "./outcome.ts";

/** Records that the supplier confirmed an item. Throws `not_found`, `conflict`. */
export async function confirmItem(tx: Tx, input: { id: string; number: string; actor: string }): Promise<ItemRow> {
  return decide(tx, input, "items.confirm", { kind: "confirmed", confirmationNumber: input.number });
}

/** An item that was delivered by hand. */
export interface ItemCompletion {
  id: string;
  /** If the supplier delivered an eSIM: its ICCID and whole activation code. Both or none. */
  iccid: string | null;
  activationCode: string | null;
  actor: string;
}

/** Records that the supplier delivered an item. Throws `not_found`, `conflict`, `validation`. */
export async function completeItem(tx: Tx, input: ItemCompletion): Promise<ItemRow> {
  const esims = esimsOf(input);
  return decide(tx, input, "items.complete", { kind: "activated", confirmationNumber: null, esims });
}

/** Records that the supplier will not deliver an item. Throws `not_found`, `conflict`. */
export async function failItem(
  tx: Tx,
  input: { id: string; errorType: string; errorMessage: string; actor: string },
): Promise<ItemRow> {
  const { errorType, errorMessage } = input;
  return decide(tx, input, "items.fail", { kind: "refused", errorType, errorMessage });
}

/** Sends an item that is stuck again, with the same reference. Throws `not_found`, `conflict` when it has ended. */
export async function retryItem(tx: Tx, input: { id: string; actor: string }): Promise<ItemRow> {
  const item = open(await requireItem(tx, input.id));
  const order = await orderOf(tx, item);
  await audit(tx, order, item, "items.retry", input.actor);
  tx.signal("fulfillment");
  return sendAgain(tx, item);
}

async function decide(tx: Tx, input: { id: string; actor: string }, action: string, outcome: SupplyOutcome) {
  const item = open(await requireItem(tx, input.id));
  await audit(tx, await orderOf(tx, item), item, action, input.actor);
  return applySupplyOutcome(tx, { id: item.id, outcome, attempt: { source: "operator" } });
}

async function orderOf(tx: Tx, item: ItemRow): Promise<OrderRow> {
  const order = await requireOrder(tx, item.order_id);
  refuseSandboxOrder(order);
  return order;
}

function open(item: ItemRow): ItemRow {
  if (item.status === "activated" || item.status === "failed" || item.status === "cancelled") {
    throw new Problem("conflict", `The order item is ${item.status} and stays so.`, {
      members: { current_status: item.status },
    });
  }
  return item;
}

function audit(tx: Tx, order: OrderRow, item: ItemRow, action: string, actor: string): Promise<void> {
  return recordAudit(tx, { actor, action, targetKind: "order_item", targetId: item.id, partnerId: order.partner_id });
}

/** The eSIM that staff typed; none where they typed none. Throws `validation`. */
function esimsOf(typed: Pick<ItemCompletion, "iccid" | "activationCode">): SuppliedEsim[] {
  const { activationCode } = typed;
  if (typed.iccid === null && activationCode === null) return [];
  if (typed.iccid === null || activationCode === null) {
    throw invalid({ [typed.iccid === null ? "iccid" : "activation_code"]: ["is required with the other one"] });
  }
  const iccid = plainDigits(typed.iccid);
  const fault = iccidFault(iccid, { least: 19 }) ?? (luhnValid(iccid) ? null : "has a wrong check digit");
  if (fault !== null) throw invalid({ iccid: [fault] });
  const code = readActivationCode(activationCode);
  if ("problems" in code) throw invalid({ activation_code: [code.problems] });
  return [{ iccid, ...code.ok, confirmation_code: null }];
}

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
