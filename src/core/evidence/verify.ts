import { count } from "drizzle-orm";
import { counted } from "../kernel/counted.ts";
import { allHeads, headMark, linkHash, type StoredHead, walletOf } from "../store/sealing/chain.ts";
import { first, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { registerFault } from "./register.ts";
import { type ChainedRow, rowsOfChain } from "./rows.ts";
import { type SignedHead, signatureFault, signaturesOf, verifyingKeys } from "./signatures.ts";

/** What is wrong with a chain. */
export interface ChainFault {
  /** Null: it concerns no one chain. */
  chain: string | null;
  /** The row in question; null: the chain's end. */
  no: number | null;
  message: string;
}

/** What reading all chains came to. */
export interface ChainCheck {
  /** Every row, head and signature is as it was written. */
  ok: boolean;
  chains: number;
  rows: number;
  signatures: number;
  /** The first 100. */
  faults: ChainFault[];
  /** How many there are in all. */
  fault_count: number;
}

const MOST_FAULTS = 100;

type Report = (chain: string | null, no: number | null, message: string) => void;

/** How chains are read. */
export interface ChainReading {
  /**
   * The vault holds its keys, so that the marks of the heads are compared too; without, rows that were made up together
   * with their head show only where the chain was signed.
   */
  keyed: boolean;
  /** Awaited after each 500 rows at most: how many were read, of those that the heads count. */
  between?: (done: number, total: number) => Promise<void>;
}

/** One reading of all chains. */
interface Walk extends ChainReading {
  q: Read;
  total: number;
  report: Report;
  keys: Awaited<ReturnType<typeof verifyingKeys>>;
  seen: { audit: number; ledger: number; postings: number; signatures: number };
}

/**
 * Reads every chain whole, on one snapshot: whether each row follows from the one before, the head from the last, and
 * each signature covers what is there.
 */
export async function verifyChains(q: Read, reading: ChainReading): Promise<ChainCheck> {
  const { keyed } = reading;
  const faults: ChainFault[] = [];
  let fault_count = 0;
  const report: Report = (chain, no, message) => {
    fault_count += 1;
    if (faults.length < MOST_FAULTS) faults.push({ chain, no, message });
  };
  const heads = await allHeads(q);
  const seen = { audit: 0, ledger: 0, postings: 0, signatures: 0 };
  const total = heads.reduce((sum, { count }) => sum + count, 0);
  const walk: Walk = { ...reading, q, total, report, keys: await verifyingKeys(q), seen };
  for (const head of heads) await readChain(walk, head);
  await compareTotals(walk);
  const fault = keyed
    ? await registerFault(
        q,
        heads.map(({ chain }) => chain),
      )
    : null;
  if (fault !== null) report(null, null, fault);
  const { audit, ledger, signatures } = seen;
  return { ok: fault_count === 0, chains: heads.length, rows: audit + ledger, signatures, faults, fault_count };
}

/** How far a chain has been read. */
interface Reached {
  chain: string;
  no: number;
  hash: string | null;
  /** Its signatures by the count that each covers; those that were met are taken out. */
  signed: Map<number, SignedHead>;
  /** The count of the signature that was met last. */
  signedCount: number;
}

async function readChain(walk: Walk, head: StoredHead): Promise<void> {
  const { q, seen } = walk;
  const { chain } = head;
  const signatures = await signaturesOf(q, chain);
  seen.signatures += signatures.length;
  const signed = new Map(signatures.map((signature) => [signature.count, signature]));
  const reached: Reached = { chain, no: 0, hash: null, signed, signedCount: 0 };
  for (;;) {
    const rows = await rowsOfChain(q, { chain, after: reached.no, upTo: Number.MAX_SAFE_INTEGER });
    if (rows.length === 0) break;
    for (const row of rows) readRow(walk, reached, row);
    seen[walletOf(chain) === null ? "audit" : "ledger"] += rows.length;
    await walk.between?.(seen.audit + seen.ledger, walk.total);
  }
  endChain(walk, reached, head);
}

function readRow({ report, keys, seen }: Walk, reached: Reached, row: ChainedRow): void {
  const { no } = row;
  const { chain } = reached;
  const place = { no, previous: reached.hash };
  seen.postings += row.postings;
  if (no !== reached.no + 1) report(chain, no, `${missingWords(reached.no + 1, no - 1)} before row ${row.id}`);
  else if (linkHash(row.linkAt(place)) !== row.hash) report(chain, no, `row ${row.id} is not as it was written`);
  reached.no = no;
  reached.hash = row.hash;
  const signed = reached.signed.get(no);
  if (signed === undefined) return;
  reached.signed.delete(no);
  const fault = signed.hash === row.hash ? signatureFault(keys, signed) : "it signs another row";
  if (fault !== null) report(chain, no, `the signature of row ${no} does not hold: ${fault}`);
  if (signed.previous_count !== reached.signedCount) report(chain, no, "a signature before this one is missing");
  reached.signedCount = no;
}

function missingWords(from: number, to: number): string {
  if (from > to) return "a row is there twice";
  return from === to ? `row ${from} is missing` : `rows ${from} to ${to} are missing`;
}

function endChain({ q, keyed, report }: Walk, reached: Reached, head: StoredHead): void {
  const { chain, no, hash, signed, signedCount } = reached;
  if (head.count > no) report(chain, null, `${missingWords(no + 1, head.count)} at its end`);
  if (head.count < no) report(chain, null, `${counted(no - head.count, "row")} more than its head counts`);
  if (head.count === no && head.hash !== hash) report(chain, null, "its head names another last row");
  const marked = !keyed || head.mark === (head.count === 0 ? null : headMark(q.vault, head));
  if (!marked) report(chain, null, "its head was not written by this program");
  for (const later of signed.keys()) report(chain, later, `row ${later} was signed and is missing`);
  if (head.signedCount !== signedCount) report(chain, null, `the signature of row ${head.signedCount} is missing`);
}

const audit = statement((db, t, _slot) => db.select({ many: count() }).from(t.auditEntries));
const ledger = statement((db, t, _slot) => db.select({ many: count() }).from(t.ledgerTransactions));
const postings = statement((db, t, _slot) => db.select({ many: count() }).from(t.ledgerPostings));
const signatures = statement((db, t, _slot) => db.select({ many: count() }).from(t.signedHeads));

const totals = { audit, ledger, postings, signatures } as const;

const totalWords = {
  audit: "of the audit trail",
  ledger: "of the ledger's transactions",
  postings: "of the ledger's postings",
  signatures: "of signatures",
} as const;

/** What is in no chain was added past the program, or its head was removed. */
async function compareTotals({ q, seen, report }: Walk): Promise<void> {
  for (const name of ["audit", "ledger", "postings", "signatures"] as const) {
    const many = first(await totals[name](q, {}))?.many ?? 0;
    if (many === seen[name]) continue;
    report(null, null, `${counted(many - seen[name], "row")} ${totalWords[name]} in no chain`);
  }
}
