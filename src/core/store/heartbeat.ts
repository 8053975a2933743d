import { sql } from "drizzle-orm";
import { type Slots, statement } from "./statement.ts";
import type { Tx } from "./store.ts";

const beat = statement((db, t, slot: Slots<{ at: string }>) =>
  db
    .insert(t.settings)
    .values({ key: "heartbeat", value: slot.at })
    .onConflictDoUpdate({ target: t.settings.key, set: { value: sql`excluded.value` } }),
);

/** Writes the smallest thing there is: that it succeeds shows that the database takes writes. */
export async function writeHeartbeat(tx: Tx, _input: null): Promise<void> {
  await beat(tx, { at: String(tx.now) });
}
