import { Column, is, type SQL, sql } from "drizzle-orm";
import type { TableName } from "./schema/tables.ts";
import type { Dialect, Read } from "./store.ts";

// Many values as one parameter of a prepared statement: a JSON array, whose elements are rows of `Dialect.listed`.

/** Many texts as one parameter, for `isListed`. */
export function listOf(texts: readonly string[]): string {
  return JSON.stringify(texts.map((text) => [text]));
}

/** Whether a column is one of the texts of a `listOf`: a prepared statement takes lists of every length. */
export function isListed(dialect: Dialect, column: Column, json: SQL): SQL {
  return dialect.among(column, sql`select ${textAt(0)} from ${dialect.listed(json)}`);
}

/** Cell `at` of a listed element that is a list, as a text. */
export function textAt<T = string>(at: number): SQL<T> {
  return sql<T>`listed.value ->> ${sql.raw(String(at))}`;
}

/** The same, as a number. */
export function numberAt(at: number): SQL<number> {
  return sql<number>`cast(${textAt(at)} as bigint)`;
}

/** A column of a table, by its name in the code. */
export interface NamedColumn {
  name: string;
  column: Column;
}

const known = new Map<unknown, NamedColumn[]>();

/** All columns of a table, in their order. */
export function columnsOf({ t }: Pick<Read, "t">, table: TableName): NamedColumn[] {
  const columns = known.get(t[table]) ?? namedColumns({ t }, table, Object.keys(t[table]));
  known.set(t[table], columns);
  return columns;
}

/** Those columns of a table that are among these names. */
export function namedColumns({ t }: Pick<Read, "t">, table: TableName, names: readonly string[]): NamedColumn[] {
  return names.flatMap((name) => {
    const column: unknown = Reflect.get(t[table], name);
    return is(column, Column) ? [{ name, column }] : [];
  });
}

/** Cell `at` of an element of `cellsOf`, with the type of its column. */
export function elementCell(column: Column, at: number): SQL {
  return column.getSQLType().startsWith("text") ? textAt(at) : numberAt(at);
}

/** The cells of rows as one parameter for `Dialect.listed`. */
export function cellsOf(columns: readonly NamedColumn[], rows: readonly object[]): string {
  const cells = rows.map((row) =>
    columns.map(({ name, column }) => {
      const value: unknown = Reflect.get(row, name);
      return value === undefined || value === null ? null : column.mapToDriverValue(value);
    }),
  );
  return JSON.stringify(cells);
}
