import { changesOf } from "../audit/changes.ts";
import { type Actor, recordAudit } from "../audit/record.ts";
import type { EsimId, PartnerId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import type { Environment } from "../kernel/environment.ts";
import { Problem } from "../kernel/problem.ts";
import { assertMove, canMove } from "../kernel/state-machine.ts";
import { recordEvent } from "../outbox/record.ts";
import type { EsimStatus } from "../store/schema/values.ts";
import type { Tx } from "../store/store.ts";
import { type DeliveredEsim, requireRealEsim } from "./delivered.ts";
import { type EsimRow, esimTransitions } from "./esim.ts";
import { type EsimStatusRecord, soldIn, toEsimStatus } from "./status.ts";
import { changeEsim } from "./synthetic.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

type Progress = Pick<EsimRow, "status" | "status_at" | "activated_at" | "expires_at">;

/** Writes what changed of an eSIM's life; the status only moves as the transition table allows. */
export async function progressEsim(tx: Tx, known: DeliveredEsim, change: Partial<Progress>): Promise<DeliveredEsim> {
  const esim = { ...known.esim, ...change };
  if (esim.status !== known.esim.status) assertMove(esimTransitions, known.esim.status, esim.status);
  await changeEsim(tx, known.esim, change);
  return { ...known, esim };
}

/** Throws `conflict` unless the transition table has the move. */
export function refuseMove({ iccid, status }: EsimRow, to: EsimStatus): void {
  if (canMove(esimTransitions, status, to)) return;
  throw new Problem("conflict", `eSIM ${iccid} is ${status} and cannot become ${to}.`);
}

/**
 * Activates a delivered eSIM, or ends its suspension. The first time its validity begins, by its product's
 * validity_days as they are at that moment, and esim.activated goes out. One that is active stays as it is. Throws
 * `not_found`, `conflict`.
 */
export async function activateEsim(tx: Tx, input: { iccid: string; actor: Actor }): Promise<EsimStatusRecord> {
  const known = await requireRealEsim(tx, input.iccid);
  if (known.esim.status === "active") return toEsimStatus(known);
  refuseMove(known.esim, "active");
  return toEsimStatus(await makeActive(tx, known, { actor: input.actor, at: tx.now }));
}

/** An act or a report that moves an eSIM, and of when it is (ms). */
export interface EsimMove {
  actor: Actor;
  at: number;
}

/** Makes an eSIM active: again, or for the first time, with which its validity begins. */
export async function makeActive(tx: Tx, known: DeliveredEsim, { actor, at }: EsimMove): Promise<DeliveredEsim> {
  if (known.esim.activated_at === null) return beginValidity(tx, known, { actor, at });
  await auditMove(tx, known.esim, { action: "esims.activate", actor, status: "active" });
  return progressEsim(tx, known, { status: "active", status_at: at });
}

/**
 * Begins the validity of an eSIM that never was active, with esim.activated: until its supplier says it ends, else by
 * its product's validity_days. What happened after `at` is kept: one that was suspended later stays suspended.
 */
export async function beginValidity(
  tx: Tx,
  known: DeliveredEsim,
  { actor, at, until = null }: EsimMove & { until?: number | null },
): Promise<DeliveredEsim> {
  const { status, status_at } = known.esim;
  const newest = status_at === null || at > status_at;
  const next = newest || status !== "suspended" ? "active" : status;
  await auditMove(tx, known.esim, { action: "esims.activate", actor, status: next });
  const expires_at = until ?? at + known.product.validity_days * DAY_MS;
  const begun = await progressEsim(tx, known, {
    status: next,
    status_at: newest ? at : status_at,
    activated_at: at,
    expires_at,
  });
  await recordActivated(tx, begun, { activated_at: at, expires_at });
  return begun;
}

/** Suspends a delivered eSIM until it is activated again; a suspended one stays so. Throws `not_found`, `conflict`. */
export async function suspendEsim(tx: Tx, input: { iccid: string; actor: Actor }): Promise<EsimStatusRecord> {
  const known = await requireRealEsim(tx, input.iccid);
  if (known.esim.status === "suspended") return toEsimStatus(known);
  refuseMove(known.esim, "suspended");
  return toEsimStatus(await makeSuspended(tx, known, { actor: input.actor, at: tx.now }));
}

/** Suspends an eSIM until it is made active. */
export async function makeSuspended(tx: Tx, known: DeliveredEsim, { actor, at }: EsimMove): Promise<DeliveredEsim> {
  await auditMove(tx, known.esim, { action: "esims.suspend", actor, status: "suspended" });
  return progressEsim(tx, known, { status: "suspended", status_at: at });
}

function recordActivated(
  tx: Tx,
  { esim, line, product }: DeliveredEsim,
  moments: { activated_at: number; expires_at: number },
) {
  return recordEvent(tx, {
    kind: "esim.activated",
    ...audienceOf(esim),
    data: {
      iccid: esim.iccid,
      order_id: soldIn(esim),
      status: "active",
      activated_at: isoTime(moments.activated_at),
      product: { name: line.product_name, sku: line.product_sku, validity_days: product.validity_days },
      expires_at: isoTime(moments.expires_at),
    },
  });
}

/** The owner whose webhooks get events of an eSIM. */
export function audienceOf(esim: EsimRow): { partnerId: PartnerId; environment: Environment; subjectId: EsimId } {
  const { id, partner_id, environment } = esim;
  if (partner_id === null || environment === null) throw new Error("an eSIM in stock belongs to no partner");
  return { partnerId: partner_id, environment, subjectId: id };
}

interface Audited {
  action: string;
  actor: Actor;
  status: EsimStatus;
}

/** Records in the audit trail that an act moves an eSIM. */
export function auditMove(tx: Tx, esim: EsimRow, { action, actor, status }: Audited): Promise<void> {
  return recordAudit(tx, {
    actor,
    action,
    targetKind: "esim",
    targetId: esim.id,
    partnerId: esim.partner_id,
    fields: ["status"],
    changes: changesOf(esim, { status }, ["status"]),
  });
}
