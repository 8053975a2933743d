import { onPostgres } from "./store.ts";

/** The checks of a database of either engine, in this order. */
export const databaseChecks = [
  "integrity",
  "schema",
  "key_source",
  "key_file",
  "data_keys",
  "ledger",
  "orders",
  "evidence",
  "stock",
  "sealed_values",
  "credit",
  "balances",
  "stuck_work",
  "outages",
  "paused",
  // What only a server reports.
  ...(onPostgres ? ["writes", "database_clock"] : []),
  "serving",
  "transport",
  "clock",
];
