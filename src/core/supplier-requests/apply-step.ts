import { readActivationCode } from "../esims/activation-code.ts";
import type { OrderItemId } from "../kernel/brand.ts";
import { retryAt } from "../kernel/fault-retries.ts";
import { holdOrder } from "../orders/finish.ts";
import { type ItemRow, lineOfItem, progressItem, requireItem } from "../orders/items.ts";
import { requireOrder } from "../orders/order.ts";
import type { Lease } from "../platform/lease.ts";
import type { Memory } from "../store/schema/values.ts";
import type { Tx } from "../store/store.ts";
import { noteAccountFault, noteFault, noteSuccess, returnPassage, type Witness } from "../supply/circuit.ts";
import { costPaid, postCost } from "../supply/costs.ts";
import { releaseHold, takeHold } from "../supply/hold.ts";
import type { Step } from "../supply/provider.ts";
import { routeUnit } from "../supply/route.ts";
import { applySupplyOutcome } from "./apply-outcome.ts";
import { itemLeases } from "./due.ts";
import { recordAttempt } from "./outcome.ts";
import { moveElsewhere, routeItem } from "./place.ts";

/**
 * How long a purchase waits for another one of the same plan: so much longer after each claim, up to the longest. Where
 * hundreds wait, looking every second would take all the time of the one that is under way.
 */
const HELD_MS = 1_000;
const LONGEST_HELD_WAIT_MS = 30_000;
/** A plan that one purchase has for so long is not waited for where there is another source. */
const LONGEST_HELD_MS = 10_000;
/** How long a unit that is being made ready waits at most before it is asked for again. */
const LONGEST_WAIT_MS = 10_000;
/** How long after its purchase a unit must be ready. */
const READY_WITHIN_MS = 48 * 3_600_000;

/** How a step ended that is not the last of its run. */
export type Ended = Exclude<Step, { kind: "note" | "applied" }>;

/**
 * Keeps what an adapter is about to do, before it does it. False: the lease was lost, the item has ended, or another
 * purchase of the plan is under way; then nothing may be sent.
 */
export async function noteStep(
  tx: Tx,
  input: Pick<StepEnd, "probe"> & { lease: Lease<"orderItems">; memory: Memory | null; hold: string | null },
): Promise<boolean> {
  if ((await itemLeases.heldUntil(tx, input.lease)) === null) return false;
  const item = await requireItem(tx, input.lease.id);
  const { supplier } = item;
  const { hold: plan } = input;
  if (plan === null) await releaseHold(tx, { holder: item.id });
  const heldSince = plan === null ? null : await takeHold(tx, { supplier, plan, holder: item.id });
  if (heldSince !== null) {
    await returnPassage(tx, { supplier, probe: input.probe });
    const leaves = item.memory === null && tx.now - heldSince >= LONGEST_HELD_MS;
    if (!leaves || !(await moveElsewhere(tx, item, "held by another unit of the plan"))) {
      const waitMs = Math.min(HELD_MS * item.lease_no, LONGEST_HELD_WAIT_MS);
      await itemLeases.release(tx, { lease: input.lease, dueAt: tx.now + waitMs });
    }
    return false;
  }
  await itemLeases.prolong(tx, input.lease);
  await progressItem(tx, item, { memory: input.memory });
  return true;
}

/** A step of a purchase that ended. */
export interface StepEnd {
  id: OrderItemId;
  leaseNo: number;
  /** See `Taken` of the circuit. */
  probe: number | null;
  step: Ended;
  /** What was kept before the last note: of what was never sent nothing is to be looked up. */
  before: Memory | null;
  /** Whether this run announced something: what looks for an earlier purchase and finds none shows no fault. */
  noted: boolean;
  latencyMs: number;
}

/**
 * Applies how a step of a purchase ended to the item, its order, its supplier's circuit and the ledger of costs, in one
 * transaction. What was bought costs, also where its item has ended meanwhile.
 */
export async function applyStep(tx: Tx, input: StepEnd): Promise<ItemRow> {
  const { step } = input;
  const item = await requireItem(tx, input.id);
  const witness = { supplier: item.supplier, probe: input.probe };
  if (step.kind === "bought") return bought(tx, item, step, input);
  if (step.kind !== "busy") await recordAttempt(tx, item, saidOf(step), attemptOf(input));
  if (item.lease_no !== input.leaseNo || item.leased_until === null) return item;
  switch (step.kind) {
    case "busy":
      // Nothing is under way: it may be bought elsewhere next.
      if (input.before === null) await releaseHold(tx, { holder: item.id });
      await returnPassage(tx, witness);
      return later(tx, item, { memory: input.before, waitMs: step.waitMs });
    case "wait":
      await noteSuccess(tx, witness);
      return wait(tx, item, step);
    case "refused":
      return refused(tx, item, step, witness);
    case "unsent":
      await noteFault(tx, { ...witness, reason: step.reason });
      return unsent(tx, item, step.reason, input.before);
    case "unknown":
      if (input.noted) await noteFault(tx, { ...witness, reason: step.reason });
      return later(tx, item, step);
    case "lost":
      return lost(tx, item, step);
  }
}

function attemptOf({ latencyMs }: StepEnd) {
  return { source: "request", latencyMs } as const;
}

/** What support sees of a step. */
function saidOf(step: Exclude<Ended, { kind: "busy" | "bought" }>): { outcome: string; answer: string | null } {
  if (step.kind === "refused") return { outcome: "refused", answer: `${step.code}: ${step.detail ?? step.message}` };
  return { outcome: step.kind, answer: step.kind === "wait" ? null : step.reason };
}

async function bought(
  tx: Tx,
  item: ItemRow,
  { esim, reference, cost }: Extract<Step, { kind: "bought" }>,
  input: StepEnd,
): Promise<ItemRow> {
  const { supplier } = item;
  await noteSuccess(tx, { supplier, probe: input.probe });
  await releaseHold(tx, { holder: item.id });
  const code = readActivationCode(esim.activationCode);
  if ("problems" in code) {
    const reason = `what ${supplier} delivered has no valid activation code`;
    return lost(tx, item, { kind: "lost", reason, memory: item.memory ?? {} });
  }
  if (item.status !== "activated") await postUnit(tx, item, { cost, reference });
  const esims = [
    { iccid: esim.iccid, ...code.ok, confirmation_code: esim.confirmationCode, reference: esim.reference },
  ];
  const outcome = { kind: "activated", confirmationNumber: reference, esims } as const;
  return applySupplyOutcome(tx, { id: item.id, outcome, attempt: attemptOf(input), leaseNo: input.leaseNo });
}

/** Posts what a unit cost, which its item then has; nothing where that is not known. */
async function postUnit(
  tx: Tx,
  item: ItemRow,
  { cost, reference }: { cost: number | null; reference: string | null },
): Promise<void> {
  const paid = await costPaid(tx, item, cost);
  if (paid === null) return;
  const {
    supplier,
    order_id: orderId,
    line_id: lineId,
    id: itemId,
    quantity: units,
  } = await progressItem(tx, item, paid);
  const { partner_id: partnerId } = await requireOrder(tx, orderId);
  const posted = { supplier, currency: paid.cost_currency, cost: paid.cost, units, reference };
  await postCost(tx, { kind: "purchase", ...posted, partnerId, orderId, lineId, itemId });
}

function later(tx: Tx, item: ItemRow, { memory, waitMs }: { memory: Memory | null; waitMs: number }): Promise<ItemRow> {
  return progressItem(tx, item, { memory, due_at: tx.now + waitMs, leased_until: null });
}

type Waiting = Extract<Step, { kind: "wait" }>;

async function wait(tx: Tx, item: ItemRow, { memory, waitMs, holds = false }: Waiting): Promise<ItemRow> {
  if (!holds) await releaseHold(tx, { holder: item.id });
  const deadline_at = item.deadline_at ?? tx.now + READY_WITHIN_MS;
  const submitted = item.status === "pending" ? ({ status: "submitted", submitted_at: tx.now } as const) : {};
  const due_at = tx.now + Math.min(waitMs, LONGEST_WAIT_MS);
  return progressItem(tx, item, { ...submitted, memory, deadline_at, due_at, leased_until: null });
}

type Refused = Extract<Step, { kind: "refused" }>;

/** Goes to the next source; without one the item is refused for good. */
async function refused(tx: Tx, item: ItemRow, step: Refused, witness: Witness): Promise<ItemRow> {
  const { supplier } = item;
  await releaseHold(tx, { holder: item.id });
  if (step.because === "account") await noteAccountFault(tx, { ...witness, reason: step.message });
  else await noteSuccess(tx, witness);
  const refused_by = [...(item.refused_by ?? []), supplier];
  const asked = await progressItem(tx, item, { refused_by, memory: null });
  const { product_id: productId } = await lineOfItem(tx, item);
  const next = await routeUnit(tx, { productId, refusedBy: refused_by });
  if (next.kind !== "none") return (await routeItem(tx, asked, productId))?.item ?? requireItem(tx, item.id);
  return applySupplyOutcome(tx, { id: item.id, outcome: refusalOf(step), attempt: null });
}

/** What a partner reads of a refusal: of the operator's account there it says nothing. */
function refusalOf({ because, code, message }: Refused) {
  if (because === "plan") return { kind: "refused", errorType: code, errorMessage: message } as const;
  return { kind: "refused", errorType: "not_available", errorMessage: "It cannot be bought at present." } as const;
}

/** Nothing was bought: another source that can be asked has it, else it is repeated here. */
async function unsent(tx: Tx, item: ItemRow, reason: string, memory: Memory | null): Promise<ItemRow> {
  if (memory === null) await releaseHold(tx, { holder: item.id });
  // What an earlier step bought stays here.
  if (memory === null && (await moveElsewhere(tx, item, "not reached"))) return requireItem(tx, item.id);
  const attempts = item.attempts + 1;
  const due_at = retryAt(tx.now, attempts);
  const cause = `the supplier ${item.supplier} could not be reached`;
  if (due_at === null) await holdOrder(tx, await requireOrder(tx, item.order_id), `${cause}: ${reason}`, cause);
  return progressItem(tx, item, { memory, attempts, due_at, leased_until: null });
}

/** It may be bought, and no look-up shows it: people decide, and nothing is bought again by itself. */
async function lost(tx: Tx, item: ItemRow, { reason, memory }: Extract<Step, { kind: "lost" }>): Promise<ItemRow> {
  await releaseHold(tx, { holder: item.id });
  const cause = `it is not known whether ${item.supplier} has sold a unit`;
  await holdOrder(tx, await requireOrder(tx, item.order_id), `${cause}: ${reason}`, cause);
  return progressItem(tx, item, { memory, due_at: null, leased_until: null });
}
