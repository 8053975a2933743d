import * as pg from "drizzle-orm/pg-core";
import { flagToDriver, jsonFromDriver, jsonToDriver, type Kit } from "./kit.ts";
import { allTables, type Tables } from "./tables.ts";

// Code-point order, as SQLite sorts, whatever the database's own locale is.
const pgText = pg.customType<{ data: string; driverData: string }>({ dataType: () => 'text COLLATE "C"' });

const pgFlag = pg.customType<{ data: boolean; driverData: number | string }>({
  dataType: () => "bigint",
  toDriver: flagToDriver,
  fromDriver: (value) => Number(value) === 1,
});

const pgJson = pg.customType<{ data: unknown; driverData: string | null }>({
  dataType: () => 'text COLLATE "C"',
  toDriver: jsonToDriver,
  fromDriver: jsonFromDriver,
});

// The one cast between the engines: PostgreSQL's builders take the place of SQLite's, call for call. drizzle's query
// builder is the same for both at run time; only the type names differ.
const postgresKit = {
  table: pg.pgTable,
  index: pg.index,
  uniqueIndex: pg.uniqueIndex,
  primaryKey: pg.primaryKey,
  check: pg.check,
  text: (name: string) => pgText(name),
  int: (name: string) => pg.bigint(name, { mode: "number" }),
  flag: (name: string) => pgFlag(name),
  json: (name: string) => pgJson(name),
} as unknown as Kit;

/** Every table, as PostgreSQL has it. Apart from SQLite's: a command on a data directory does not build these. */
export const postgresTables: Tables = allTables(postgresKit);
