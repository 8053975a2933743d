import { eq } from "drizzle-orm";
import { first, type Slots, statement } from "./statement.ts";
import type { Read, Tx } from "./store.ts";

/**
 * What an installation remembers of how it was last served: its addresses; `yes` or `no` to private webhooks and to the
 * refusal of EIDs with a wrong check digit; `inventory_sunset`, an ISO 8601 moment: when the deprecated inventory
 * endpoint ends, if that is announced.
 */
export type SettingKey = "public_url" | "docs_url" | "allow_private_webhooks" | "strict_eid" | "inventory_sunset";

const byKey = statement((db, t, slot: Slots<{ key: string }>) =>
  db.select({ value: t.settings.value }).from(t.settings).where(eq(t.settings.key, slot.key)),
);

/** A setting's value, or null when it was never written. */
export async function readSetting(q: Read, key: SettingKey): Promise<string | null> {
  return first(await byKey(q, { key }))?.value ?? null;
}

const forget = statement((db, t, slot: Slots<{ key: string }>) =>
  db.delete(t.settings).where(eq(t.settings.key, slot.key)),
);

/** Writes settings; null forgets one, the ones not named stay. */
export async function writeSettings(tx: Tx, values: Partial<Record<SettingKey, string | null>>): Promise<void> {
  for (const [key, value] of Object.entries(values)) {
    if (value === null) {
      await forget(tx, { key });
      continue;
    }
    await tx.db
      .insert(tx.t.settings)
      .values({ key, value })
      .onConflictDoUpdate({ target: tx.t.settings.key, set: { value } });
  }
}
