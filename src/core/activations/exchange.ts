import { and, eq, isNull, lte, or } from "drizzle-orm";
import { requireCarrier } from "../carriers/carrier.ts";
import type { ActivationId } from "../kernel/brand.ts";
import { Secret } from "../kernel/secret.ts";
import type { CarrierAdapter } from "../store/schema/carriers.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import type { ActivationRow } from "./activation.ts";
import { type Kyc, openKyc } from "./identity.ts";
import { leftToStaff } from "./outcome.ts";
import { progressActivation } from "./progress.ts";

/** How long a worker may take for one exchange before another takes it over; longer than any carrier's timeout. */
export const EXCHANGE_LEASE_MS = 60_000;

/** One exchange to be made with a carrier, and all that it takes. */
export interface CarrierExchange {
  /** The idempotency reference: the same however often it is tried. */
  id: ActivationId;
  lease: number;
  carrier: {
    prefix: string;
    name: string;
    adapter: CarrierAdapter;
    url: string | null;
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

type Claim = { carrier: string; now: number; limit: number };

const dueExchanges = statement((db, t, slot: Slots<Claim>) =>
  db
    .select()
    .from(t.activations)
    .where(
      and(
        eq(t.activations.carrier_prefix, slot.carrier),
        eq(t.activations.status, "processing"),
        lte(t.activations.due_at, slot.now),
        or(isNull(t.activations.leased_until), lte(t.activations.leased_until, slot.now)),
      ),
    )
    .orderBy(t.activations.due_at, t.activations.id)
    .limit(slot.limit),
);

const lease = statement((db, t, slot: Slots<{ id: ActivationId; until: number }>) =>
  db.update(t.activations).set({ leased_until: slot.until }).where(eq(t.activations.id, slot.id)),
);

/**
 * Leases the exchanges that are due with one carrier, oldest first; a lease that ran out is taken over. Requests whose
 * final answer is overdue are left to staff instead; `overdue` counts them.
 */
export async function claimExchanges(
  tx: Tx,
  input: { carrier: string; limit: number },
): Promise<{ exchanges: CarrierExchange[]; overdue: number }> {
  const rows = await dueExchanges(tx, { carrier: input.carrier, now: tx.now, limit: input.limit });
  if (rows.length === 0) return { exchanges: [], overdue: 0 };
  const carrier = await requireCarrier(tx, input.carrier);
  const { prefix, name, adapter, url, secret_sealed, timeout_ms: timeoutMs } = carrier;
  const secret = secret_sealed === null ? null : new Secret(tx.vault.open(secret_sealed));
  const until = tx.now + EXCHANGE_LEASE_MS;
  const exchanges: CarrierExchange[] = [];
  for (const row of rows) {
    if (isOverdue(row, tx.now)) {
      await progressActivation(tx, row, { ...leftToStaff(...overdueWords), leased_until: null });
      continue;
    }
    await lease(tx, { id: row.id, until });
    exchanges.push({
      id: row.id,
      lease: until,
      carrier: { prefix, name, adapter, url, secret, timeoutMs },
      iccid: row.iccid,
      activationDate: row.activation_date,
      planName: row.plan_name,
      identity: openKyc(tx, row.sealed),
      exchanges: row.exchanges,
    });
  }
  return { exchanges, overdue: rows.length - exchanges.length };
}

const overdueWords = [
  "no_final_answer",
  "The carrier took the request but gave no final answer in time; staff take care of it.",
] as const;

function isOverdue(row: ActivationRow, now: number): boolean {
  return row.deadline_at !== null && row.deadline_at <= now;
}
