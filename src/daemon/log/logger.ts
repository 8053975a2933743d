import { type DestinationStream, type Logger, type LoggerOptions, multistream, pino } from "pino";
import { withoutHidden } from "../../core/kernel/hidden-characters.ts";
import { isUnavailable } from "../../core/store/problems.ts";
import { type LogLevel, NOT_LOGGED, REQUEST } from "./lines.ts";

// Members that hold a secret or identity data at any depth. The type Secret redacts itself; this list catches the rest.
const PRIVATE = [
  "authorization",
  "cookie",
  "access_token",
  "client_secret",
  "password",
  "secret",
  "first_name",
  "last_name",
  "customer",
  "customer_name",
  "customer_email",
  "customer_phone",
  "date_of_birth",
  "passport_no",
  "passport_expiry",
  "address",
  "sim_last4",
  "puk",
];
const REDACTED = "[redacted]";
const DEEPEST = 8;
const isPrivate = new Set(PRIVATE);

/** A copy of `value` with private members redacted. Values with a toJSON, such as Secret, keep their own form. */
function redacted(value: unknown, depth = 1): unknown {
  if (typeof value !== "object" || value === null || value instanceof Error || "toJSON" in value) return value;
  if (depth > DEEPEST) return REDACTED;
  if (Array.isArray(value)) return value.map((each) => redacted(each, depth + 1));
  const members = Object.entries(value).map(([name, member]): [string, unknown] => [
    name,
    isPrivate.has(name) ? REDACTED : redacted(member, depth + 1),
  ]);
  return Object.fromEntries(members);
}

/** Redacts below the first level of a line; pino redacts that level. Most lines hold nothing there. */
function redactNested(line: Record<string, unknown>): Record<string, unknown> {
  for (const value of Object.values(line)) {
    if (typeof value !== "object" || value === null) continue;
    return Object.fromEntries(Object.entries(line).map(([name, member]) => [name, redacted(member)]));
  }
  return line;
}

interface DescribedError {
  type?: string;
  message: string;
  code?: string;
  stack?: string[] | undefined;
  cause?: DescribedError;
}

/** An error as logs show it: what and where, never a driver's parameters or rows. */
export function describeError(error: unknown): DescribedError {
  if (!(error instanceof Error)) return { message: String(error) };
  const code: unknown = Reflect.get(error, "code");
  return {
    type: error.name,
    // A failed query carries its parameters behind its text.
    message: error.message.split(/\n?params:/, 1)[0] ?? "",
    ...(typeof code === "string" ? { code } : {}),
    stack: error.stack?.split("\n").filter((line) => /^\s+at /.test(line)),
    ...(error.cause instanceof Error ? { cause: describeError(error.cause) } : {}),
  };
}

/** Whether a line is about a call that failed by an outage of the database: it is logged once (outages.ts). */
function isOfOutage(line: unknown): boolean {
  return typeof line === "object" && line !== null && "err" in line && isUnavailable(line.err);
}

/** pino's options: JSON lines without secrets, identity data or addresses that carry tokens. */
function loggerOptions(level: LogLevel): LoggerOptions {
  return {
    level,
    base: null,
    timestamp: timestamps(),
    formatters: { level: (label) => ({ level: label }), log: redactNested },
    // Names without wildcards: pino looks those up; a wildcard makes it walk every value of every line.
    redact: { paths: PRIVATE, censor: REDACTED },
    hooks: {
      logMethod(args, method) {
        if (args[0] !== NOT_LOGGED && !isOfOutage(args[0])) method.apply(this, args);
      },
    },
    serializers: {
      err: describeError,
      error: describeError,
      // Whole requests and replies are never logged: their URLs and headers carry tokens.
      req: () => undefined,
      res: () => undefined,
    },
  };
}

/** The time of a line as pino wants it, ISO 8601: the text of a second is made once. */
function timestamps(): () => string {
  let second = Number.NaN;
  let text = "";
  return () => {
    const now = Date.now();
    const ms = now % 1000;
    if (now - ms !== second) {
      second = now - ms;
      text = new Date(second).toISOString().slice(0, 20);
    }
    return `,"time":"${text}${String(ms).padStart(3, "0")}Z"`;
  };
}

/** Where lines go: to a terminal, as lines to read with one for each request only from level debug on, or as JSON. */
export type LogOutput = (
  | { pretty: true; destination?: NodeJS.WritableStream }
  | { pretty: false; destination?: DestinationStream }
) & {
  /** Takes every line as JSON as well. */
  file?: DestinationStream;
};

/** The daemon's log: JSON lines, or lines for people when `pretty`. */
export async function createLogger(level: LogLevel, output: LogOutput): Promise<Logger> {
  const { file } = output;
  const shown = output.pretty
    ? await prettyStream(output.destination ?? process.stdout, level)
    : (output.destination ?? process.stdout);
  if (file === undefined || level === "silent") return pino(loggerOptions(level), shown);
  return pino(loggerOptions(level), multistream([shown, file].map((stream) => ({ level, stream }))));
}

// Loaded only for a terminal.
async function prettyStream(destination: NodeJS.WritableStream, level: LogLevel): Promise<DestinationStream> {
  const { default: prettyPrint } = await import("pino-pretty");
  const pretty = prettyPrint({ destination, translateTime: "SYS:HH:MM:ss", ignore: "pid,hostname" });
  const all = level === "debug" || level === "trace";
  return {
    write(line) {
      if (all || !line.endsWith(REQUEST_ENDING)) pretty.write(`${harmless(line)}\n`);
    },
  };
}

/** A line whose texts and names move no cursor and begin no line of their own: pino-pretty prints them as they are. */
function harmless(line: string): string {
  return JSON.stringify(
    JSON.parse(line, (_, value: unknown) => {
      if (typeof value === "string") return withoutHidden(value);
      if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
      return Object.fromEntries(Object.entries(value).map(([name, member]) => [withoutHidden(name), member]));
    }),
  );
}

/** pino writes the message last. */
const REQUEST_ENDING = `"msg":"${REQUEST}"}\n`;
