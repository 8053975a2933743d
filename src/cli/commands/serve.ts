import { logLevels } from "../../daemon/log/lines.ts";
import { command } from "../frame/command.ts";
import { usageError } from "../kernel/errors.ts";
import type { Globals } from "../kernel/globals.ts";
import { address, choice, flag, integer, text, unless } from "../kernel/input.ts";
import { dated } from "../kernel/input-time.ts";
import { DEFAULT_CONNECTIONS, poolSizes } from "../serve/connection-budget.ts";
import { printListening } from "../serve/listening.ts";
import type { Serving } from "../serve/serving.ts";

/** The environment's name for --database-connections. */
const CONNECTIONS = "ESIMCTL_DATABASE_CONNECTIONS";

/** What `serve` takes. */
export const serveOptions = {
  host: text("--host <host>", "address to listen on (default 127.0.0.1)"),
  port: integer("--port <n>", "port to listen on (default 8080; 0: any free one)", { max: 65_535 }),
  publicUrl: address("--public-url <url>", "the address in links and tokens (default: the bound address)"),
  docsUrl: address("--docs-url <url>", "base of the problem types (default: PUBLIC_URL/docs)"),
  pages: unless("--no-pages", "serve the API without portal and console"),
  trustProxy: flag("--trust-proxy", "take client addresses from the X-Forwarded-For of the proxy in front"),
  allowPrivateWebhooks: flag("--allow-private-webhooks", "let webhooks go to private and loopback addresses"),
  strictEid: flag("--strict-eid", "refuse orders for devices whose EID has a wrong check digit"),
  inventorySunset: dated("--inventory-sunset <date>", "announce when the deprecated GET /inventory/status ends"),
  sandboxDays: integer("--sandbox-days <n>", "days that sandbox orders are kept (default 90)", { min: 1, max: 3_650 }),
  takeOverSettings: flag("--take-over-settings", "on PostgreSQL: change the settings that all nodes share to these"),
  metricsPort: integer("--metrics-port <n>", "serve /metrics on this loopback port", { max: 65_535 }),
  workers: integer("--workers <n>", "processes that answer HTTP (default 1)", { min: 1, max: 64 }),
  databaseConnections: integer(
    "--database-connections <n>",
    `on PostgreSQL: connections over all processes of this node (default ${DEFAULT_CONNECTIONS})`,
    { min: 1, max: 10_000 },
  ),
  readDatabase: text("--read-database <url>", "on PostgreSQL: a replica that answers lists, exports and reports"),
  smtpUrl: text(
    "--smtp-url <url>",
    "where mail to suppliers and travelers, alerts and invitations go out: smtp://user:password@host:587?from=…",
  ),
  logLevel: choice(
    "--log-level <level>",
    logLevels,
    "how much is logged (default info; a line a request on a terminal: debug)",
  ),
};

interface ServeFlags extends Omit<Serving, "host" | "port" | "logLevel" | "workers" | "insecure" | "connections"> {
  host: string | undefined;
  port: number | undefined;
  workers: number | undefined;
  databaseConnections: number | undefined;
  logLevel: Serving["logLevel"] | undefined;
}

/** The given options with their defaults. */
export function servingOf(asked: ServeFlags, { insecure }: Pick<Globals, "insecure">): Serving {
  const { host = "127.0.0.1", port = 8080, logLevel = "info", workers = 1, databaseConnections, ...rest } = asked;
  const budget = databaseConnections ?? serveOptions.databaseConnections.read(process.env[CONNECTIONS] || undefined);
  // An address with a password in it is better kept out of the process list.
  const smtpUrl = smtpAddress(rest.smtpUrl ?? (process.env.ESIMCTL_SMTP_URL || undefined));
  const readDatabase = rest.readDatabase ?? (process.env.ESIMCTL_READ_DATABASE || undefined);
  const connections = poolSizes(budget, workers);
  return { host, port, logLevel, workers, insecure, connections, ...rest, smtpUrl, readDatabase };
}

/** Throws a usage error for an invalid SMTP address; it may hold a password and is not repeated. */
function smtpAddress(typed: string | undefined): string | undefined {
  const url = typed === undefined ? null : URL.parse(typed);
  if (typed === undefined || (url !== null && /^smtps?:$/.test(url.protocol) && url.hostname !== "")) return typed;
  throw usageError(
    "--smtp-url (or ESIMCTL_SMTP_URL) is no address of a mail server.",
    "It looks like smtp://user:password@mail.example.com:587?from=esims@example.com.",
  );
}

export default command({
  target: "process",
  effects:
    "Serves until it is stopped; SIGTERM and Ctrl-C finish what is in flight. Makes the data directory if absent. " +
    "Keeps a log of at most 100 MiB beside the data, or in the user's log folder with --database: esimctl logs tail.",
  json: 'JSON log lines; one has "event":"listening" and "url"',
  examples: [
    "serve",
    "serve --port 9000 --public-url https://esim.example.com --trust-proxy",
    "serve --data /var/lib/esimctl --metrics-port 9464 --json",
  ],
  stays: true,
  args: {},
  options: serveOptions,
  async run(context, input) {
    const { serveUntilStopped } = await import("../serve/serving.ts");
    await serveUntilStopped(context, servingOf(input, context.globals), ({ url, publicUrl }) =>
      printListening(context, url, publicUrl),
    );
    return null;
  },
});
