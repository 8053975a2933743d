import { and, eq } from "drizzle-orm";
import { isoTime } from "../kernel/clock.ts";
import type { Row } from "../store/schema/tables.ts";
import type { PauseKind } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";

/** What new orders are refused for: all orders (its name is empty), or those of one supplier's products. */
export interface Paused {
  kind: PauseKind;
  name: string;
}

/** A pause as people and programs see it. */
export interface Pause extends Paused {
  reason: string;
  since: string;
}

const all = statement((db, t, _slot) => db.select().from(t.pauses).orderBy(t.pauses.kind, t.pauses.name));

/** What is paused now: all orders first, then suppliers by name. */
export async function currentPauses(q: Read): Promise<Pause[]> {
  return (await all(q, {})).map(toPause);
}

function toPause({ kind, name, reason, since }: Row<"pauses">): Pause {
  return { kind, name, reason, since: isoTime(since) };
}

const put = statement((db, t, slot: Slots<Row<"pauses">>) =>
  db
    .insert(t.pauses)
    .values({ kind: slot.kind, name: slot.name, reason: slot.reason, since: slot.since })
    .onConflictDoUpdate({ target: [t.pauses.kind, t.pauses.name], set: { reason: slot.reason } }),
);

/** Pauses it, or gives the pause another reason. */
export async function writePause(tx: Tx, { kind, name }: Paused, reason: string): Promise<void> {
  await put(tx, { kind, name, reason, since: tx.now });
}

const drop = statement((db, t, slot: Slots<Pick<Row<"pauses">, "kind" | "name">>) =>
  db.delete(t.pauses).where(and(eq(t.pauses.kind, slot.kind), eq(t.pauses.name, slot.name))),
);

/** Ends a pause; what is not paused stays so. */
export async function endPause(tx: Tx, { kind, name }: Paused): Promise<void> {
  await drop(tx, { kind, name });
}
