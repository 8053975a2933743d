import { fillChains } from "./fill-chains.ts";
import type { Migration } from "./migrations/migration.ts";

type EngineName = "sqlite" | "postgres";

const LEDGER_TABLES = ["ledger_transactions", "ledger_postings"];
const EVIDENCE_TABLES = [...LEDGER_TABLES, "audit_entries", "signed_heads"];

function trigger(engine: EngineName, table: string, verb: string, refusal: { words: string; call: string }): string {
  const name = `${table}_no_${verb.toLowerCase()}`;
  return engine === "sqlite"
    ? `CREATE TRIGGER ${name} BEFORE ${verb} ON ${table} BEGIN SELECT RAISE(ABORT, '${refusal.words}'); END`
    : `CREATE TRIGGER ${name} BEFORE ${verb} ON ${table} EXECUTE FUNCTION ${refusal.call}()`;
}

function refuse({ words, call }: { words: string; call: string }): string {
  return (
    `CREATE FUNCTION ${call}() RETURNS trigger LANGUAGE plpgsql AS ` + `$$ BEGIN RAISE EXCEPTION '${words}'; END $$`
  );
}

const ledger = { words: "the ledger only grows", call: "refuse_ledger_change" };
const evidence = { words: "evidence is only added to", call: "refuse_evidence_change" };

/** The ledger only grows: the database itself refuses to change or delete a row of it. */
export function ledgerGuards(engine: EngineName): Migration {
  const statements = LEDGER_TABLES.flatMap((table) =>
    ["UPDATE", "DELETE"].map((verb) => trigger(engine, table, verb, ledger)),
  );
  return { name: "9000_ledger_guards", statements: engine === "sqlite" ? statements : [refuse(ledger), ...statements] };
}

/** Puts the balance after it into each ledger transaction from before the column; the ledger's guard steps aside. */
export function ledgerBalances(engine: EngineName): Migration {
  const onTable = engine === "sqlite" ? "" : " ON ledger_transactions";
  return {
    name: "9007_ledger_balances",
    statements: [
      `DROP TRIGGER ledger_transactions_no_update${onTable}`,
      `UPDATE ledger_transactions SET balance_after_cents = summed.balance FROM (
        SELECT id, sum(CASE WHEN kind IN ('credit', 'refund') THEN amount_cents ELSE -amount_cents END)
          OVER (PARTITION BY partner_id, currency ORDER BY chain_no) AS balance FROM ledger_transactions
      ) AS summed WHERE summed.id = ledger_transactions.id`,
      trigger(engine, "ledger_transactions", "UPDATE", ledger),
    ],
  };
}

/**
 * Chains the rows from before the chains, then guards all evidence. The ledger's guard steps aside for the fill, in the
 * transaction of the migration.
 */
export function evidenceGuards(engine: EngineName): Migration[] {
  const onTable = engine === "sqlite" ? "" : " ON ledger_transactions";
  const aside = `DROP TRIGGER IF EXISTS ledger_transactions_no_update${onTable}`;
  const added = ["audit_entries", "signed_heads"].flatMap((table) =>
    ["UPDATE", "DELETE"].map((verb) => trigger(engine, table, verb, evidence)),
  );
  // SQLite knows no TRUNCATE.
  const truncations = EVIDENCE_TABLES.map((table) => trigger(engine, table, "TRUNCATE", evidence));
  const back = trigger(engine, "ledger_transactions", "UPDATE", ledger);
  const guards = engine === "sqlite" ? [back, ...added] : [refuse(evidence), back, ...added, ...truncations];
  return [
    { name: "9005_evidence_chains", statements: [aside], fill: fillChains },
    { name: "9006_evidence_guards", statements: guards },
  ];
}
