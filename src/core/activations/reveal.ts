import { desc, eq } from "drizzle-orm";
import type { Actor } from "../audit/record.ts";
import type { ActivationId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import type { Secret } from "../kernel/secret.ts";
import type { Row } from "../store/schema/tables.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { type Activation, auditActivation, requireActivation, toActivation } from "./activation.ts";
import { customerOf } from "./customer.ts";
import { type Kyc, openKyc } from "./identity.ts";

const attemptsOf = statement((db, t, slot: Slots<{ activation_id: ActivationId }>) =>
  db
    .select()
    .from(t.activationAttempts)
    .where(eq(t.activationAttempts.activation_id, slot.activation_id))
    .orderBy(t.activationAttempts.at, t.activationAttempts.id),
);

/** One exchange with the carrier, for support. */
export type Attempt = ReturnType<typeof toAttempt>;

/** What was exchanged about a request, oldest first. */
export async function attemptsOfActivation(q: Read, id: ActivationId): Promise<Attempt[]> {
  return (await attemptsOf(q, { activation_id: id })).map(toAttempt);
}

function toAttempt(row: Row<"activationAttempts">) {
  const { at, source, outcome, status_code, latency_ms, answer, request_id } = row;
  return { at: isoTime(at), source, outcome, status_code, latency_ms, answer, request_id };
}

/** Any partner's request, with all that staff type into a carrier's portal. */
export interface RevealedActivation {
  activation: Activation;
  customer_phone: string | null;
  /** Null once it was purged. */
  identity: Secret<Kyc> | null;
  attempts: Attempt[];
}

/** Reads a request with its identity for an operator; the audit trail keeps who did. Throws `not_found`. */
export async function revealActivation(tx: Tx, input: { id: ActivationId; actor: Actor }): Promise<RevealedActivation> {
  const row = await requireActivation(tx, input.id);
  const identity = openKyc(tx, row);
  const kyc = identity?.reveal();
  const fields = Object.entries(kyc ?? {}).flatMap(([name, value]) => (value === null ? [] : [name]));
  await auditActivation(tx, row, { action: "activations.reveal", actor: input.actor, fields });
  const attempts = await attemptsOfActivation(tx, row.id);
  const { customer_phone } = customerOf(tx, row);
  return { activation: toActivation(tx, row), customer_phone, identity, attempts };
}

const calledBack = statement((db, t, slot: Slots<{ request_id: string; limit: number }>) =>
  db
    .select({ id: t.activationAttempts.activation_id })
    .from(t.activationAttempts)
    .where(eq(t.activationAttempts.request_id, slot.request_id))
    .orderBy(desc(t.activationAttempts.id))
    .limit(slot.limit),
);

/** The requests that the newest callbacks under this HTTP request's id were about. */
export async function activationsCalledBack(q: Read, request_id: string, limit: number): Promise<ActivationId[]> {
  return (await calledBack(q, { request_id, limit })).map(({ id }) => id);
}
