import type { Noun, Single } from "./frame/command.ts";

/** Commands without a noun, in the order of the help. */
export const singles: readonly Single[] = [
  { name: "init", summary: "make a data directory", load: async () => (await import("./commands/init.ts")).init },
  {
    name: "serve",
    summary: "run the platform: API, workers, pages",
    load: async () => (await import("./commands/serve.ts")).serve,
  },
  { name: "login", summary: "sign in to a server", load: async () => (await import("./commands/login.ts")).login },
  { name: "logout", summary: "forget a login", load: async () => (await import("./commands/logout.ts")).logout },
  {
    name: "whoami",
    summary: "where commands act, and as whom",
    load: async () => (await import("./commands/whoami.ts")).whoami,
  },
  {
    name: "completion",
    summary: "completion for bash, zsh and fish",
    load: async () => (await import("./commands/completion.ts")).completion,
  },
  {
    name: "status",
    summary: "requests, orders, queues, cron runs, and what needs attention",
    load: async () => (await import("./commands/status.ts")).status,
  },
  {
    name: "find",
    summary: "all that is recorded of an ICCID, order, request, e-mail address, passport number or id",
    load: async () => (await import("./commands/find.ts")).find,
  },
  {
    name: "doctor",
    summary: "run checks on the installation, and say what to do about each finding",
    load: async () => (await import("./commands/doctor.ts")).doctor,
  },
  {
    name: "backup",
    summary: "copy everything into one file, while serve runs",
    load: async () => (await import("./commands/backup.ts")).backup,
  },
  {
    name: "verify-backup",
    summary: "read a backup whole: damage, schema, key, ledger",
    load: async () => (await import("./commands/verify-backup.ts")).verifyBackup,
  },
  {
    name: "restore",
    summary: "put a backup into a data directory",
    load: async () => (await import("./commands/restore.ts")).restore,
  },
  {
    name: "migrate-to",
    summary: "move everything from a data directory to PostgreSQL",
    load: async () => (await import("./commands/migrate-to.ts")).migrateTo,
  },
];

/** Nouns, in the order of the help. */
export const nouns: readonly Noun[] = [
  {
    name: "partners",
    summary: "resellers: tier, agent record, production access",
    verbs: async () => (await import("./commands/partners/verbs.ts")).verbs,
  },
  {
    name: "credentials",
    summary: "API credentials of partners",
    verbs: async () => (await import("./commands/credentials/verbs.ts")).verbs,
  },
  {
    name: "wallet",
    summary: "prepaid money: balances, ledger, audit",
    verbs: async () => (await import("./commands/wallet/verbs.ts")).verbs,
  },
  {
    name: "products",
    summary: "the catalog",
    verbs: async () => (await import("./commands/products/verbs.ts")).verbs,
  },
  {
    name: "catalog",
    summary: "the catalog for shops: Shopify, WooCommerce",
    verbs: async () => (await import("./commands/catalog/verbs.ts")).verbs,
  },
  {
    name: "stock",
    summary: "eSIMs in stock, ready for sale",
    verbs: async () => (await import("./commands/stock/verbs.ts")).verbs,
  },
  {
    name: "orders",
    summary: "orders of partners: create, read, deliver, review",
    verbs: async () => (await import("./commands/orders/verbs.ts")).verbs,
  },
  {
    name: "suppliers",
    summary: "suppliers of what is not in stock, by signed HTTP or by mail",
    verbs: async () => (await import("./commands/suppliers/verbs.ts")).verbs,
  },
  {
    name: "webhooks",
    summary: "where events go: endpoints, deliveries, secrets, a local receiver",
    verbs: async () => (await import("./commands/webhooks/verbs.ts")).verbs,
  },
  {
    name: "esims",
    summary: "eSIMs: status, usage, activation",
    verbs: async () => (await import("./commands/esims/verbs.ts")).verbs,
  },
  {
    name: "activations",
    summary: "physical SIMs: submit, move and cancel requests, work the queue",
    verbs: async () => (await import("./commands/activations/verbs.ts")).verbs,
  },
  {
    name: "carriers",
    summary: "carriers that activate physical SIMs, and their connections",
    verbs: async () => (await import("./commands/carriers/verbs.ts")).verbs,
  },
  {
    name: "passports",
    summary: "the identity pool: import, verify, withdraw, purge",
    verbs: async () => (await import("./commands/passports/verbs.ts")).verbs,
  },
  {
    name: "audit",
    summary: "the audit trail",
    verbs: async () => (await import("./commands/audit/verbs.ts")).verbs,
  },
  {
    name: "logs",
    summary: "the daemon's log",
    verbs: async () => (await import("./commands/logs/verbs.ts")).verbs,
  },
  {
    name: "keys",
    summary: "the keys of tokens and of sealed data",
    verbs: async () => (await import("./commands/keys/verbs.ts")).verbs,
  },
];
