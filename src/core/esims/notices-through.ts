import { eq, sql } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";

/** The setting that says until when (ms) all notices that were due are written: of all eSIMs but those below. */
const THROUGH = "esim_notices_through";

/** The same of the sandbox eSIMs of a partner whose clock was advanced, by that clock. */
function keyOf(partnerId: PartnerId): string {
  return `${THROUGH}:${partnerId}`;
}

const through = statement((db, t, slot: Slots<{ key: string }>) =>
  db.select({ value: t.settings.value }).from(t.settings).where(eq(t.settings.key, slot.key)),
);

const write = statement((db, t, slot: Slots<{ key: string; value: string }>) =>
  db
    .insert(t.settings)
    .values({ key: slot.key, value: slot.value })
    .onConflictDoUpdate({ target: t.settings.key, set: { value: sql`excluded.value` } }),
);

const begin = statement((db, t, slot: Slots<{ key: string; value: string }>) =>
  db.insert(t.settings).values({ key: slot.key, value: slot.value }).onConflictDoNothing(),
);

const move = statement((db, t, slot: Slots<{ key: string; value: string }>) =>
  db.update(t.settings).set({ value: slot.value }).where(eq(t.settings.key, slot.key)),
);

const forget = statement((db, t, slot: Slots<{ key: string }>) =>
  db.delete(t.settings).where(eq(t.settings.key, slot.key)),
);

async function readThrough(q: Read, key: string): Promise<number | null> {
  const value = first(await through(q, { key }))?.value;
  return value === undefined ? null : Number(value);
}

/** Until when (ms) all notices that were due are written; null: no run was yet. */
export function noticesThrough(q: Read): Promise<number | null> {
  return readThrough(q, THROUGH);
}

/** Writes until when (ms) all notices that were due are written. */
export async function writeNoticesThrough(tx: Tx, at: number): Promise<void> {
  await write(tx, { key: THROUGH, value: String(at) });
}

/** The same by the advanced sandbox clock of a partner; null: it is at the system's time. */
export function sandboxNoticesThrough(q: Read, partnerId: PartnerId): Promise<number | null> {
  return readThrough(q, keyOf(partnerId));
}

/** From now on the notices of a partner's sandbox follow its clock, beginning where those of the calendar end. */
export async function beginSandboxNotices(tx: Tx, partnerId: PartnerId): Promise<void> {
  await begin(tx, { key: keyOf(partnerId), value: String((await noticesThrough(tx)) ?? tx.now) });
}

/** Writes until when all are written, unless the clock was set back meanwhile. */
export async function moveSandboxNotices(tx: Tx, partnerId: PartnerId, at: number): Promise<void> {
  await move(tx, { key: keyOf(partnerId), value: String(at) });
}

/** From now on the notices of a partner's sandbox follow the system's time again. */
export async function endSandboxNotices(tx: Tx, partnerId: PartnerId): Promise<void> {
  await forget(tx, { key: keyOf(partnerId) });
}
