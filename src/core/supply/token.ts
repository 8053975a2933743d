import { eq } from "drizzle-orm";
import { Secret } from "../kernel/secret.ts";
import { findByKey } from "../store/rows.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import type { Cell } from "../store/vault.ts";

const put = statement((db, t, slot: Slots<{ supplier: string; token_sealed: string; expires_at: number }>) =>
  db
    .insert(t.supplierTokens)
    .values({ supplier: slot.supplier, token_sealed: slot.token_sealed, expires_at: slot.expires_at })
    .onConflictDoUpdate({
      target: t.supplierTokens.supplier,
      set: { token_sealed: slot.token_sealed, expires_at: slot.expires_at },
    }),
);

const drop = statement((db, t, slot: Slots<{ supplier: string }>) =>
  db.delete(t.supplierTokens).where(eq(t.supplierTokens.supplier, slot.supplier)),
);

function cell(row: string): Cell {
  return { column: "supplier_tokens.token_sealed", row };
}

/** The access token of a provider that all nodes share, while it is valid; null: a new one is to be asked for. */
export async function sharedToken(q: Read, { supplier }: { supplier: string }): Promise<Secret | null> {
  const row = await findByKey(q, "supplierTokens", { supplier });
  if (row === null || row.expires_at <= q.now) return null;
  return new Secret(q.vault.open(row.token_sealed, cell(supplier)));
}

/** Keeps a new token for all nodes. */
export async function keepToken(
  tx: Tx,
  { supplier, token, expiresAt }: { supplier: string; token: string; expiresAt: number },
): Promise<void> {
  await put(tx, { supplier, token_sealed: tx.vault.seal(token, cell(supplier)), expires_at: expiresAt });
}

/**
 * Forgets the token of a credential that is another one now, or this `token` that the provider no longer takes: one
 * that another node got meanwhile stays.
 */
export async function dropToken(tx: Tx, { supplier, token }: { supplier: string; token?: string }): Promise<void> {
  const kept = token === undefined ? null : await sharedToken(tx, { supplier });
  if (kept === null || kept.reveal() === token) await drop(tx, { supplier });
}
