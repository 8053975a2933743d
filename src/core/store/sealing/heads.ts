import { and, eq } from "drizzle-orm";
import type { Row } from "../schema/tables.ts";
import { first, type Slots, statement } from "../statement.ts";
import type { Read, Tx } from "../store.ts";
import { type Head, headMark, type StoredHead, walletChain } from "./chain.ts";

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
