import { hash } from "node:crypto";
import { and, eq } from "drizzle-orm";
import { canonicalText, payloadHash } from "../../kernel/canonical.ts";
import { isoTime } from "../../kernel/clock.ts";
import type { Row } from "../schema/tables.ts";
import { first, type Slots, statement } from "../statement.ts";
import type { Read, Tx } from "../store.ts";
import { storedValue, storeValue } from "../stored-value.ts";
import type { Vault } from "../vault.ts";

// Rows that are evidence form hash chains: each row's hash covers its content, its place and the hash of the row
// before. docs/evidence.md describes the texts below for third parties; a change here breaks every chain there is.

/** A chain's end: how many rows it has, the last one's hash, and how many rows its last signature covers. */
export interface Head {
  chain: string;
  count: number;
  /** Null: the chain has no row. */
  hash: string | null;
  signedCount: number;
}

/** A head as its row stores it. */
export interface StoredHead extends Head {
  mark: string | null;
}

/** A row's place in its chain. */
export interface Place {
  /** 1 for the first row. */
  no: number;
  /** The hash of the row before; null for the first. */
  previous: string | null;
}

/** What a row's hash covers, under the names that an export prints. */
export type Link = Readonly<Record<string, unknown>>;

/** The audit trail of a partner, or of the platform where an act concerns none. */
export function auditChain(partnerId: string | null): string {
  return `audit:${partnerId ?? "platform"}`;
}

/** The ledger of one wallet: its transactions with all their postings, those of the other account included. */
export function walletChain(partnerId: string, currency: string): string {
  return `wallet:${partnerId}:${currency}`;
}

type AuditContent = Omit<Row<"auditEntries">, "chain" | "chain_no" | "hash">;

/** What the hash of an audit entry covers. */
export function auditLink(entry: AuditContent, { no, previous }: Place): Link {
  const { id, at, actor, action, target_kind, target_id, partner_id, fields, changes, note, request_id } = entry;
  const act = { actor, action, target_kind, target_id, partner_id, fields, note, request_id };
  // Entries from before the column have the hash that they had.
  const changed = changes === null ? {} : { changes };
  return { chain: auditChain(partner_id), no, previous, id, at: isoTime(at), ...act, ...changed };
}

type TransactionContent = Omit<Row<"ledgerTransactions">, "chain_no" | "hash" | "balance_after_cents">;
type PostingContent = Omit<Row<"ledgerPostings">, "transaction_id">;

/** What the hash of a ledger transaction covers: its postings too, by account. Its keys are in their order. */
export function ledgerLink(row: TransactionContent, postings: readonly PostingContent[], place: Place): Link {
  const { no, previous } = place;
  const { id, kind, partner_id, order_id, currency, amount_cents, reference } = row;
  const sums = postings
    .map((each) => ({ account: each.account, amount_cents: each.amount_cents, currency: each.currency }))
    .sort((a, b) => (a.account < b.account ? -1 : 1));
  const [at, chain] = [isoTime(row.created_at), walletChain(partner_id, currency)];
  const moved = { amount_cents, at, chain, currency, id, kind, no, order_id, partner_id, postings: sums };
  return { ...moved, previous, reference };
}

/** `linkHash` of `ledgerLink`, whose keys are in order: they need not be sorted for each order. */
export function ledgerHash(row: TransactionContent, postings: readonly PostingContent[], place: Place): string {
  return hash("sha256", JSON.stringify(ledgerLink(row, postings, place)), "hex");
}

/** The hash of a row: SHA-256 (hex) of its canonical text. */
export function linkHash(link: Link): string {
  return payloadHash(link);
}

/** The text that a signature of a head signs. */
export function signedText(head: { chain: string; count: number; hash: string; previousCount: number; at: number }) {
  const { chain, count, hash, previousCount, at } = head;
  return canonicalText({ chain, count, hash, previous_count: previousCount, signed_at: isoTime(at) });
}

/** The keyed mark of a head: a change of the database alone cannot make another head that has one. */
export function headMark(vault: Vault, { chain, count, hash, signedCount }: Head): string {
  return vault.blindIndex("chain head", JSON.stringify([chain, count, hash, signedCount]));
}

const auditHeads = statement((db, t, _slot) => db.select().from(t.chainHeads).orderBy(t.chainHeads.chain));

const walletHeads = statement((db, t, _slot) =>
  db.select().from(t.wallets).orderBy(t.wallets.partner_id, t.wallets.currency),
);

/** The heads of all chains: of the audit trail, then of the wallets, in the order of their rows. */
export async function allHeads(q: Read): Promise<StoredHead[]> {
  const audit = (await auditHeads(q, {})).map((row) => toHead(row.chain, row));
  const wallets = await walletHeads(q, {});
  return [...audit, ...wallets.map((row) => toHead(walletChain(row.partner_id, row.currency), row))];
}

type HeadColumns = Pick<Row<"chainHeads">, "chain_count" | "chain_hash" | "chain_mark" | "signed_count">;

function toHead(chain: string, row: HeadColumns): StoredHead {
  const { chain_count: count, chain_hash: hash, chain_mark: mark, signed_count: signedCount } = row;
  return { chain, count, hash, mark, signedCount };
}

/** The partner and currency of a wallet's chain; null: it is one of the audit trail. */
export function walletOf(chain: string): { partner_id: string; currency: string } | null {
  const [kind, partner_id, currency] = chain.split(":");
  return kind === "wallet" && partner_id !== undefined && currency !== undefined ? { partner_id, currency } : null;
}

const auditHead = statement((db, t, slot: Slots<{ chain: string }>) =>
  db.select().from(t.chainHeads).where(eq(t.chainHeads.chain, slot.chain)),
);

const walletHead = statement((db, t, slot: Slots<{ partner_id: string; currency: string }>) =>
  db
    .select()
    .from(t.wallets)
    .where(and(eq(t.wallets.partner_id, slot.partner_id), eq(t.wallets.currency, slot.currency))),
);

/** The head of one chain, or null. */
export async function headOf(q: Read, chain: string): Promise<StoredHead | null> {
  const wallet = walletOf(chain);
  const row = wallet === null ? first(await auditHead(q, { chain })) : first(await walletHead(q, wallet));
  return row === null ? null : toHead(chain, row);
}

type Signed = { mark: string; signed_count: number };

const markAudit = statement((db, t, slot: Slots<Signed & { chain: string }>) =>
  db
    .update(t.chainHeads)
    .set({ chain_mark: slot.mark, signed_count: slot.signed_count })
    .where(eq(t.chainHeads.chain, slot.chain)),
);

const markWallet = statement((db, t, slot: Slots<Signed & { partner_id: string; currency: string }>) =>
  db
    .update(t.wallets)
    .set({ chain_mark: slot.mark, signed_count: slot.signed_count })
    .where(and(eq(t.wallets.partner_id, slot.partner_id), eq(t.wallets.currency, slot.currency))),
);

/** Writes the mark of a head that is as it should be, and how far it is signed. */
export async function writeMark(tx: Tx, head: Head): Promise<void> {
  const wallet = walletOf(head.chain);
  const signed = { mark: headMark(tx.vault, head), signed_count: head.signedCount };
  if (wallet === null) await markAudit(tx, { ...signed, chain: head.chain });
  else await markWallet(tx, { ...signed, ...wallet });
}

/** The setting that is there while they are not. */
const UNMARKED = "chain_heads";

const anySignature = statement((db, t, _slot) =>
  db.select({ chain: t.signedHeads.chain }).from(t.signedHeads).limit(1),
);

/** Whether a migration has just chained rows, without the keys that mark their heads. */
export async function headsAreUnmarked(q: Read): Promise<boolean> {
  return (await storedValue(q, UNMARKED)) !== null;
}

/** Marks the heads that a migration made. Never once a head was signed: then marks are missing for another reason. */
export async function markHeads(tx: Tx, _input: null): Promise<void> {
  await storeValue(tx, UNMARKED, null);
  if (first(await anySignature(tx, {})) !== null) return;
  for (const head of await allHeads(tx)) if (head.count > 0) await writeMark(tx, head);
}
