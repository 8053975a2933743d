import type { OrderId, PartnerId } from "../../kernel/brand.ts";
import type { FieldChange, LedgerKind } from "../schema/values.ts";
import type { MigrationTarget } from "./migration.ts";

const BATCH = 500;

/** The head of a chain as far as it is filled. */
interface Filled {
  no: number;
  hash: string;
}

type Heads = Map<string, Filled>;
type Cells = Record<string, unknown>;

/**
 * Chains the audit entries and ledger transactions of a database from before the chains, in the order of time, in
 * batches. The heads get their marks once the keys are open: see sealing/chain.ts.
 */
export async function fillChains(target: MigrationTarget): Promise<void> {
  const audit = await fillAudit(target);
  const wallets = await fillLedger(target);
  if (audit.size + wallets.size === 0) return;
  for (const [chain, { no, hash }] of audit) {
    await target.run(
      `INSERT INTO chain_heads (chain, chain_count, chain_hash, signed_count)
       VALUES (${literal(chain)}, ${no}, ${literal(hash)}, 0)`,
    );
  }
  for (const [key, { no, hash }] of wallets) {
    const [partner = "", currency = ""] = key.split(" ");
    await target.run(
      `UPDATE wallets SET chain_count = ${no}, chain_hash = ${literal(hash)}
       WHERE partner_id = ${literal(partner)} AND currency = ${literal(currency)}`,
    );
  }
  await target.run("INSERT INTO settings (key, value) VALUES ('chain_heads', 'unmarked')");
}

async function fillAudit(target: MigrationTarget): Promise<Heads> {
  const { auditChain, auditLink, linkHash } = await import("../sealing/chain.ts");
  const heads: Heads = new Map();
  for await (const rows of batches(target, "audit_entries")) {
    const values = rows.map((row) => {
      const content = {
        id: String(row.id),
        at: Number(row.at),
        actor: String(row.actor),
        action: String(row.action),
        target_kind: String(row.target_kind),
        target_id: String(row.target_id),
        partner_id: textOrNull(row.partner_id),
        // As the schema's json() wrote it.
        fields: row.fields === null ? null : (JSON.parse(String(row.fields)) as string[]),
        // The column is a later one, which a database that was converted by hand may have already.
        changes: (row.changes ?? null) === null ? null : (JSON.parse(String(row.changes)) as FieldChange[]),
        note: textOrNull(row.note),
        request_id: textOrNull(row.request_id),
      };
      const chain = auditChain(content.partner_id);
      const { no, hash } = next(heads, chain, (place) => linkHash(auditLink(content, place)));
      return [literal(content.id), literal(chain), no, literal(hash)];
    });
    await update(target, "audit_entries", ["chain", "chain_no", "hash"], values);
  }
  return heads;
}

/** By partner and currency, with a space between. */
async function fillLedger(target: MigrationTarget): Promise<Heads> {
  const { ledgerLink, linkHash } = await import("../sealing/chain.ts");
  const heads: Heads = new Map();
  for await (const rows of batches(target, "ledger_transactions")) {
    const postings = await postingsOf(target, rows);
    const values = rows.map((row) => {
      const content = {
        id: String(row.id),
        // The columns hold what the program wrote into them.
        kind: String(row.kind) as LedgerKind,
        partner_id: String(row.partner_id) as PartnerId,
        order_id: textOrNull(row.order_id) as OrderId | null,
        currency: String(row.currency),
        amount_cents: Number(row.amount_cents),
        reference: textOrNull(row.reference),
        created_at: Number(row.created_at),
      };
      const own = (postings.get(content.id) ?? []).map((posting) => ({
        account: String(posting.account),
        currency: String(posting.currency),
        amount_cents: Number(posting.amount_cents),
      }));
      const key = `${content.partner_id} ${content.currency}`;
      const { no, hash } = next(heads, key, (place) => linkHash(ledgerLink(content, own, place)));
      return [literal(content.id), no, literal(hash)];
    });
    await update(target, "ledger_transactions", ["chain_no", "hash"], values);
  }
  return heads;
}

async function postingsOf(target: MigrationTarget, rows: Cells[]): Promise<Map<string, Cells[]>> {
  const ids = rows.map((row) => literal(String(row.id))).join(", ");
  const found = await target.rows(`SELECT * FROM ledger_postings WHERE transaction_id IN (${ids})`);
  return Map.groupBy(found, (row) => String(row.transaction_id));
}

function next(heads: Heads, key: string, hashAt: (place: { no: number; previous: string | null }) => string): Filled {
  const before = heads.get(key);
  const no = (before?.no ?? 0) + 1;
  const filled = { no, hash: hashAt({ no, previous: before?.hash ?? null }) };
  heads.set(key, filled);
  return filled;
}

/** All rows of a table, in the order of their IDs, which begin with the time they were made at. */
async function* batches(target: MigrationTarget, table: string): AsyncGenerator<Cells[]> {
  let after = "";
  for (;;) {
    const rows = await target.rows(`SELECT * FROM ${table} WHERE id > ${literal(after)} ORDER BY id LIMIT ${BATCH}`);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = String(last.id);
    yield rows;
  }
}

/** Writes one row of `values` into each row of the table: its id, then the columns. */
function update(target: MigrationTarget, table: string, columns: string[], values: (string | number)[][]) {
  const list = values.map((cells) => `(${cells.join(", ")})`).join(", ");
  const set = columns.map((column, at) => `${column} = filled.column${at + 2}`).join(", ");
  return target.run(`UPDATE ${table} SET ${set} FROM (VALUES ${list}) AS filled WHERE ${table}.id = filled.column1`);
}

function textOrNull(cell: unknown): string | null {
  return cell === null || cell === undefined ? null : String(cell);
}

/** A text as SQL writes it, in both engines. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
