import { postgresKit } from "./postgres-kit.ts";
import { allTables, type Tables } from "./tables.ts";

/** Every table, as PostgreSQL has it. Apart from SQLite's: a command on a data directory does not build these. */
export const postgresTables: Tables = allTables(postgresKit);
