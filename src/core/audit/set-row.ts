import { insert, type KeyOf, updateRow } from "../store/rows.ts";
import type { NewRow, Row } from "../store/schema/tables.ts";
import type { Tx } from "../store/store.ts";
import { changesOf } from "./changes.ts";
import { type AuditEntry, recordAudit } from "./record.ts";

/** What the operator sets row by row, each under a name of its own. */
type Settable = "carriers" | "suppliers";

interface Setting<N extends Settable> {
  key: KeyOf<N>;
  /** Null: it is added. */
  before: Row<N> | null;
  row: Row<N> & NewRow<N>;
  /** As they were given; what is left out, or was so before, is not named in the audit trail. */
  settings: object;
  /** The columns whose values the audit trail keeps. */
  kept: readonly (keyof Row<N> & string)[];
  audit: Omit<AuditEntry, "fields" | "changes">;
}

/** Adds or changes a row, and records which of the given settings changed, with values where they are kept. */
export async function setRow<N extends Settable>(tx: Tx, table: N, setting: Setting<N>): Promise<void> {
  const { key, before, row, settings, kept, audit } = setting;
  if (before === null) await insert(tx, table, [row]);
  else await updateRow(tx, table, key, row);
  const changes = changesOf<Row<N>>(before, row, kept);
  // The names of a record are its keys.
  const columns = Object.keys(row) as (keyof Row<N> & string)[];
  const same = new Set<string>(columns.filter((one) => changesOf<Row<N>>(before, row, [one]).length === 0));
  const fields = givenNames(settings).filter((name) => !same.has(name));
  await recordAudit(tx, { ...audit, fields, changes });
}

/** The names of what was given: undefined means left out. */
export function givenNames(given: object): string[] {
  return Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [name]));
}
