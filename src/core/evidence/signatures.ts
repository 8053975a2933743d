import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { asc, eq } from "drizzle-orm";
import type { Row } from "../store/schema/tables.ts";
import { signedText } from "../store/sealing/chain.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

export type SignedHead = Row<"signedHeads">;

const ofChain = statement((db, t, slot: Slots<{ chain: string }>) =>
  db.select().from(t.signedHeads).where(eq(t.signedHeads.chain, slot.chain)).orderBy(asc(t.signedHeads.count)),
);

/** The signatures of a chain's heads, oldest first: at most one a day. */
export function signaturesOf(q: Read, chain: string): Promise<SignedHead[]> {
  return ofChain(q, { chain });
}

const publicKeys = statement((db, t, _slot) =>
  db
    .select({ kid: t.signingKeys.kid, public_jwk: t.signingKeys.public_jwk })
    .from(t.signingKeys)
    .orderBy(t.signingKeys.kid),
);

/** The public half of every key that ever signed, by its ID. */
export async function publicJwks(q: Read): Promise<Map<string, { kty: string; crv: string; x: string }>> {
  return new Map((await publicKeys(q, {})).map(({ kid, public_jwk }) => [kid, public_jwk]));
}

/** The same, ready to verify with; what is no key is left out. */
export async function verifyingKeys(q: Read): Promise<ReadonlyMap<string, KeyObject>> {
  const keys = new Map<string, KeyObject>();
  for (const [kid, jwk] of await publicJwks(q)) {
    const key = publicKeyOf(jwk);
    if (key !== null) keys.set(kid, key);
  }
  return keys;
}

function publicKeyOf(jwk: object): KeyObject | null {
  try {
    return createPublicKey({ key: { ...jwk }, format: "jwk" });
  } catch {
    // Altered by hand: its signatures are reported.
    return null;
  }
}

/** The text that a signature signs. */
export function textOf({ chain, count, hash, previous_count: previousCount, signed_at: at }: SignedHead): string {
  return signedText({ chain, count, hash, previousCount, at });
}

/** Why a signature does not hold; null: it does. */
export function signatureFault(keys: ReadonlyMap<string, KeyObject>, head: SignedHead): string | null {
  const key = keys.get(head.kid);
  if (key === undefined) return `its signing key ${head.kid} is missing or invalid`;
  const holds = verify(null, Buffer.from(textOf(head)), key, Buffer.from(head.signature, "base64url"));
  return holds ? null : "its signature does not match";
}
