import { type LogLevel, logLevels } from "./lines.ts";

/** A line of the daemon's log. */
export type LogRecord = Record<string, unknown>;

/** Which lines of the log are asked for; what is left out does not matter. */
export interface LogFilter {
  requestId?: string | undefined;
  /** This level and those above it. */
  level?: LogLevel | undefined;
  /** Responses with one of these codes. */
  status?: StatusRange | undefined;
  /** The slug of a partner. */
  partner?: string | undefined;
  /** How the route begins, with or without a method before it. */
  route?: string | undefined;
}

/** HTTP status codes, both ends included. */
export interface StatusRange {
  from: number;
  to: number;
}

/** Texts that each line asked for contains: where one is missing nothing needs to be parsed. */
export function textsOf({ requestId, partner }: LogFilter): string[] {
  return [requestId, partner].flatMap((text) => (text === undefined ? [] : [JSON.stringify(text)]));
}

/** Whether a line is asked for. */
export function isAskedFor(record: LogRecord, filter: LogFilter): boolean {
  const { requestId, level, status, partner, route } = filter;
  return (
    (requestId === undefined || record.request_id === requestId) &&
    (level === undefined || rankOf(record.level) >= logLevels.indexOf(level)) &&
    (status === undefined || isWithin(record.status, status)) &&
    (partner === undefined || record.partner === partner) &&
    (route === undefined || routeBegins(record, route))
  );
}

const ranks: readonly unknown[] = logLevels;

/** A line that a full disk cut off has no level: it is shown with the most urgent ones. */
function rankOf(level: unknown): number {
  const rank = ranks.indexOf(level);
  return rank === -1 ? logLevels.length : rank;
}

function isWithin(status: unknown, { from, to }: StatusRange): boolean {
  return typeof status === "number" && status >= from && status <= to;
}

function routeBegins({ method, route }: LogRecord, wanted: string): boolean {
  if (typeof route !== "string") return false;
  const [, verb, path = wanted] = /^([A-Za-z]+)\s+(.*)$/.exec(wanted) ?? [];
  return route.startsWith(path) && (verb === undefined || verb.toUpperCase() === method);
}
