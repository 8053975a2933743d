import { and, desc, eq, lt } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import { decodeCursor, encodeCursor, newestFirst, type Position } from "../kernel/page.ts";
import { auditChain } from "../store/sealing/chain.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { type AuditLine, listAudit, toLine } from "./list.ts";

/** Which lines are asked for; what is left out is any. */
export interface AuditSearch {
  partnerId?: PartnerId | undefined;
  /** What actor and action begin with: "user:", "orders.". */
  actor?: string | undefined;
  action?: string | undefined;
  /** The id that lines are about. */
  target?: string | undefined;
  /** From this moment (ms) on, and before this one. */
  since?: number | undefined;
  until?: number | undefined;
  limit: number;
  cursor?: string | undefined;
}

/** Lines that are read at a time, and those that one page looks at before it leaves the rest to the next. */
const STRIDE = 500;
const MOST_LOOKED_AT = 5_000;
/** The last moment (ms) that has a date: a cursor is text from outside. */
const LAST_MOMENT = 8_640_000_000_000_000;

const newestOfChain = statement((db, t, slot: Slots<{ chain: string; before: number; limit: number }>) =>
  db
    .select()
    .from(t.auditEntries)
    .where(and(eq(t.auditEntries.chain, slot.chain), lt(t.auditEntries.chain_no, slot.before)))
    .orderBy(desc(t.auditEntries.chain_no))
    .limit(slot.limit),
);

interface Placed {
  line: AuditLine;
  at: Position<number>;
}

/**
 * A page of the audit trail, newest first. Target and partner are found by an index; what else narrows it is compared
 * line by line, 5,000 of them at most: a page may hold fewer than asked for, or none, and have a next one. Throws
 * `invalid_cursor`.
 */
export async function auditPage(
  q: Read,
  { limit, cursor, ...search }: AuditSearch,
): Promise<{ lines: AuditLine[]; next: string | null }> {
  const binding = { list: "audit", ...search };
  let from: Position<number> = cursor === undefined ? newestFirst : decodeCursor(cursor, binding, 0);
  const lines: AuditLine[] = [];
  for (let looked = 0; looked < MOST_LOOKED_AT; looked += STRIDE) {
    const stride = await older(q, search, from);
    for (const { line, at } of stride) {
      if (search.since !== undefined && Date.parse(line.at) < search.since) return { lines, next: null };
      if (passes(line, search)) lines.push(line);
      from = at;
      if (lines.length === limit) return { lines, next: encodeCursor(from, binding) };
    }
    if (stride.length < STRIDE) return { lines, next: null };
  }
  return { lines, next: encodeCursor(from, binding) };
}

/** The lines that come next, with their places. */
async function older(
  q: Read,
  { partnerId, target, until }: Partial<AuditSearch>,
  from: Position<number>,
): Promise<Placed[]> {
  if (partnerId !== undefined && target === undefined) {
    const rows = await newestOfChain(q, { chain: auditChain(partnerId), before: from.key, limit: STRIDE });
    // No row of a chain is without its number.
    return rows.map((row) => ({ line: toLine(row), at: { key: row.chain_no ?? 0, id: row.id } }));
  }
  const before = from === newestFirst ? undefined : { at: isoTime(Math.min(from.key, LAST_MOMENT)), id: from.id };
  const lines = await listAudit(q, { target, until, limit: STRIDE, before });
  return lines.map((line) => ({ line, at: { key: Date.parse(line.at), id: line.id } }));
}

function passes(line: AuditLine, { partnerId, actor = "", action = "", until }: Partial<AuditSearch>): boolean {
  return (
    (partnerId === undefined || line.partner_id === partnerId) &&
    line.actor.startsWith(actor) &&
    line.action.startsWith(action) &&
    (until === undefined || Date.parse(line.at) < until)
  );
}
