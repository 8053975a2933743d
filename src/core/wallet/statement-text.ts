import { createHash } from "node:crypto";
import { csvLines } from "../csv/write.ts";
import { isoTime } from "../kernel/clock.ts";
import type { Store } from "../store/store.ts";
import { type Statement, statementMovements } from "./statement.ts";
import type { WalletTransaction } from "./transactions.ts";

// The text of a statement is its CSV. docs/api.md describes it for partners, who keep its hash: a change of a line here
// gives every finished month another hash.

const COLUMNS = [
  "created_at",
  "kind",
  "currency",
  "amount_cents",
  "balance_after_cents",
  "reference",
  "order_id",
  "order_number",
  "id",
] as const;

/** Movements read and written at a time. */
const PAGE = 500;

/** A part of a statement: a piece of its CSV, and the movements that are in it. */
export interface StatementPart {
  text: string;
  movements: readonly WalletTransaction[];
  /** In the last part of a finished month: SHA-256 (hex) of the CSV before the line that says it. */
  hash: string | null;
}

/** The values of a line by column; those that it has not are empty. */
type Line = { readonly [C in (typeof COLUMNS)[number]]?: string | number | null };

function csvOf(lines: readonly Line[]): string {
  return csvLines(lines.map((line) => COLUMNS.map((column) => String(line[column] ?? ""))));
}

/** A statement in parts, each read as it is asked for: the opening, movements, the closing. */
export async function* statementParts(
  { list }: Pick<Store, "list">,
  { partnerId, figures, after: before, through, from, until }: Statement,
): AsyncGenerator<StatementPart> {
  const { currency, opening_cents, closing_cents, finished } = figures;
  const digest = createHash("sha256");
  const covered = (lines: readonly Line[]) => {
    const text = csvOf(lines);
    digest.update(text);
    return text;
  };
  const names = Object.fromEntries(COLUMNS.map((column) => [column, column]));
  const opening = { created_at: isoTime(from), kind: "opening", currency, balance_after_cents: opening_cents };
  yield { text: covered([names, opening]), movements: [], hash: null };
  for (let after = before; after < through; after += PAGE) {
    const movements = await list(statementMovements, { partnerId, currency, after, through, limit: PAGE });
    yield { text: covered(movements), movements, hash: null };
  }
  const closing = { created_at: isoTime(until), kind: "closing", currency, balance_after_cents: closing_cents };
  const text = covered([closing]);
  const hash = finished ? digest.digest("hex") : null;
  const said = hash === null ? "" : csvOf([{ kind: "hash", currency, reference: hash }]);
  yield { text: text + said, movements: [], hash };
}

/** The CSV of a statement in pieces. */
export async function* statementCsv(store: Pick<Store, "list">, statement: Statement): AsyncGenerator<string> {
  for await (const { text } of statementParts(store, statement)) yield text;
}
