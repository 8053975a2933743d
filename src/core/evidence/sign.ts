import { createPrivateKey, sign } from "node:crypto";
import { and, eq } from "drizzle-orm";
import { ensureSigningKey, loadSigningKeys, type SigningKey } from "../credentials/signing-keys.ts";
import { insert } from "../store/rows.ts";
import { allHeads, type Head, headOf, signedText, writeMark } from "../store/sealing/chain.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { ensureRegister, type RolledHead, rollRegister } from "./register.ts";

const DAY_MS = 86_400_000;

const signatureAt = statement((db, t, slot: Slots<{ chain: string; count: number }>) =>
  db
    .select({ signed_at: t.signedHeads.signed_at, hash: t.signedHeads.hash })
    .from(t.signedHeads)
    .where(and(eq(t.signedHeads.chain, slot.chain), eq(t.signedHeads.count, slot.count))),
);

/** The chains that have grown since their last signature. */
export async function grownChains(q: Read, _input: null): Promise<string[]> {
  return (await allHeads(q)).flatMap(({ chain, count, signedCount }) => (count > signedCount ? [chain] : []));
}

/** Chains whose heads are to be signed. */
export interface Signing {
  chains: readonly string[];
  /** Once in a UTC day for each chain; `now`: as soon as it has grown. */
  when: "daily" | "now";
}

/**
 * Signs the heads of those chains that have grown since their last signature, with the platform's signing key, and
 * answers how many. Running it again signs nothing twice.
 */
export async function signHeads(tx: Tx, { chains, when }: Signing): Promise<number> {
  await ensureSigningKey(tx, null);
  const key = (await loadSigningKeys(tx, null)).findLast(({ retiredAt }) => retiredAt === null);
  if (key === undefined) throw new Error("no signing key in the database");
  await ensureRegister(tx);
  const rolled: RolledHead[] = [];
  for (const chain of chains) {
    const head = await headOf(tx, chain);
    if (head === null || head.hash === null || head.count <= head.signedCount) continue;
    if (when === "daily" && (await isSignedToday(tx, head))) continue;
    const last = first(await signatureAt(tx, { chain, count: head.signedCount }));
    const from = last === null ? null : { chain, count: head.signedCount, hash: last.hash };
    await signHead(tx, { ...head, hash: head.hash }, key);
    rolled.push({ from, to: { chain, count: head.count, hash: head.hash } });
  }
  await rollRegister(tx, rolled);
  return rolled.length;
}

async function isSignedToday(tx: Tx, { chain, signedCount }: Head): Promise<boolean> {
  const last = first(await signatureAt(tx, { chain, count: signedCount }));
  return last !== null && Math.floor(last.signed_at / DAY_MS) === Math.floor(tx.now / DAY_MS);
}

async function signHead(tx: Tx, head: Head & { hash: string }, { kid, privateJwk }: SigningKey): Promise<void> {
  const { chain, count, hash, signedCount: previousCount } = head;
  const text = signedText({ chain, count, hash, previousCount, at: tx.now });
  const key = createPrivateKey({ key: { ...privateJwk }, format: "jwk" });
  const signature = sign(null, Buffer.from(text), key).toString("base64url");
  const row = { chain, count, hash, previous_count: previousCount, signed_at: tx.now, kid, signature };
  await insert(tx, "signedHeads", [row]);
  await writeMark(tx, { ...head, signedCount: count });
}
