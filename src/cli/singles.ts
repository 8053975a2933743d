import type { Entry } from "./frame/command.ts";
import { entries } from "./frame/listed.ts";

/** Commands without a noun, in the order of the help. */
export const singles: readonly Entry[] = entries({
  init: ["make a data directory", "data", () => import("./commands/init.ts")],
  serve: ["run the platform: API, workers, pages", "data", () => import("./commands/serve.ts")],
  login: ["sign in to a server", "server", () => import("./commands/login.ts")],
  logout: ["forget a login", "-", () => import("./commands/logout.ts")],
  whoami: ["where commands act, and as whom", "both", () => import("./commands/whoami.ts")],
  version: ["the version of this program", "-", () => import("./commands/version.ts")],
  completion: ["completion for bash, zsh and fish", "-", () => import("./commands/completion.ts")],
  status: [
    "requests, orders, queues, cron runs, and what needs attention",
    "data",
    () => import("./commands/status.ts"),
  ],
  find: [
    "a caller by name, telephone or e-mail; all that is recorded of an ICCID, order, request, passport number or id",
    "both",
    () => import("./commands/find.ts"),
  ],
  doctor: [
    "run checks on the installation, and say what to do about each finding",
    "data",
    () => import("./commands/doctor.ts"),
  ],
  backup: ["copy everything into one file, while serve runs", "data", () => import("./commands/backup.ts")],
  erase: [
    "erase one person from all records, by passport, e-mail address or telephone number",
    "data",
    () => import("./commands/erase.ts"),
  ],
  "verify-backup": [
    "read a backup whole: damage, schema, key, ledger",
    "-",
    () => import("./commands/verify-backup.ts"),
  ],
  restore: ["put a backup into a data directory", "data", () => import("./commands/restore.ts")],
  "migrate-to": [
    "move everything from a data directory to PostgreSQL, or back",
    "data",
    () => import("./commands/migrate-to.ts"),
  ],
});
