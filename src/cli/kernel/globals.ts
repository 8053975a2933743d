/** The options that every command takes, before or after its name. */
export const globalOptions: readonly (readonly [flags: string, help: string])[] = [
  ["--json", "print exactly one JSON document on stdout"],
  ["--yes", "answer every confirmation with yes, and ask nothing"],
  ["--no-color", "no colors (also: NO_COLOR)"],
  ["--quiet", "no progress, no notes"],
  ["--verbose", "show the stack of an error"],
  ["--server <url>", "act at this server, by its API (also: ESIMCTL_SERVER)"],
  ["--client-id <id>", "the credential that goes with --server (also: ESIMCTL_CLIENT_ID)"],
  ["--client-secret <secret>", "its secret; - reads it from stdin or asks (also: ESIMCTL_CLIENT_SECRET)"],
  ["--profile <name>", "act as this login (also: ESIMCTL_PROFILE; default: the last one)"],
  ["--data <dir>", "the data directory (also: ESIMCTL_DATA; default: ./esimctl-data)"],
  ["--database <url>", "a PostgreSQL database instead (also: ESIMCTL_DATABASE)"],
  ["--key-file <file>", "the key file that goes with --database (also: ESIMCTL_KEY_FILE)"],
  ["--insecure", "allow addresses without TLS beyond this machine (also, for the database: ESIMCTL_INSECURE=yes)"],
];

/** A shape of a command's JSON document other than JSON: filtered by jq, filled into a template, or its rows as CSV. */
export type Shape = { jq: string } | { template: string } | { csv: CsvForm };

/** How rows are written as CSV. */
export interface CsvForm {
  /** With a byte-order mark, by which Excel knows UTF-8. */
  bom: boolean;
  /** With a decimal beside each amount in minor units. */
  decimals: boolean;
}

/** Those options as they were given. */
export interface Globals {
  json: boolean;
  /** What a command that lists or shows prints instead of text or JSON; null: neither. */
  shape: Shape | null;
  yes: boolean;
  /** No colors: `--no-color`, or NO_COLOR with any value (no-color.org). */
  plain: boolean;
  quiet: boolean;
  verbose: boolean;
  server: string | undefined;
  clientId: string | undefined;
  clientSecret: string | undefined;
  profile: string | undefined;
  data: string | undefined;
  database: string | undefined;
  keyFile: string | undefined;
  /** Allows what this command names to be reached without TLS. */
  insecure: boolean;
}

/** The global options as commander parsed them. */
export function readGlobals(found: Record<string, unknown>, env: NodeJS.ProcessEnv): Globals {
  const textOf = (value: unknown) => (typeof value === "string" ? value : undefined);
  return {
    json: found.json === true,
    shape: null,
    yes: found.yes === true,
    plain: found.color === false || (env.NO_COLOR ?? "") !== "",
    quiet: found.quiet === true,
    verbose: found.verbose === true,
    server: textOf(found.server),
    clientId: textOf(found.clientId),
    clientSecret: textOf(found.clientSecret),
    profile: textOf(found.profile),
    data: textOf(found.data),
    database: textOf(found.database),
    keyFile: textOf(found.keyFile),
    insecure: found.insecure === true,
  };
}

/** The global options of a line that commander could not parse. */
export function guessGlobals(argv: readonly string[], env: NodeJS.ProcessEnv): Globals {
  const end = argv.indexOf("--");
  const flags = end === -1 ? argv : argv.slice(0, end);
  const found = { json: flags.includes("--json"), verbose: flags.includes("--verbose") };
  return readGlobals({ ...found, color: !flags.includes("--no-color") }, env);
}
