import { and, eq, gt, isNotNull, sql } from "drizzle-orm";
import { requireCarrier } from "../carriers/carrier.ts";
import type { ActivationId } from "../kernel/brand.ts";
import { isoTime, isoTimeOrNull } from "../kernel/clock.ts";
import type { Waiting } from "../kernel/waiting.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import type { ActivationRow } from "./activation.ts";
import { customerOf } from "./customer.ts";
import { waitingOfActivations } from "./waiting-of-activations.ts";

type Window = { carrier: string; key: number; id: string; limit: number };

const everyCarrier = statement((db, t, slot: Slots<Window>) =>
  db
    .select({ activation: t.activations, partner: t.partners.slug })
    .from(t.activations)
    .innerJoin(t.partners, eq(t.partners.id, t.activations.partner_id))
    .where(
      and(
        isNotNull(t.activations.queued_at),
        sql`(${t.activations.queued_at}, ${t.activations.id}) > (${slot.key}, ${slot.id})`,
      ),
    )
    .orderBy(t.activations.queued_at, t.activations.id)
    .limit(slot.limit),
);

const ofCarrier = statement((db, t, slot: Slots<Window>) =>
  db
    .select({ activation: t.activations, partner: t.partners.slug })
    .from(t.activations)
    .innerJoin(t.partners, eq(t.partners.id, t.activations.partner_id))
    .where(
      and(
        eq(t.activations.carrier_prefix, slot.carrier),
        gt(t.activations.queued_at, -1),
        sql`(${t.activations.queued_at}, ${t.activations.id}) > (${slot.key}, ${slot.id})`,
      ),
    )
    .orderBy(t.activations.queued_at, t.activations.id)
    .limit(slot.limit),
);

/** What staff need to know to choose what to do next. Identity is seen one by one, see reveal.ts. */
export interface QueueEntry {
  id: ActivationId;
  partner: string;
  environment: string;
  iccid: string;
  carrier: string;
  activation_date: string;
  customer_name: string;
  plan_name: string | null;
  note: string | null;
  status: string;
  processing_status: string;
  error_type: string | null;
  error_message: string | null;
  faults: number;
  /** When it is tried or given up next by itself; null: it waits for staff. */
  next_at: string | null;
  queued_at: string;
  /** The person it waits for; null: its carrier is working on it. */
  waiting: Waiting | null;
}

/**
 * All partners' requests that are processing or manual_required, oldest first; `carrier` is a prefix. Throws
 * `not_found` where no carrier has it.
 */
export async function activationQueue(
  q: Read,
  input: { carrier?: string | undefined; limit: number; after?: { key: number; id: string } | undefined },
): Promise<{ data: QueueEntry[]; next: { key: number; id: string } | null }> {
  const { carrier, limit, after = { key: -1, id: "" } } = input;
  if (carrier !== undefined) await requireCarrier(q, carrier);
  const window = { carrier: carrier ?? "", ...after, limit: limit + 1 };
  const rows = await (carrier === undefined ? everyCarrier : ofCarrier)(q, window);
  const shown = rows.slice(0, limit);
  const last = shown.at(-1)?.activation;
  const next = rows.length > limit && last !== undefined ? { key: last.queued_at ?? 0, id: last.id } : null;
  const waitingOf = await waitingOfActivations(q);
  const entry = ({ activation: row, partner }: (typeof shown)[number]) => ({
    ...toEntry(q, row, partner),
    waiting: waitingOf(row),
  });
  return { data: shown.map(entry), next };
}

function toEntry(q: Read, row: ActivationRow, partner: string): Omit<QueueEntry, "waiting"> {
  const { id, environment, iccid, carrier, activation_date, plan_name, note } = row;
  const { customer_name } = customerOf(q, row);
  const { status, processing_status, error_type, error_message, faults } = row;
  const about = { id, partner, environment, iccid, carrier, activation_date, customer_name, plan_name, note };
  const progress = { status, processing_status, error_type, error_message, faults };
  return { ...about, ...progress, next_at: isoTimeOrNull(row.due_at), queued_at: isoTime(row.queued_at ?? 0) };
}
