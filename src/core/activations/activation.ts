import { and, desc, eq, or } from "drizzle-orm";
import { type Actor, recordAudit } from "../audit/record.ts";
import type { ActivationId } from "../kernel/brand.ts";
import { isoTime, isoTimeOrNull } from "../kernel/clock.ts";
import type { Owner } from "../kernel/owner.ts";
import { notFound, Problem } from "../kernel/problem.ts";
import { endingIn } from "../platform/iccid-ends.ts";
import { findByKey } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import type { FieldChange } from "../store/schema/values.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { customerOf } from "./customer.ts";
import { refuseDiffering, type Said } from "./differs.ts";

export type ActivationRow = Row<"activations">;

/** The request that holds an ICCID: pending, with the carrier, completed, or left to staff. */
const holder = statement((db, t, slot: Slots<{ iccid: string }>) =>
  db
    .select()
    .from(t.activations)
    .where(
      and(
        eq(t.activations.iccid, slot.iccid),
        or(
          eq(t.activations.status, "pending"),
          eq(t.activations.status, "processing"),
          eq(t.activations.status, "completed"),
          eq(t.activations.processing_status, "manual_required"),
        ),
      ),
    ),
);

/** The row of any partner's request, or null. */
export function activationById(q: Read, id: ActivationId): Promise<ActivationRow | null> {
  return findByKey(q, "activations", { id });
}

/** The row of any partner's request. Throws `not_found`. */
export async function requireActivation(q: Read, id: ActivationId): Promise<ActivationRow> {
  const row = await activationById(q, id);
  if (row === null) throw notFound("activation");
  return row;
}

/** The one request, of any partner and environment, that holds this ICCID; null: the ICCID is free. */
export async function holderOfIccid(q: Read, iccid: string): Promise<ActivationRow | null> {
  return first(await holder(q, { iccid }));
}

/** Which request is meant: by its id, or the open one of an ICCID. */
export type Target = { id: ActivationId } | { iccid: string };

/**
 * The owner's request: by id, or by ICCID its open one, pending or processing. Throws `not_found` when there is none,
 * and alike when it is another's.
 */
export async function requireOwnActivation(q: Read, owner: Owner, target: Target): Promise<ActivationRow> {
  const row = "id" in target ? await activationById(q, target.id) : await openByIccid(q, target.iccid);
  const own = row?.partner_id === owner.partnerId && row.environment === owner.environment;
  if (row === null || !own) throw "id" in target ? notFound("activation") : noOpenActivation();
  return row;
}

/** Throws `not_editable` unless the request is pending: with the carrier it can no longer be changed. */
export function requireEditable({ status }: Pick<ActivationRow, "status">): void {
  if (status === "pending") return;
  throw new Problem("not_editable", `This activation is ${status}; only a pending one can be changed.`, {
    members: { current_status: status },
  });
}

function noOpenActivation(): Problem {
  const words = "No open activation for this ICCID.";
  return new Problem("not_found", words, { members: { resource: "activation" } });
}

async function openByIccid(q: Read, iccid: string): Promise<ActivationRow | null> {
  const row = await holderOfIccid(q, iccid);
  return row?.status === "pending" || row?.status === "processing" ? row : null;
}

/** The detail record (contract: Activation detail record). No document, PUK or address is in it. */
export function toActivation(q: Pick<Read, "vault">, row: ActivationRow) {
  const { customer_name, customer_email, mobile_number } = customerOf(q, row);
  return {
    id: row.id,
    iccid: row.iccid,
    carrier: row.carrier,
    activation_date: row.activation_date,
    customer_name,
    status: row.status,
    processing_status: row.processing_status,
    processing_mode: row.processing_mode,
    mobile_number,
    confirmation_number: row.confirmation_number,
    error_type: row.error_type,
    error_message: row.error_message,
    plan_name: row.plan_name,
    note: row.note,
    customer_email,
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
    submitted_at: isoTimeOrNull(row.submitted_at),
    confirmed_at: isoTimeOrNull(row.confirmed_at),
    activated_at: isoTimeOrNull(row.activated_at),
    cancelled_at: isoTimeOrNull(row.cancelled_at),
  };
}

export type Activation = ReturnType<typeof toActivation>;

/** One request of the owner's (contract: GET /activations/{id}). Throws `not_found`. */
export async function showActivation(q: Read, input: { owner: Owner; id: ActivationId }): Promise<Activation> {
  return toActivation(q, await requireOwnActivation(q, input.owner, { id: input.id }));
}

interface Act {
  /** What was done: `activations.cancel`, `activations.edit`, … */
  action: string;
  actor: Actor;
  fields?: string[];
  changes?: readonly FieldChange[];
  note?: string | null;
}

/** Records in the audit trail what was done to a request, or read of it. */
export async function auditActivation(tx: Tx, row: ActivationRow, act: Act): Promise<void> {
  await recordAudit(tx, { ...act, targetKind: "activation", targetId: row.id, partnerId: row.partner_id });
}

interface Replacement extends Owner {
  iccid: string;
  activationDate: string;
  /** The partner agreed to have its pending request replaced. */
  confirmDateChange: boolean;
  /** What the new request says. */
  said: Said;
}

/**
 * Whether a new request may take its ICCID. Null: it is free. A row: the owner's own pending request, which is to be
 * cancelled for it. Throws `duplicate`, which says the same for every holder of the ICCID, or `date_conflict`.
 */
export async function requestToReplace(q: Read, asked: Replacement): Promise<ActivationRow | null> {
  const holder = await holderOfIccid(q, asked.iccid);
  if (holder === null) return null;
  const own = holder.partner_id === asked.partnerId && holder.environment === asked.environment;
  if (own && holder.activation_date === asked.activationDate) refuseDiffering(q, holder, asked.said);
  if (!own || holder.status !== "pending" || holder.activation_date === asked.activationDate) {
    throw new Problem("duplicate", "This ICCID was already submitted for activation.");
  }
  if (asked.confirmDateChange) return holder;
  throw new Problem(
    "date_conflict",
    `A request for this ICCID is pending for ${holder.activation_date}; confirm_date_change: true replaces it.`,
    { members: { existing_date: holder.activation_date, existing_request_id: holder.id } },
  );
}

const ofIccid = statement((db, t, slot: Slots<{ iccid: string }>) =>
  db.select().from(t.activations).where(eq(t.activations.iccid, slot.iccid)),
);

/** Every request for this ICCID, of any partner. */
export function activationsOfIccid(q: Read, iccid: string): Promise<ActivationRow[]> {
  return ofIccid(q, { iccid });
}

/** The newest requests by one column. */
function newestBy(column: "passport_index" | "request_id") {
  return statement((db, t, slot: Slots<{ value: string; limit: number }>) =>
    db
      .select()
      .from(t.activations)
      .where(eq(t.activations[column], slot.value))
      .orderBy(desc(t.activations.id))
      .limit(slot.limit),
  );
}

const ofPassport = newestBy("passport_index");
const ofRequest = newestBy("request_id");

/** The newest requests with the passport number of this blind index. */
export function activationsOfPassport(q: Read, value: string, limit: number): Promise<ActivationRow[]> {
  return ofPassport(q, { value, limit });
}

/** The newest requests that HTTP requests of this id made. */
export function activationsOfRequest(q: Read, value: string, limit: number): Promise<ActivationRow[]> {
  return ofRequest(q, { value, limit });
}

/** The newest requests for an ICCID that ends in these digits, four at least; of one owner or of all. */
export const activationsEndingIn = endingIn("activations");
