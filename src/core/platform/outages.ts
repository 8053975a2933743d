import { and, count, eq, gt, isNull, min, sql } from "drizzle-orm";
import { isoTime, isoTimeOrNull } from "../kernel/clock.ts";
import type { OutageKind } from "../store/schema/values.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";

/** A supplier or carrier with whom the last exchange failed. */
export interface Outage {
  kind: OutageKind;
  /** The supplier's name, or the carrier's prefix. */
  name: string;
  /** The first of the failures in a row, and the last. */
  since: string;
  last_at: string;
  failures: number;
  last_error: string;
  /** When it is asked next; null: nothing is retried by itself any more. */
  next_attempt_at: string | null;
  /** Items or activation requests that wait for their next exchange with it. */
  waiting: number;
}

type Party = { kind: OutageKind; name: string };

const open = statement((db, t, slot: Slots<Party>) =>
  db
    .select({ since: t.outages.since })
    .from(t.outages)
    .where(and(eq(t.outages.kind, slot.kind), eq(t.outages.name, slot.name))),
);

const extend = statement((db, t, slot: Slots<Party & { at: number; error: string }>) =>
  db
    .insert(t.outages)
    .values({
      kind: slot.kind,
      name: slot.name,
      since: slot.at,
      last_at: slot.at,
      failures: 1,
      last_error: slot.error,
    })
    .onConflictDoUpdate({
      target: [t.outages.kind, t.outages.name],
      set: {
        last_at: sql`excluded.last_at`,
        failures: sql`${t.outages.failures} + 1`,
        last_error: sql`excluded.last_error`,
      },
    })
    .returning({ failures: t.outages.failures }),
);

const close = statement((db, t, slot: Slots<Party>) =>
  db
    .delete(t.outages)
    .where(and(eq(t.outages.kind, slot.kind), eq(t.outages.name, slot.name)))
    .returning({ since: t.outages.since, failures: t.outages.failures }),
);

/** Whether the last exchange with a party failed. */
export async function isOut(q: Read, party: Party): Promise<boolean> {
  return (await open(q, party)).length > 0;
}

/** Records a failed exchange; answers whether it is the first in a row. `error` holds nothing of a response. */
export async function recordFailure(tx: Tx, { error, ...party }: Party & { error: string }): Promise<boolean> {
  return first(await extend(tx, { ...party, at: tx.now, error }))?.failures === 1;
}

/** Ends an outage, after an exchange that worked or new settings; answers how long it was, null: there was none. */
export async function endOutage(tx: Tx, party: Party): Promise<{ ms: number; failures: number } | null> {
  const ended = first(await close(tx, party));
  return ended === null ? null : { ms: tx.now - ended.since, failures: ended.failures };
}

const all = statement((db, t, _slot) => db.select().from(t.outages).orderBy(t.outages.kind, t.outages.name));

const itemsDue = statement((db, t, slot: Slots<{ name: string }>) =>
  db
    .select({ many: count(), next: min(t.orderItems.due_at) })
    .from(t.orderItems)
    .where(and(eq(t.orderItems.supplier, slot.name), gt(t.orderItems.due_at, 0), isNull(t.orderItems.leased_until))),
);

const requestsDue = statement((db, t, slot: Slots<{ name: string; environment: "production" | "sandbox" }>) =>
  db
    .select({ many: count(), next: min(t.activations.due_at) })
    .from(t.activations)
    .where(
      and(
        eq(t.activations.environment, slot.environment),
        eq(t.activations.carrier_prefix, slot.name),
        // Must match the partial index predicate exactly.
        sql`status = 'processing' and due_at is not null`,
        isNull(t.activations.leased_until),
      ),
    ),
);

/** Every supplier and carrier with whom the last exchange failed; `of` narrows it to some suppliers. */
export async function currentOutages(q: Read, of?: { suppliers: readonly string[] }): Promise<Outage[]> {
  const outages: Outage[] = [];
  for (const { kind, name, since, last_at, failures, last_error } of await all(q, {})) {
    if (of !== undefined && !(kind === "supplier" && of.suppliers.includes(name))) continue;
    const { waiting, next } = await waitingFor(q, { kind, name });
    const times = { since: isoTime(since), last_at: isoTime(last_at), next_attempt_at: isoTimeOrNull(next) };
    outages.push({ kind, name, ...times, failures, last_error, waiting });
  }
  return outages;
}

async function waitingFor(q: Read, { kind, name }: Party): Promise<{ waiting: number; next: number | null }> {
  const rows =
    kind === "supplier"
      ? await itemsDue(q, { name })
      : [
          ...(await requestsDue(q, { name, environment: "production" })),
          ...(await requestsDue(q, { name, environment: "sandbox" })),
        ];
  const times = rows.flatMap(({ next }) => next ?? []);
  const waiting = rows.reduce((sum, { many }) => sum + many, 0);
  return { waiting, next: times.length === 0 ? null : Math.min(...times) };
}
