import { generateKeyPairSync } from "node:crypto";
import { gt, isNull, or } from "drizzle-orm";
import { recordAudit } from "../audit/record.ts";
import { insert, updateRow } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import type { Cell } from "../store/vault.ts";

/** Lifetime of an access token in seconds (contract: Limits). */
export const TOKEN_LIFETIME_S = 3600;

/** A key that signs tokens, or that did while some of them may still live. */
export interface SigningKey {
  kid: string;
  publicJwk: PublicJwk;
  /** The private JWK. Stays in memory. Null: it cannot be read; tokens that it signed can be verified all the same. */
  privateJwk: (PublicJwk & { d: string }) | null;
  /** Since when it signs nothing more (ms); null: it signs. */
  retiredAt: number | null;
}

/** Whether tokens under the key are accepted at `now` (ms): a retired key verifies until its last token expired. */
export function verifiesAt({ retiredAt }: Pick<SigningKey, "retiredAt">, now: number): boolean {
  return retiredAt === null || now < retiredAt + TOKEN_LIFETIME_S * 1000;
}

/** The public half as RFC 8037 writes it. */
export interface PublicJwk {
  kty: string;
  crv: string;
  x: string;
}

const usable = statement((db, t, slot: Slots<{ since: number }>) =>
  db
    .select()
    .from(t.signingKeys)
    .where(or(isNull(t.signingKeys.retired_at), gt(t.signingKeys.retired_at, slot.since)))
    .orderBy(t.signingKeys.created_at, t.signingKeys.kid),
);

/** The keys that still sign or whose tokens may still live. */
export async function loadSigningKeys(q: Read, _input: null): Promise<SigningKey[]> {
  return (await rows(q)).map((row) => ({
    kid: row.kid,
    publicJwk: row.public_jwk,
    privateJwk: JSON.parse(q.vault.openIfReadable(row.private_sealed, privateHalf(row.kid)) ?? "null"),
    retiredAt: row.retired_at,
  }));
}

/** Makes the first signing key of a new database; otherwise changes nothing. */
export async function ensureSigningKey(tx: Tx, _input: null): Promise<void> {
  if ((await rows(tx)).some((row) => row.retired_at === null)) return;
  await addKey(tx);
  await tx.touch();
}

/**
 * A new key signs from now on; tokens of the old ones stay valid until they expire. With `atOnce` every token under
 * them is refused at its next use. Old keys stay: they verify the signatures of chain heads. Returns the new key's ID.
 */
export async function rotateSigningKey(tx: Tx, input: { actor: string; atOnce?: boolean }): Promise<string> {
  const { actor, atOnce = false } = input;
  // As if retired so long ago that its last token has expired.
  const retired_at = atOnce ? tx.now - TOKEN_LIFETIME_S * 1000 : tx.now;
  for (const row of await rows(tx)) {
    if (row.retired_at === null || row.retired_at > retired_at) {
      await updateRow(
        tx,
        "signingKeys",
        { kid: row.kid },
        { retired_at: Math.min(row.retired_at ?? tx.now, retired_at) },
      );
    }
  }
  const kid = await addKey(tx);
  await recordAudit(tx, {
    actor,
    action: "keys.rotate-signing",
    targetKind: "signing_key",
    targetId: kid,
    note: atOnce ? "tokens of older keys end" : null,
  });
  await tx.touch();
  return kid;
}

function rows(q: Read): Promise<Row<"signingKeys">[]> {
  return usable(q, { since: q.now - TOKEN_LIFETIME_S * 1000 });
}

function privateHalf(kid: string): Cell {
  return { column: "signing_keys.private_sealed", row: kid };
}

async function addKey(tx: Tx): Promise<string> {
  const { privateKey } = generateKeyPairSync("ed25519");
  const { kty = "OKP", crv = "Ed25519", x = "", d } = privateKey.export({ format: "jwk" });
  const kid = tx.ids.bytes(12).toString("base64url");
  await insert(tx, "signingKeys", [
    {
      kid,
      public_jwk: { kty, crv, x },
      private_sealed: tx.vault.seal(JSON.stringify({ kty, crv, x, d }), privateHalf(kid)),
      created_at: tx.now,
    },
  ]);
  return kid;
}
