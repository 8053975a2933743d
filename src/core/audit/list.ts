import { and, desc, eq, gte, type SQL, sql } from "drizzle-orm";
import { isoTime } from "../kernel/clock.ts";
import type { Tables } from "../store/schema/tables.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

/** One line of the audit trail, as the operator's command prints it. */
export interface AuditLine {
  id: string;
  at: string;
  actor: string;
  action: string;
  target_kind: string;
  target_id: string;
  partner_id: string | null;
  fields: string[] | null;
  note: string | null;
}

/** Which lines are asked for. */
export interface AuditFilter {
  /** Only lines about this id. */
  target?: string | undefined;
  /** Only lines from this moment (ms) on. */
  since?: number | undefined;
  limit: number;
  /** Only lines older than this one. */
  before?: Pick<AuditLine, "at" | "id"> | undefined;
}

type Window = { since: number; key: number; id: string; limit: number };

function within(t: Tables, slot: Slots<Window>): SQL[] {
  const { at, id } = t.auditEntries;
  return [gte(at, slot.since), sql`(${at}, ${id}) < (${slot.key}, ${slot.id})`];
}

const newest = statement((db, t, slot: Slots<Window>) =>
  db
    .select()
    .from(t.auditEntries)
    .where(and(...within(t, slot)))
    .orderBy(desc(t.auditEntries.at), desc(t.auditEntries.id))
    .limit(slot.limit),
);

const newestOfTarget = statement((db, t, slot: Slots<Window & { target: string }>) =>
  db
    .select()
    .from(t.auditEntries)
    .where(and(eq(t.auditEntries.target_id, slot.target), ...within(t, slot)))
    .orderBy(desc(t.auditEntries.at), desc(t.auditEntries.id))
    .limit(slot.limit),
);

/** Lines of the audit trail, newest first. */
export async function listAudit(q: Read, { target, since, limit, before }: AuditFilter): Promise<AuditLine[]> {
  const key = before === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(before.at);
  const window = { since: since ?? 0, key, id: before?.id ?? "", limit };
  const rows = target === undefined ? await newest(q, window) : await newestOfTarget(q, { ...window, target });
  return rows.map((row) => ({ ...row, at: isoTime(row.at) }));
}
