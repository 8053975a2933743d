import { desc, sql } from "drizzle-orm";
import { isoTime, isoTimeOrNull } from "../kernel/clock.ts";
import type { Row } from "../store/schema/tables.ts";
import type { AlertKind } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { reviewMinutes } from "./conditions.ts";
import { raisedAlerts } from "./settle.ts";
import { type AlertTarget, listAlertTargets } from "./targets.ts";

/** One occurrence of what is or was wrong. */
export interface Alert {
  kind: AlertKind;
  subject: string;
  detail: string;
  raised_at: string;
  /** Null: it is not over. */
  over_at: string | null;
}

const ended = statement((db, t, slot: Slots<{ limit: number }>) =>
  db
    .select()
    .from(t.alerts)
    // As the partial index has it.
    .where(sql`over_at is not null`)
    .orderBy(desc(t.alerts.over_at), desc(t.alerts.id))
    .limit(slot.limit),
);

/** Where alerts go, what is wrong now, and the last `limit` that are over, newest first. */
export async function listAlerts(
  q: Read,
  { limit }: { limit: number },
): Promise<{ targets: AlertTarget[]; alerts: Alert[]; review_minutes: number }> {
  const rows = [...(await raisedAlerts(q)), ...(await ended(q, { limit }))];
  const review_minutes = await reviewMinutes(q);
  return { targets: await listAlertTargets(q), alerts: rows.map(toAlert), review_minutes };
}

function toAlert({ kind, subject, detail, raised_at, over_at }: Row<"alerts">): Alert {
  return { kind, subject, detail, raised_at: isoTime(raised_at), over_at: isoTimeOrNull(over_at) };
}
