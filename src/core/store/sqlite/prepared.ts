import type { Statement } from "better-sqlite3";
import { Column, is, Param, Placeholder, SQL } from "drizzle-orm";
import type { Preparable, Prepared } from "../store.ts";

/** A statement as SQLite executes it. */
export interface DirectlyPrepared extends Prepared {
  /**
   * Executes it for each of these at once, or for each `together` of them, which it must have slots for, with null for
   * each parameter that is left out; the list is of whole groups. Answers the places of those groups that changed no
   * row. Missing where it answers rows.
   */
  each?(list: readonly object[], together?: number): number[];
}

/** What drizzle's prepared statement of better-sqlite3 holds, as its own `execute` uses it. */
interface Built {
  stmt: Statement<unknown[]>;
  query: { sql: string; params: unknown[] };
  logger: { logQuery(text: string, params: unknown[]): void };
  executeMethod: string;
  fields: Field[] | undefined;
  customResultMapper: unknown;
}

interface Field {
  path: string[];
  field: unknown;
}

interface Decoder {
  mapFromDriverValue(value: unknown): unknown;
}

/** Any plain object is a record of its own keys. */
type Values = Record<string, unknown>;

type Coded = (value: unknown) => unknown;

/** A parameter: the value of this name, or always the same one. */
interface Filled {
  name: string | null;
  value: unknown;
  encode: Coded | null;
}

/** A column of the result: the name that its value gets. */
interface Named {
  name: string;
  decode: Coded | null;
}

/**
 * The statement that drizzle prepared, executed without its builder: what drizzle finds out at each call about every
 * parameter and column is found out once. Statements with nested rows execute themselves.
 */
export function prepareDirectly(made: Preparable<unknown>): DirectlyPrepared {
  // SQLite's statements have no names; building the text for one would double the work of preparing it.
  const prepared = made.prepare("");
  // drizzle's own fields, private to its types; tests compare what both ways answer.
  const { stmt, query, logger, executeMethod, fields, customResultMapper } = prepared as unknown as Built;
  const columns = (fields ?? []).map(namedColumn);
  const isNested = columns.includes(null) || customResultMapper !== undefined;
  if (isNested || (fields === undefined && executeMethod !== "run"))
    return { execute: async (params) => prepared.execute(params) };
  const filled = filling(query.params);
  const filledRows = fillingRows(query.params);
  const fill = (values: Values): unknown[] => {
    const params = filled(values);
    // Nothing but tests have one.
    logger.logQuery(query.sql, params);
    return params;
  };
  if (fields === undefined) {
    // One argument for each is quicker than a list.
    return {
      execute: async (params) => stmt.run(...fill(params)),
      each(list, together = 1) {
        const unchanged: number[] = [];
        logger.logQuery(query.sql, []);
        for (let at = 0; at < list.length; at += together) {
          if (stmt.run(...filledRows(list.slice(at, at + together))).changes === 0) unchanged.push(at / together);
        }
        return unchanged;
      },
    };
  }
  const named = columns.filter((column) => column !== null);
  stmt.raw(true);
  // In this mode a row is the list of its values.
  const rows = (params: Values) => (stmt.all(...fill(params)) as unknown[][]).map((row) => rowOf(named, row));
  return { execute: async (params) => rows(params) };
}

/** What makes the list of parameters from their values by name; one that is left out is a mistake. */
function filling(params: readonly unknown[]): (values: Values) => unknown[] {
  const slots = params.map(filledParam);
  return (values) => {
    const filled: unknown[] = [];
    for (const { name, value, encode } of slots) {
      if (name === null) {
        filled.push(value);
        continue;
      }
      const given = values[name];
      if (given === undefined && !(name in values)) throw new Error(`No value for placeholder "${name}" was provided`);
      // SQLite has no other nothing.
      filled.push(encode === null ? (given ?? null) : encode(given ?? null));
    }
    return filled;
  };
}

/** The same for a statement that has as many slots for each of its rows. */
function fillingRows(params: readonly unknown[]): (rows: readonly object[]) => unknown[] {
  const slots = params.map(filledParam);
  return (rows) => {
    const filled: unknown[] = [];
    const ofRow = slots.length / rows.length;
    for (const [row, values] of rows.entries()) {
      for (let at = row * ofRow; at < (row + 1) * ofRow; at++) {
        const slot = slots[at];
        if (slot === undefined) throw new Error("the statement is for other rows");
        const { name, value, encode } = slot;
        const given = name === null ? value : (Reflect.get(values, name) ?? null);
        filled.push(name === null || encode === null ? given : encode(given));
      }
    }
    return filled;
  };
}

function filledParam(param: unknown): Filled {
  if (is(param, Placeholder)) return { name: param.name, value: null, encode: null };
  if (is(param, Param) && is(param.value, Placeholder)) {
    const { encoder, value } = param;
    const encode: Coded = (given) => encoder.mapToDriverValue(given);
    return { name: value.name, value: null, encode: isPlain(encoder, "mapToDriverValue") ? null : encode };
  }
  return { name: null, value: param, encode: null };
}

function namedColumn({ path, field }: Field): Named | null {
  const [name, ...deeper] = path;
  const decoder = decoderOf(field);
  if (name === undefined || deeper.length > 0 || decoder === null) return null;
  const decode: Coded = (value) => decoder.mapFromDriverValue(value);
  return { name, decode: isPlain(decoder, "mapFromDriverValue") ? null : decode };
}

/** What maps the value of a selected column or expression; null: that is not known here. */
function decoderOf(field: unknown): Decoder | null {
  if (is(field, Column)) return field;
  const expression = is(field, SQL.Aliased) ? field.sql : field;
  // drizzle keeps it there, marked as internal.
  return is(expression, SQL) ? (Reflect.get(expression, "decoder") as Decoder) : null;
}

/** Whether a column's mapping returns what it gets. */
function isPlain(coder: object, name: "mapToDriverValue" | "mapFromDriverValue"): boolean {
  return is(coder, Column) && Reflect.get(coder, name) === Column.prototype[name];
}

function rowOf(columns: readonly Named[], values: readonly unknown[]): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  let at = 0;
  for (const { name, decode } of columns) {
    const value = values[at++];
    row[name] = value === null || decode === null ? value : decode(value);
  }
  return row;
}
