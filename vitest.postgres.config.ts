import { defineConfig } from "vitest/config";
import { HANG_MS } from "./test/support/hangs.ts";
import { slow } from "./test/support/tags.ts";

const named = (name: string) => `test/${name}.test.ts`;

/** The same core and HTTP tests on a PostgreSQL that the suite starts itself; without the slow ones as `npm test`. */
export default defineConfig({
  test: {
    tags: [slow],
    include: ["test/*.test.ts"],
    globalSetup: ["temporary-setup", "global-setup", "postgres-setup"].map((name) => `test/support/${name}.ts`),
    // For hangs only: the suite has to pass on a busy machine. A wait that hangs fails first, with what it waited for.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: HANG_MS, interval: 20 } },
    // As there: each waits for the server as long as it works.
    maxWorkers: 3,
    // As in the other suite: files share what a process has loaded.
    isolate: false,
    exclude: [
      // The terminal on its own data directory, and daemons as processes: test/slow has what matters of them here.
      ...["cli*", "serve", "serve-workers", "bench"].map(named),
      // The files and the plans of SQLite.
      ...["durable-writes", "query-plans", "stable-plans", "wal-size"].map(named),
      // No store: CSV and log files, what is shipped and deployed, pages of documentation, checks of texts.
      ...[
        "compose",
        "csv",
        "csv-import",
        "deploy",
        "docs",
        "fixtures",
        "log-file",
        "package",
        "redaction",
        "webhook-docs",
      ].map(named),
      // A store that nothing is asked of: heads, and the validation of made-up routes.
      ...["http-heads", "validation"].map(named),
      // Pages: pages-access opens all of them here, pages-filters all their lists; the rest is tested with the core.
      ...["test/portal-*.test.ts", "test/console-!(deliveries|money|partners).test.ts"],
      ...["activation-identity", "amounts", "empty", "progress", "security"].map((what) => named(`pages-${what}`)),
      // The terminal: what it asks the store, tests of the core ask here.
      ...["activation-dates", "keys-outside", "prices", "prices-import", "suspended-partners"].map(named),
      // HTTP, pages and documents, whatever the engine: what they ask the store has tests of its own.
      ...[
        ...["access", "bodies", "caching", "catalog-sync", "compression", "guides", "http-conventions", "install-page"],
        ...["kept-memory", "logging", "openapi", "paths", "qr", "query-values", "statement-pdf"],
      ].map(named),
      // What others' APIs say, and what is made of it: supplier-airalo-access has what they ask the store.
      ...[
        "carrier-simulator",
        "carriers",
        "diagnose",
        "hostile-receivers",
        "suppliers-check",
        "suppliers-simulate",
      ].map(named),
      ...[
        "airalo",
        "airalo-esims",
        "esimaccess",
        "esimaccess-account",
        "esimgo",
        "esimgo-apply",
        "esimgo-catalog",
        "esimgo-purchase",
      ].map((name) => named(`supplier-${name}`)),
      "test/simulated-*.test.ts",
      // What circuits do over minutes: supply-circuit has what they ask the store.
      ...["supply-outage"].map(named),
      // Limits that a process counts by itself; shared-limits and postgres-nodes count over nodes.
      ...["rate-limits"].map(named),
      // What is said of rows, codes, names and addresses before any store sees them.
      ...[
        ...["activation-codes", "csv-gathering", "connection-budget", "doubtful-rows", "file-encodings", "flame-graph"],
        ...["low-exit-codes", "passport-issuers", "product-prices", "usage-files", "webhook-addresses", "writer"],
      ].map(named),
      // The shape of the sources.
      ...["architecture", "language", "tidy"].map(named),
    ],
    env: { ESIMCTL_TEST_ENGINE: "postgres" },
  },
});
