import { eq, max, sql } from "drizzle-orm";
import { recordAudit } from "../audit/record.ts";
import { auditChain } from "../store/sealing/chain.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { storedValue, storeValue } from "../store/stored-value.ts";

/**
 * The set of all signed chains with their last signed heads, as one keyed sum: a chain that vanishes with its rows,
 * head and signatures is missing from it. Signing rolls it forward; without the installation's key no other sum can be
 * made. The audit trail of the platform says that there is one.
 */
interface Register {
  chains: number;
  /** 256 bits, in hex. */
  sum: string;
  mark: string;
}

/** The last signed head of a chain. */
export interface SignedEnd {
  chain: string;
  count: number;
  hash: string;
}

const KEY = "chain_register";
/** The audit entry that a register was begun with. */
const REGISTER_BEGAN = "evidence.register";
const MODULUS = 1n << 256n;

type Keyed = Pick<Read, "vault">;

/** What a signed head adds to the sum. */
function termOf({ vault }: Keyed, { chain, count, hash }: SignedEnd): bigint {
  const mark = vault.blindIndex("chain register", JSON.stringify([chain, count, hash]));
  return BigInt(`0x${Buffer.from(mark, "base64url").toString("hex")}`);
}

function sealed({ vault }: Keyed, chains: number, sum: bigint): Register {
  const hex = sum.toString(16).padStart(64, "0");
  return { chains, sum: hex, mark: vault.blindIndex("chain register mark", JSON.stringify([chains, hex])) };
}

/** The register of these ends, one for each chain. */
function registerOf(q: Keyed, ends: readonly SignedEnd[]): Register {
  const sum = ends.reduce((total, end) => (total + termOf(q, end)) % MODULUS, 0n);
  return sealed(q, ends.length, sum);
}

const latest = statement((db, t, _slot) => {
  const last = db
    .select({ chain: t.signedHeads.chain, count: max(t.signedHeads.count).as("last_count") })
    .from(t.signedHeads)
    .groupBy(t.signedHeads.chain)
    .as("last");
  return db
    .select({ chain: t.signedHeads.chain, count: t.signedHeads.count, hash: t.signedHeads.hash })
    .from(t.signedHeads)
    .innerJoin(last, sql`${last.chain} = ${t.signedHeads.chain} and ${last.count} = ${t.signedHeads.count}`);
});

const touch = statement((db, t, slot: Slots<{ key: string }>) =>
  db
    .update(t.settings)
    .set({ value: sql`${t.settings.value}` })
    .where(eq(t.settings.key, slot.key))
    .returning({ value: t.settings.value }),
);

/** A head that was signed, and the signed one that it follows. */
export interface RolledHead {
  from: SignedEnd | null;
  to: SignedEnd;
}

/** Begins the register over all that is signed, before the first signature of this version. */
export async function ensureRegister(tx: Tx): Promise<void> {
  if ((await storedValue(tx, KEY)) !== null || (await hasBegun(tx))) return;
  await storeValue(tx, KEY, JSON.stringify(registerOf(tx, await latest(tx, {}))));
  await recordAudit(tx, { actor: "worker", action: REGISTER_BEGAN, targetKind: "evidence", targetId: "chains" });
}

/**
 * Takes new signatures into the register. One that does not hold, or is missing, stays so: rolled forward it would look
 * sound.
 */
export async function rollRegister(tx: Tx, rolled: readonly RolledHead[]): Promise<void> {
  if (rolled.length === 0) return;
  // Locked, so that of two that sign side by side neither is lost.
  const stored = first(await touch(tx, { key: KEY }))?.value;
  const before = stored === undefined ? null : read(stored);
  if (before === null || !holds(tx, before)) return;
  let sum = BigInt(`0x${before.sum}`);
  let { chains } = before;
  for (const { from, to } of rolled) {
    if (from === null) chains += 1;
    else sum -= termOf(tx, from);
    sum += termOf(tx, to);
  }
  await storeValue(tx, KEY, JSON.stringify(sealed(tx, chains, ((sum % MODULUS) + MODULUS) % MODULUS)));
}

function read(stored: string): Register | null {
  try {
    const { chains, sum, mark } = Object(JSON.parse(stored));
    return Number.isSafeInteger(chains) && /^[0-9a-f]{64}$/.test(sum) ? { chains, sum, mark } : null;
  } catch {
    return null;
  }
}

function holds(q: Keyed, register: Register): boolean {
  return sealed(q, register.chains, BigInt(`0x${register.sum}`)).mark === register.mark;
}

const began = statement((db, t, slot: Slots<{ chain: string; action: string }>) =>
  db
    .select({ id: t.auditEntries.id })
    .from(t.auditEntries)
    .where(sql`${t.auditEntries.chain} = ${slot.chain} and ${t.auditEntries.action} = ${slot.action}`)
    .limit(1),
);

async function hasBegun(q: Read): Promise<boolean> {
  return (await began(q, { chain: auditChain(null), action: REGISTER_BEGAN })).length > 0;
}

/**
 * What is wrong with the set of chains; null: nothing. `chains` are those that have a head. There is no register until
 * this version has signed.
 */
export async function registerFault(q: Read, chains: readonly string[]): Promise<string | null> {
  const platform = auditChain(null);
  if (chains.length > 0 && !chains.includes(platform)) return `the chain ${platform} is missing`;
  const stored = await storedValue(q, KEY);
  if (stored === null) return (await hasBegun(q)) ? "the register of chains is missing" : null;
  const register = read(stored);
  if (register === null || !holds(q, register)) return "the register of chains was not written by this program";
  const now = registerOf(q, await latest(q, {}));
  if (now.chains !== register.chains) {
    return `the register names ${register.chains} signed chains, and ${now.chains} are there`;
  }
  return now.sum === register.sum ? null : "signed chains are not those of the register";
}
