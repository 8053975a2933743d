import { eq, sql } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import { newId } from "../kernel/ids.ts";
import { insert } from "../store/rows.ts";
import type { FieldChange } from "../store/schema/values.ts";
import { auditChain, auditLink, headMark, linkHash } from "../store/sealing/chain.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";

/**
 * Who does a thing: `operator (<user>)`, `client:<client_id>`, `user:<id>`, `worker`, `carrier:<name>` or
 * `supplier:<name>`.
 */
export type Actor = string;

/** Whether the actor is a person at the operator's terminal; client IDs come with a prefix of their own. */
export function isOperator(actor: Actor): boolean {
  return actor.startsWith("operator");
}

/** Who did what to which thing. */
export interface AuditEntry {
  actor: Actor;
  /** What was done: `partners.suspend`, `orders.approve`, … */
  action: string;
  targetKind: string;
  targetId: string;
  partnerId?: PartnerId | null;
  /** Names of the fields concerned. */
  fields?: string[];
  /** Values before and after: none of identity data, secrets or free text, which could not be erased here. */
  changes?: readonly FieldChange[];
  /** Words of the person who did it, e.g. a reason. */
  note?: string | null;
}

/** Adds a row to a chain and locks its head: of writers side by side, each gets a number and a hash of its own. */
const advance = statement((db, t, slot: Slots<{ chain: string }>) =>
  db
    .insert(t.chainHeads)
    .values({ chain: slot.chain, chain_count: 1, signed_count: 0 })
    .onConflictDoUpdate({
      target: t.chainHeads.chain,
      set: { chain_count: sql`${t.chainHeads.chain_count} + 1` },
    })
    .returning({
      no: t.chainHeads.chain_count,
      previous: t.chainHeads.chain_hash,
      signedCount: t.chainHeads.signed_count,
    }),
);

const closeHead = statement((db, t, slot: Slots<{ chain: string; hash: string; mark: string }>) =>
  db
    .update(t.chainHeads)
    .set({ chain_hash: slot.hash, chain_mark: slot.mark })
    .where(eq(t.chainHeads.chain, slot.chain)),
);

/**
 * Writes one line of the audit trail in the transaction of what it records, as the next row of its chain: the
 * partner's, or the platform's.
 */
export async function recordAudit(tx: Tx, entry: AuditEntry): Promise<void> {
  const content = {
    id: newId(tx),
    at: tx.now,
    actor: entry.actor,
    action: entry.action,
    target_kind: entry.targetKind,
    target_id: entry.targetId,
    partner_id: entry.partnerId ?? null,
    fields: entry.fields ?? null,
    changes: entry.changes === undefined || entry.changes.length === 0 ? null : [...entry.changes],
    note: entry.note ?? null,
    request_id: tx.requestId,
  };
  const chain = auditChain(content.partner_id);
  const place = first(await advance(tx, { chain }));
  if (place === null) throw new Error(`the head of ${chain} was not written`);
  const hash = linkHash(auditLink(content, place));
  await insert(tx, "auditEntries", [{ ...content, chain, chain_no: place.no, hash }]);
  const head = { chain, count: place.no, hash, signedCount: place.signedCount };
  await closeHead(tx, { chain, hash, mark: headMark(tx.vault, head) });
}
