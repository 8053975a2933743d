import { eq } from "drizzle-orm";
import { type Actor, recordAudit } from "../audit/record.ts";
import type { EsimId, PartnerId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import type { Environment } from "../kernel/environment.ts";
import { invalid, Problem } from "../kernel/problem.ts";
import { assertMove, canMove } from "../kernel/state-machine.ts";
import { recordEvent } from "../outbox/record.ts";
import type { EsimStatus } from "../store/schema/esims.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { type DeliveredEsim, requireRealEsim } from "./delivered.ts";
import type { EsimRow } from "./esim.ts";
import { esimTransitions } from "./esim-states.ts";
import { type EsimStatusRecord, soldIn, toEsimStatus } from "./status.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

type Progress = Pick<EsimRow, "status" | "activated_at" | "expires_at">;

const write = statement((db, t, slot: Slots<Progress & { id: EsimId }>) =>
  db
    .update(t.esims)
    .set({ status: slot.status, activated_at: slot.activated_at, expires_at: slot.expires_at })
    .where(eq(t.esims.id, slot.id)),
);

/** Writes what changed; the status only moves as the transition table allows. */
async function progress(tx: Tx, known: DeliveredEsim, change: Partial<Progress>): Promise<DeliveredEsim> {
  const esim = { ...known.esim, ...change };
  assertMove(esimTransitions, known.esim.status, esim.status);
  const { id, status, activated_at, expires_at } = esim;
  await write(tx, { id, status, activated_at, expires_at });
  return { ...known, esim };
}

function refuseMove({ iccid, status }: EsimRow, to: EsimStatus): void {
  if (canMove(esimTransitions, status, to)) return;
  throw new Problem("conflict", `eSIM ${iccid} is ${status} and cannot become ${to}.`);
}

/**
 * Activates a delivered eSIM, or takes its suspension back. The first time its validity begins, by its product's
 * validity_days as they are at that moment, and esim.activated goes out. One that is active stays as it is. `at` is the
 * moment the supplier names, if it does. Throws `not_found`, `conflict`, `validation` for a moment to come.
 */
export async function activateEsim(
  tx: Tx,
  input: { iccid: string; actor: Actor; at?: number },
): Promise<EsimStatusRecord> {
  const known = await requireRealEsim(tx, input.iccid);
  const activated_at = input.at ?? tx.now;
  if (activated_at > tx.now) throw invalid({ at: ["must not be in the future"] });
  if (known.esim.status === "active") return toEsimStatus(known);
  refuseMove(known.esim, "active");
  await auditMove(tx, known.esim, "esims.activate", input.actor);
  if (known.esim.activated_at !== null) return toEsimStatus(await progress(tx, known, { status: "active" }));
  const expires_at = activated_at + known.product.validity_days * DAY_MS;
  const active = await progress(tx, known, { status: "active", activated_at, expires_at });
  await recordActivated(tx, active, { activated_at, expires_at });
  return toEsimStatus(active);
}

/** Suspends a delivered eSIM until it is activated again; a suspended one stays so. Throws `not_found`, `conflict`. */
export async function suspendEsim(tx: Tx, input: { iccid: string; actor: Actor }): Promise<EsimStatusRecord> {
  const known = await requireRealEsim(tx, input.iccid);
  if (known.esim.status === "suspended") return toEsimStatus(known);
  refuseMove(known.esim, "suspended");
  await auditMove(tx, known.esim, "esims.suspend", input.actor);
  return toEsimStatus(await progress(tx, known, { status: "suspended" }));
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
      status: esim.status,
      activated_at: isoTime(moments.activated_at),
      product: { name: line.product_name, sku: line.product_sku, validity_days: product.validity_days },
      expires_at: isoTime(moments.expires_at),
    },
  });
}

/** Whose webhooks hear of an eSIM. */
export function audienceOf(esim: EsimRow): { partnerId: PartnerId; environment: Environment; subjectId: EsimId } {
  const { id, partner_id, environment } = esim;
  if (partner_id === null || environment === null) throw new Error("an eSIM in stock belongs to no partner");
  return { partnerId: partner_id, environment, subjectId: id };
}

function auditMove(tx: Tx, esim: EsimRow, action: string, actor: Actor): Promise<void> {
  return recordAudit(tx, {
    actor,
    action,
    targetKind: "esim",
    targetId: esim.id,
    partnerId: esim.partner_id,
    fields: ["status"],
  });
}
