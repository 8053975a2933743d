import { desc, gt } from "drizzle-orm";
import { isoTime } from "../kernel/clock.ts";
import { firstUuidOf } from "../kernel/ids.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { type Finding, fault, fine } from "./finding.ts";

/** Clocks of several hosts on one database never agree to the millisecond. */
const TOLERANCE_MS = 60_000;

// Ids begin with the moment they were made at, so what lies ahead of us is found by its id.
const newestEvent = statement((db, t, slot: Slots<{ after: string }>) =>
  db
    .select({ id: t.events.id, at: t.events.occurred_at })
    .from(t.events)
    .where(gt(t.events.id, slot.after))
    .orderBy(desc(t.events.id))
    .limit(1),
);

const newestEntry = statement((db, t, slot: Slots<{ after: number }>) =>
  db
    .select({ at: t.auditEntries.at })
    .from(t.auditEntries)
    .where(gt(t.auditEntries.at, slot.after))
    .orderBy(desc(t.auditEntries.at))
    .limit(1),
);

/** Whether this machine's clock agrees with what has been written: nothing can have happened later than now. */
export async function checkClock(q: Read): Promise<Finding> {
  const limit = q.now + TOLERANCE_MS;
  const event = first(await newestEvent(q, { after: firstUuidOf(limit) }));
  const entry = first(await newestEntry(q, { after: limit }));
  const newest = Math.max(event?.at ?? 0, entry?.at ?? 0);
  if (newest <= limit) return fine("clock", `The clock says ${isoTime(q.now)}, and nothing written is newer.`);
  const seconds = Math.round((newest - q.now) / 1000);
  const message = `The clock says ${isoTime(q.now)}; the newest record is of ${isoTime(newest)}, ${seconds} s later.`;
  return fault("clock", message, "Set this machine's clock, and keep it right with NTP.");
}
