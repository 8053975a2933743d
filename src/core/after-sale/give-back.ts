import { and, desc, eq } from "drizzle-orm";
import { listAudit } from "../audit/list.ts";
import { type Actor, recordAudit } from "../audit/record.ts";
import { readActivationCode } from "../esims/activation-code.ts";
import { soldEsim } from "../esims/delivered.ts";
import type { EsimRow } from "../esims/esim.ts";
import { makeExpired } from "../esims/expire.ts";
import { replaceSupplied } from "../esims/supplied.ts";
import type { EsimId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import { newId } from "../kernel/ids.ts";
import { notFound, Problem } from "../kernel/problem.ts";
import { requireOrder } from "../orders/order.ts";
import { findByKey, insert, updateRow } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import type { ReturnKind, ReturnOutcome } from "../store/schema/values.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { announceItem } from "../supplier-requests/apply-outcome.ts";
import { recordAttempt, saidOf } from "../supplier-requests/outcome.ts";
import { findSupplier, isProvider } from "../suppliers/supplier.ts";
import { firstLook } from "../supply/looks.ts";
import type { BoughtEsim, EsimRef, Returned } from "../supply/provider.ts";
import { itemOf, postGivenBack, type Repaid, repayUnit, requireClear, type Sold } from "./given-back.ts";

type ReturnRow = Row<"esimReturns">;

/** What was asked for of an eSIM after its sale, and how it ended. */
export interface ReturnAnswer {
  iccid: string;
  outcome: Exclude<ReturnOutcome, "asked">;
  /** What went back to the partner, in minor units of the order's currency. */
  amount_cents: number;
  currency: string;
  detail: string;
}

/** What is asked of a supplier. */
interface ReturnRequest {
  id: EsimId;
  kind: ReturnKind;
  /** Only refunds have it. */
  repaid?: Repaid;
  actor: Actor;
}

/**
 * What comes next: an answer that is known, `since` when if it ended so before, or the supplier is asked, and
 * `endReturn` gets its answer.
 */
export type BegunReturn =
  | { answer: ReturnAnswer; since: string | null }
  | { returnId: string; supplier: string; ref: EsimRef };

const newest = statement((db, t, slot: Slots<{ esim_id: EsimId; kind: ReturnKind }>) =>
  db
    .select()
    .from(t.esimReturns)
    .where(and(eq(t.esimReturns.esim_id, slot.esim_id), eq(t.esimReturns.kind, slot.kind)))
    .orderBy(desc(t.esimReturns.created_at), desc(t.esimReturns.id))
    .limit(1),
);

/** What was asked for last of an eSIM; null: nothing was. */
export async function lastReturn(q: Read, input: { esim_id: EsimId; kind: ReturnKind }): Promise<ReturnRow | null> {
  return first(await newest(q, input));
}

/**
 * Notes that a supplier is asked to take an eSIM back, or for another one, before it is asked: the process may end at
 * any moment, and asking again is safe. What was done or requested before is answered as it ended then. Throws
 * `not_found`, `conflict` for the sandbox, `conflict` for another one in the place of one that has ended, and
 * `validation` where it has to be said whether a refund was repaid before.
 */
export async function beginReturn(tx: Tx, { id, kind, repaid, actor }: ReturnRequest): Promise<BegunReturn> {
  const esim = await requireSold(tx, id);
  const { currency } = await requireOrder(tx, esim.order_id);
  const before = await lastReturn(tx, { esim_id: id, kind });
  if (before !== null && (before.outcome === "done" || before.outcome === "requested")) {
    return { answer: answerOf(esim, before), since: await endedAt(tx, before) };
  }
  const unasked = await unaskable(tx, esim);
  if (unasked !== null) {
    const { iccid } = esim;
    return { answer: { iccid, outcome: "not_available", amount_cents: 0, currency, detail: unasked }, since: null };
  }
  if (kind === "replace" && esim.status === "expired") {
    throw new Problem("conflict", `The eSIM ${esim.iccid} has expired: nothing takes its place.`);
  }
  if (kind === "refund") await requireClear(tx, esim, repaid);
  const begun = { supplier: esim.supplier ?? "", ref: { iccid: esim.iccid, reference: esim.supplier_ref } };
  if (before?.outcome === "asked") return { returnId: before.id, ...begun };
  const returnId = newId<string>(tx);
  const row = { id: returnId, esim_id: id, kind, outcome: "asked", amount_cents: 0, currency } as const;
  await insert(tx, "esimReturns", [{ ...row, detail: null, reference: null, actor, created_at: tx.now }]);
  await audited(tx, esim, { kind, actor, note: `asked of ${begun.supplier}` });
  return { returnId, ...begun };
}

/** An eSIM that was sold for money. Throws `not_found`, and `conflict` for the sandbox. */
export async function requireSold(q: Read, id: EsimId): Promise<Sold> {
  const known = await soldEsim(q, id);
  if (known === null) throw notFound("esim");
  const { order_id, environment, iccid } = known.esim;
  if (order_id === null || environment !== "production") {
    throw new Problem("conflict", `The eSIM ${iccid} is the sandbox's: nothing was bought for it.`);
  }
  return { ...known.esim, order_id };
}

/** Why no supplier can be asked; null: one can. */
async function unaskable(q: Read, { supplier }: EsimRow): Promise<string | null> {
  const repay = "The partner is repaid by orders refund.";
  if (supplier === null) return `It came from stock: no supplier can be asked. ${repay}`;
  const row = await findSupplier(q, supplier);
  if (row !== null && isProvider(row.adapter)) return null;
  return `${supplier} has no API for this: write to it. ${repay}`;
}

/** How what was asked for last of an eSIM ended, and when; null: nothing was asked for, or it has not ended. */
export async function endedReturn(
  q: Read,
  input: { esim_id: EsimId; kind: ReturnKind },
): Promise<{ outcome: "done" | "not_available"; since: string; detail: string | null } | null> {
  const last = await lastReturn(q, input);
  if (last === null || last.outcome === "asked" || last.outcome === "requested") return null;
  return { outcome: last.outcome, since: await endedAt(q, last), detail: last.detail };
}

function answerOf({ iccid }: EsimRow, { outcome, amount_cents, currency, detail }: ReturnRow): ReturnAnswer {
  if (outcome === "asked") throw new Error("what is only asked for has not ended");
  return { iccid, outcome, amount_cents, currency, detail: detail ?? "" };
}

/** When it ended as it did: the audit trail has it, where it was not long ago. Else when it was asked for. */
async function endedAt(q: Read, { esim_id, kind, outcome, created_at }: ReturnRow): Promise<string> {
  const trail = await listAudit(q, { target: esim_id, limit: 100 });
  return trail.find(({ action, note }) => action === `esims.${kind}` && note === outcome)?.at ?? isoTime(created_at);
}

function audited(tx: Tx, esim: EsimRow, { kind, actor, note }: { kind: ReturnKind; actor: Actor; note: string }) {
  const target = { targetKind: "esim", targetId: esim.id, partnerId: esim.partner_id };
  return recordAudit(tx, { actor, action: `esims.${kind}`, ...target, note });
}

const finish = statement((db, t, slot: Slots<{ id: string; from: ReturnOutcome; outcome: ReturnOutcome }>) =>
  db
    .update(t.esimReturns)
    .set({ outcome: slot.outcome })
    .where(and(eq(t.esimReturns.id, slot.id), eq(t.esimReturns.outcome, slot.from)))
    .returning(),
);

/**
 * Applies a supplier's answer, once: money and eSIM follow only what is done. An answer that leaves it open, or cannot
 * be used, throws `supplier_unreachable`; then it can be asked again.
 */
export async function endReturn(
  tx: Tx,
  { returned, ...given }: { returnId: string; returned: Returned; repaid?: Repaid; actor: Actor },
): Promise<ReturnAnswer> {
  if (returned.outcome === "unknown") throw unusable(returned.detail);
  return closeReturn(tx, { ...given, from: "asked", returned });
}

/** How one that was asked for, or requested, ended. */
interface Closed {
  returnId: string;
  from: "asked" | "requested";
  returned: Exclude<Returned, { outcome: "unknown" }>;
  repaid?: Repaid;
  actor: Actor;
}

/** Ends one that is still as it is said to be, and answers how it ended; else how it ended before. */
export async function closeReturn(tx: Tx, { returnId, from, returned, repaid, actor }: Closed): Promise<ReturnAnswer> {
  const ended = first(await finish(tx, { id: returnId, from, outcome: returned.outcome }));
  const row = ended ?? (await findByKey(tx, "esimReturns", { id: returnId }));
  if (row === null) throw new Error("what was asked for was noted");
  const esim = await requireSold(tx, row.esim_id);
  // Asked twice at the same time: the other one applied it.
  if (ended === null) return answerOf(esim, row);
  const applied =
    returned.outcome === "done" ? await apply(tx, esim, { ...row, returned, repaid, actor }) : { amount_cents: 0 };
  const { detail } = returned;
  const reference = "reference" in returned ? returned.reference : row.reference;
  await updateRow(tx, "esimReturns", { id: returnId }, { ...applied, detail, reference });
  await audited(tx, esim, { kind: row.kind, actor, note: returned.outcome });
  return answerOf(await requireSold(tx, row.esim_id), { ...row, ...applied, detail });
}

function unusable(detail: string): Problem {
  return new Problem("supplier_unreachable", `It is not known yet whether the supplier did it: ${detail}`);
}

type Done = Extract<Returned, { outcome: "done" }>;

async function apply(
  tx: Tx,
  esim: Sold,
  { kind, returned, repaid, actor }: Pick<ReturnRow, "kind"> & { returned: Done; repaid: Repaid; actor: Actor },
): Promise<{ amount_cents: number }> {
  if (kind === "replace") {
    if (returned.replacement === null) throw unusable("it names no eSIM in the place of this one.");
    await putInPlace(tx, esim, returned.replacement);
    return { amount_cents: 0 };
  }
  const amount_cents = await repayUnit(tx, esim, { actor, repaid, reason: `eSIM ${esim.iccid} was given back` });
  await postGivenBack(tx, esim, returned);
  const known = await soldEsim(tx, esim.id);
  if (known !== null && esim.status !== "expired") await makeExpired(tx, known, { actor, at: tx.now });
  await updateRow(tx, "esims", { id: esim.id }, { look_at: null });
  return { amount_cents };
}

/** The eSIM keeps its id, so that its links show the new code; its traveler's event goes out again. */
async function putInPlace(tx: Tx, esim: Sold, by: BoughtEsim): Promise<void> {
  const code = readActivationCode(by.activationCode);
  if ("problems" in code) throw unusable("the eSIM in the place of this one has no valid activation code.");
  const { iccid, confirmationCode: confirmation_code, reference } = by;
  const replacement = { iccid, ...code.ok, confirmation_code, reference };
  const item = await itemOf(tx, esim);
  await replaceSupplied(tx, esim, replacement);
  const unused = { install_state: null, used_mb: null, total_mb: null, usage_at: null, low_data_percent: null };
  await updateRow(tx, "esims", { id: esim.id }, { ...unused, look_at: await firstLook(tx, esim.supplier ?? "") });
  if (item === null) return;
  const said = saidOf({ kind: "activated", confirmationNumber: null, esims: [replacement] });
  await recordAttempt(tx, item, said, { source: "operator" });
  const order = await requireOrder(tx, esim.order_id);
  await announceItem(tx, order, item, "activated", iccid, { corrects: item.activated_at ?? tx.now });
}
