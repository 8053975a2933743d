import { recordAudit } from "../audit/record.ts";
import { retryAt } from "../kernel/fault-retries.ts";
import type { Lease } from "../platform/lease.ts";
import { findByKey, updateRow } from "../store/rows.ts";
import type { Memory } from "../store/schema/values.ts";
import type { Tx } from "../store/store.ts";
import { noteAccountFault, noteFault, noteSuccess, returnPassage } from "../supply/circuit.ts";
import { costPaid, postCost } from "../supply/costs.ts";
import { releaseHold, takeHold } from "../supply/hold.ts";
import type { Step } from "../supply/provider.ts";
import { topupLeases } from "./due.ts";
import { applyTopup, failTopup } from "./end.ts";
import type { TopupRow } from "./topup.ts";

/** How long a top-up waits for another purchase of its plan (ms). */
const HOLD_WAIT_MS = 3_000;

/** How one step of a leased top-up ended. */
export interface TopupStep {
  lease: Lease<"topups">;
  /** See `Taken` of the circuit. */
  probe: number | null;
  step: Step;
  /** What was remembered before this run noted that it was about to buy; left out: it noted nothing. */
  before?: Memory | null;
  /** The supplier could not even be asked: what an earlier step announced may have been done. */
  unasked?: boolean;
}

/**
 * Writes down how a step ended, in one transaction with all that follows from it; `again`: the next one follows at
 * once. Once another worker has the top-up, or it has ended, nothing is written.
 */
export async function applyTopupStep(tx: Tx, input: TopupStep): Promise<"again" | "ended"> {
  const topup = await findByKey(tx, "topups", { id: input.lease.id });
  if (topup === null || topup.lease_no !== input.lease.no || topup.leased_until === null) return "ended";
  if (topup.status !== "paid") return "ended";
  const { step } = input;
  if (step.kind === "note") return note(tx, topup, step, input);
  await settle(tx, topup, input);
  return "ended";
}

type Noted = Extract<Step, { kind: "note" }>;

async function note(tx: Tx, topup: TopupRow, step: Noted, { lease, probe }: TopupStep): Promise<"again" | "ended"> {
  const { supplier } = topup;
  const { hold: plan, memory } = step;
  if (plan === undefined) await releaseHold(tx, { holder: topup.id });
  else if (supplier === null || (await takeHold(tx, { supplier, plan, holder: topup.id })) !== null) {
    if (supplier !== null) await returnPassage(tx, { supplier, probe });
    await later(tx, topup, { waitMs: HOLD_WAIT_MS });
    return "ended";
  }
  await updateRow(tx, "topups", { id: topup.id }, { memory, updated_at: tx.now });
  return (await topupLeases.prolong(tx, lease)) ? "again" : "ended";
}

async function settle(tx: Tx, topup: TopupRow, input: TopupStep): Promise<void> {
  const { step } = input;
  const { supplier } = topup;
  if (supplier === null) throw new Error("a top-up of the sandbox has no steps");
  const witness = { supplier, probe: input.probe };
  switch (step.kind) {
    case "applied":
      await noteSuccess(tx, witness);
      await postTopup(tx, topup, step);
      await applyTopup(tx, { ...topup, ...(await remember(tx, topup, step.reference)) });
      return;
    case "refused":
      if (step.because === "account") await noteAccountFault(tx, { ...witness, reason: step.message });
      else await noteSuccess(tx, witness);
      await failTopup(tx, topup, refusalWords(step));
      return;
    case "unsent":
      await noteFault(tx, { ...witness, reason: step.reason });
      return retryLater(tx, topup, input, step.reason);
    case "busy":
      await returnPassage(tx, witness);
      return later(tx, topup, { waitMs: step.waitMs, ...(await undone(tx, topup, input)) });
    case "wait":
      // It is bought: no other purchase is taken for it any more.
      if (step.holds !== true) await releaseHold(tx, { holder: topup.id });
      return later(tx, topup, { waitMs: step.waitMs, memory: step.memory, attempts: 0 });
    case "unknown":
      // A look-up that finds nothing shows no fault.
      if (input.before !== undefined) await noteFault(tx, { ...witness, reason: step.reason });
      return later(tx, topup, { waitMs: step.waitMs, memory: step.memory, reason: step.reason });
    case "lost":
      return leaveToStaff(tx, topup, { memory: step.memory, reason: step.reason });
    case "bought":
      // An answer to another question: whatever it was, people have to look.
      return leaveToStaff(tx, topup, { reason: "the supplier answered as for a new eSIM" });
    case "note":
      throw new Error("what is noted is no end");
  }
}

type Applied = Extract<Step, { kind: "applied" }>;

/** Posts what a top-up cost; nothing where that is not known. */
async function postTopup(tx: Tx, topup: TopupRow, { cost, reference }: Applied): Promise<void> {
  const { supplier, partner_id: partnerId, order_id: orderId, esim_id: esimId, id: topupId } = topup;
  const paid = supplier === null ? null : await costPaid(tx, { ...topup, supplier }, cost);
  if (paid === null) return;
  const posted = { supplier, currency: paid.cost_currency, cost: paid.cost, units: 1, reference };
  await postCost(tx, { kind: "topup", ...posted, partnerId, orderId, esimId, topupId });
}

/** Keeps the supplier's own order with the top-up. */
async function remember(tx: Tx, { id, memory }: TopupRow, reference: string | null): Promise<Pick<TopupRow, "memory">> {
  if (reference === null) return { memory };
  const kept = { memory: { ...memory, reference } };
  await updateRow(tx, "topups", { id }, kept);
  return kept;
}

/** What a partner reads of a refusal: of the operator's account there it says nothing. */
function refusalWords({ because, message }: Extract<Step, { kind: "refused" }>): string {
  return because === "plan" ? `the supplier refused: ${message}` : "the supplier cannot sell it at present";
}

type Later = { waitMs: number } & Partial<Pick<TopupRow, "memory" | "reason" | "attempts">>;

async function later(tx: Tx, { id }: TopupRow, { waitMs, ...change }: Later): Promise<void> {
  const due_at = tx.now + Math.max(0, waitMs);
  await updateRow(tx, "topups", { id }, { ...change, due_at, leased_until: null, updated_at: tx.now });
}

/** Where this run announced a purchase that then did not happen, it is forgotten that it was announced. */
async function undone(
  tx: Tx,
  topup: TopupRow,
  { before = topup.memory }: TopupStep,
): Promise<Pick<TopupRow, "memory">> {
  if (before === null) await releaseHold(tx, { holder: topup.id });
  return { memory: before };
}

/** Nothing was bought: it is asked for again later, and after the last time the money goes back. */
async function retryLater(tx: Tx, topup: TopupRow, input: TopupStep, reason: string): Promise<void> {
  const attempts = topup.attempts + 1;
  const due_at = retryAt(tx.now, attempts);
  const change = await undone(tx, topup, input);
  if (due_at !== null) return later(tx, topup, { waitMs: due_at - tx.now, attempts, reason, ...change });
  if (input.unasked === true && topup.memory !== null) return leaveToStaff(tx, topup, { reason });
  await failTopup(tx, topup, "the supplier could not be reached");
}

/** It may be bought, and nothing more can be learned by itself: it stays paid until people decide. */
async function leaveToStaff(
  tx: Tx,
  topup: TopupRow,
  { reason, memory = topup.memory }: { reason: string; memory?: Memory | null },
): Promise<void> {
  const { id: targetId, partner_id: partnerId } = topup;
  await releaseHold(tx, { holder: topup.id });
  const idle = { due_at: null, leased_until: null, updated_at: tx.now };
  await updateRow(tx, "topups", { id: topup.id }, { reason, memory, ...idle });
  const note = "its outcome is not known";
  await recordAudit(tx, { actor: "worker", action: "topups.hold", targetKind: "topup", targetId, partnerId, note });
}
