import { and, eq, isNotNull, lte, sql } from "drizzle-orm";
import { carrierSecret, requireCarrier } from "../carriers/carrier.ts";
import type { ActivationId } from "../kernel/brand.ts";
import { type Environment, productionFirst } from "../kernel/environment.ts";
import { notFound, Problem } from "../kernel/problem.ts";
import { Secret } from "../kernel/secret.ts";
import { dueKeys, dueNow } from "../platform/due-keys.ts";
import { type Lease, leaseOn, leasesOf, maySend } from "../platform/lease.ts";
import { applyOnce, eventTime, type SignedCallback } from "../platform/signed-callback.ts";
import type { CarrierAdapter } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { type ActivationRow, activationById } from "./activation.ts";
import { type Kyc, openKycIfReadable } from "./identity.ts";
import { applyOutcome, type CarrierOutcome, leftToStaff } from "./outcome.ts";
import { progressActivation } from "./states.ts";

/** How long a worker may take for one exchange before another takes it over; longer than any carrier's timeout (ms). */
const EXCHANGE_LEASE_MS = 60_000;

const leases = leasesOf("activations", EXCHANGE_LEASE_MS);

/** One exchange to be made with a carrier, and all that it takes. */
export interface CarrierExchange {
  /** The idempotency reference: the same however often it is tried. */
  id: ActivationId;
  lease: Lease<"activations">;
  carrier: {
    prefix: string;
    name: string;
    adapter: CarrierAdapter;
    url: string | null;
    insecure: boolean;
    secret: Secret | null;
    timeoutMs: number;
  };
  iccid: string;
  activationDate: string;
  planName: string | null;
  identity: Secret<Kyc> | null;
  /** Exchanges that were made before this one. */
  exchanges: number;
}

/** What is due with one carrier, of one environment. */
export interface CarrierQueue {
  environment: Environment;
  carrier: string;
}

const claim = leases.claimer<CarrierQueue>((t, slot) =>
  and(
    eq(t.activations.environment, slot.environment),
    eq(t.activations.carrier_prefix, slot.carrier),
    // Must match the partial index predicate exactly.
    sql`status = 'processing' and due_at is not null`,
  ),
);

const carriers = dueKeys<{ environment: Environment }>({
  table: (t) => sql`${t.activations}`,
  key: "carrier_prefix",
  waits: (slot) => sql`environment = ${slot.environment} and status = 'processing' and due_at is not null`,
});

/** The carriers with whom exchanges are due, production first, and in how many ms the next one's will be. */
export async function waitingExchanges(q: Read, _input: null): Promise<{ due: CarrierQueue[]; waitMs: number | null }> {
  const queues: (CarrierQueue & { due_at: number })[] = [];
  for (const environment of productionFirst) {
    for (const { key, due_at } of await carriers(q, { environment }))
      queues.push({ environment, carrier: key, due_at });
  }
  return dueNow(q, queues);
}

/** Leases up to `room` due exchanges of a queue, oldest first; a lease that ran out is taken over. */
export async function claimExchanges(tx: Tx, input: CarrierQueue & { room: number }): Promise<CarrierExchange[]> {
  const { environment, carrier: prefix, room } = input;
  const rows = await claim(tx, { environment, carrier: prefix, limit: room });
  if (rows.length === 0) return [];
  const { name, adapter, url, insecure, secret_sealed, timeout_ms: timeoutMs } = await requireCarrier(tx, prefix);
  const secret = secret_sealed === null ? null : new Secret(tx.vault.open(secret_sealed, carrierSecret(prefix)));
  const carrier = { prefix, name, adapter, url, insecure, secret, timeoutMs };
  const exchanges: CarrierExchange[] = [];
  for (const row of rows) {
    const identity = openKycIfReadable(tx, row);
    // The carrier must not get a request without its documents, and the others need not wait for it.
    if (identity === "unreadable") await leaveUnreadable(tx, row);
    else exchanges.push(exchangeOf(row, carrier, identity));
  }
  return exchanges;
}

async function leaveUnreadable(tx: Tx, row: ActivationRow): Promise<void> {
  const words = "The identity data of this request cannot be read; staff take care of it.";
  await progressActivation(tx, row, { ...leftToStaff("identity_unreadable", words), leased_until: null });
}

function exchangeOf(
  row: ActivationRow,
  carrier: CarrierExchange["carrier"],
  identity: Secret<Kyc> | null,
): CarrierExchange {
  return {
    id: row.id,
    lease: leaseOn<"activations">(row),
    carrier,
    iccid: row.iccid,
    activationDate: row.activation_date,
    planName: row.plan_name,
    identity,
    exchanges: row.exchanges,
  };
}

/** Asked right before an exchange: false once another worker may have it, or there is nothing to ask any more. */
export async function mayExchange(q: Read, lease: Lease<"activations">): Promise<boolean> {
  const until = await leases.heldUntil(q, lease);
  return until !== null && maySend({ until }, q.now);
}

const overdue = statement((db, t, slot: Slots<{ now: number; limit: number }>) =>
  db
    .select()
    .from(t.activations)
    // One that is being asked about just now is due later: its answer may be the final one.
    .where(
      and(
        isNotNull(t.activations.deadline_at),
        lte(t.activations.deadline_at, slot.now),
        lte(t.activations.due_at, slot.now),
      ),
    )
    .orderBy(t.activations.deadline_at, t.activations.id)
    .limit(slot.limit),
);

/** Whether any request's final answer is overdue. */
export async function isAnswerOverdue(q: Read, _input: null): Promise<boolean> {
  return (await overdue(q, { now: q.now, limit: 1 })).length > 0;
}

/** Leaves the requests whose final answer is overdue to staff; answers how many, at most `limit`. */
export async function leaveOverdueToStaff(tx: Tx, input: { limit: number }): Promise<number> {
  const rows = await overdue(tx, { now: tx.now, limit: input.limit });
  const words = "The carrier took the request but gave no final answer in time; staff take care of it.";
  for (const row of rows) {
    await progressActivation(tx, row, { ...leftToStaff("no_final_answer", words), leased_until: null });
  }
  return rows.length;
}

/** Gives leases up, so that any worker can go on at once. */
export async function releaseExchanges(tx: Tx, held: Lease<"activations">[]): Promise<void> {
  for (const lease of held) await leases.release(tx, { lease, dueAt: tx.now });
}

/** The key of a carrier's callbacks, or null: no such carrier, or it has none. Both look the same from outside. */
export async function callbackSecret(q: Read, prefix: string): Promise<Secret | null> {
  const sealed = await requireCarrier(q, prefix).then(
    (carrier) => carrier.secret_sealed,
    (error: unknown) => {
      if (error instanceof Problem) return null;
      throw error;
    },
  );
  return sealed === null ? null : new Secret(q.vault.open(sealed, carrierSecret(prefix)));
}

/**
 * A carrier's later answer, its signature checked before. Said twice, or after a later step, it changes nothing:
 * `applied` is false then. Throws `not_found` for what is not this carrier's, `conflict` before the carrier had it.
 */
export async function takeCallback(
  tx: Tx,
  input: { prefix: string; id: ActivationId; outcome: CarrierOutcome; answer: string; signed: SignedCallback },
): Promise<{ applied: boolean }> {
  const row = await activationById(tx, input.id);
  if (row === null || row.carrier_prefix !== input.prefix) throw notFound("activation");
  if (row.submitted_at === null) {
    throw new Problem("conflict", "This activation was never handed to a carrier.");
  }
  const { id, outcome, answer } = input;
  const actor = `carrier:${row.carrier}`;
  const at = Math.max(row.submitted_at, eventTime(tx, input.signed));
  return applyOnce(tx, input.signed, async () => {
    const { applied } = await applyOutcome(tx, { id, outcome, source: "callback", actor, answer, at });
    return { applied };
  });
}
