import { and, desc, eq, gte, type SQL, sql } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import { formatMoney } from "../kernel/money.ts";
import type { Row, Tables } from "../store/schema/tables.ts";
import type { FieldChange } from "../store/schema/values.ts";
import { auditChain } from "../store/sealing/chain.ts";
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
  /** Values before and after, of fields whose values are kept. */
  changes: FieldChange[] | null;
  note: string | null;
  /** The HTTP request that it was done by; null for what came from the terminal or a worker. */
  request_id: string | null;
}

/**
 * "activation_date: 2026-03-02 → 2026-03-09": what a line concerns, with values where they are kept, amounts in their
 * currency. `called` says how a field is called; left out: by its name.
 */
export function concernedBy(
  { fields, changes }: Pick<AuditLine, "fields" | "changes">,
  called = (field: string) => field,
): string[] {
  const changed = (changes ?? []).map(({ field, from, to }) => {
    const [, name = field, currency = null] = /^(\w+)_cents ([A-Z]{3})$/.exec(field) ?? [];
    const shown = (value: FieldChange["from"]) => {
      if (currency !== null && typeof value === "number") return formatMoney(value, currency);
      return value === null ? "none" : String(value);
    };
    const words = currency === null ? called(field) : `${called(name)} in ${currency}`;
    return `${words}: ${shown(from)} → ${shown(to)}`;
  });
  const known = new Set((changes ?? []).map(({ field }) => field));
  return [...changed, ...(fields ?? []).filter((field) => !known.has(field)).map(called)];
}

/** Which lines are asked for. */
export interface AuditFilter {
  /** Only lines about this id. */
  target?: string | undefined;
  /** Only lines from this moment (ms) on. */
  since?: number | undefined;
  /** Only lines before this moment (ms). */
  until?: number | undefined;
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

// A chain grows in the order of its numbers.
const newestOfChain = statement((db, t, slot: Slots<{ chain: string; limit: number }>) =>
  db
    .select()
    .from(t.auditEntries)
    .where(eq(t.auditEntries.chain, slot.chain))
    .orderBy(desc(t.auditEntries.chain_no))
    .limit(slot.limit),
);

/** The newest lines of a partner's own chain: what was done to it and what is its. */
export async function auditOfPartner(
  q: Read,
  { partnerId, limit }: { partnerId: PartnerId; limit: number },
): Promise<AuditLine[]> {
  return (await newestOfChain(q, { chain: auditChain(partnerId), limit })).map(toLine);
}

/** Most lines of one request: a bulk request has a line for each of its items. */
const MOST_OF_REQUEST = 500;

const newestOfRequest = statement((db, t, slot: Slots<{ request_id: string }>) =>
  db
    .select()
    .from(t.auditEntries)
    .where(eq(t.auditEntries.request_id, slot.request_id))
    .orderBy(desc(t.auditEntries.id))
    .limit(MOST_OF_REQUEST),
);

/** What HTTP requests of this id put into the audit trail, newest first, 500 lines at most. */
export async function auditOfRequest(q: Read, requestId: string): Promise<AuditLine[]> {
  return (await newestOfRequest(q, { request_id: requestId })).map(toLine);
}

/** A row as the operator sees it. */
export function toLine({ chain: _chain, chain_no: _no, hash: _hash, at, ...line }: Row<"auditEntries">): AuditLine {
  return { ...line, at: isoTime(at) };
}

/** Lines of the audit trail, newest first. */
export async function listAudit(q: Read, { target, since, until, limit, before }: AuditFilter): Promise<AuditLine[]> {
  // No id is less than "": a page begins with what is older than `until` itself.
  const key = before === undefined ? (until ?? Number.MAX_SAFE_INTEGER) : Date.parse(before.at);
  const window = { since: since ?? 0, key, id: before?.id ?? "", limit };
  const rows = target === undefined ? await newest(q, window) : await newestOfTarget(q, { ...window, target });
  return rows.map(toLine);
}
