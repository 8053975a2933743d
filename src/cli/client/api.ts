import type { PartnerId } from "../../core/kernel/brand.ts";
import type { Clock } from "../../core/kernel/clock.ts";
import type { Environment } from "../../core/kernel/environment.ts";
import type { Ids } from "../../core/kernel/ids.ts";
import type { Store } from "../../core/store/store.ts";
import { CliError } from "../kernel/errors.ts";
import { exitCodes } from "../kernel/exit-codes.ts";
import { isForbidding, problemFailure } from "../kernel/failure.ts";
import type { Globals } from "../kernel/globals.ts";

/** What a request carries beside its method and path. */
export interface RequestContent {
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
}

/** A 2xx response of the API. */
export interface Answer<T> {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: T;
}

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** The v1 API as one partner in one environment, wherever it is. */
export interface Api {
  /**
   * Sends one request; T is what the route's schema answers (answers.ts). A problem body becomes a CliError with the
   * slug as its code and the exit code of its kind.
   */
  request<T>(method: Method, path: string, asked?: RequestContent): Promise<Answer<T>>;
  /** The partner and environment in words, for confirmations. */
  readonly actsAs: string;
  /** The environment that it acts in; null where a server's token does not say. */
  readonly environment: Environment | null;
  /** The daemon's public address, as links carry it; no slash at its end. */
  readonly address: string;
  /** Where the handlers run in this process: their store, partner and environment. */
  readonly local?: Opened & { partnerId: PartnerId; environment: Environment };
}

/** A path under /api/v1 with its ids made safe. */
export function apiPath(strings: TemplateStringsArray, ...ids: string[]): string {
  return `/api/v1${String.raw({ raw: strings }, ...ids.map(encodeURIComponent))}`;
}

/** The response of either client. Throws what a problem body says, with its slug as the code. */
export function asAnswer<T>(status: number, headers: Record<string, unknown>, text: string): Answer<T> {
  // The one form beside JSON that a command asks for.
  const isCsv = String(headers["content-type"]).startsWith("text/csv");
  const body = isCsv ? text : parsed(status, text);
  if (status >= 400) throw refusal(status, body);
  const texts = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)] as const);
  // The route's own schema made this body: T is what it says.
  return { status, headers: Object.fromEntries(texts), body: body as T };
}

function parsed(status: number, text: string): unknown {
  try {
    return text === "" ? null : JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const words = `The server answered ${status} with something that is not JSON.`;
    throw new CliError("not_esimctl", words, "Check the address; a proxy before it may be in trouble.");
  }
}

function refusal(status: number, body: unknown): CliError {
  const { type, detail, title, errors, requestId } = isRecord(body) ? body : {};
  const slug =
    String(type ?? "")
      .split("/")
      .at(-1) || `http_${status}`;
  const said = String(detail ?? title ?? `The server answered ${status}.`);
  // The operator finds a fault of the server's own by this.
  const words = status >= 500 && typeof requestId === "string" ? `${said} (request ${requestId})` : said;
  const failure = problemFailure(slug, words, {
    ...(isRecord(errors) ? { errors: sentences(errors) } : {}),
    ...(isRecord(body) ? { members: body } : {}),
  });
  const exitCode = isForbidding(status) ? exitCodes.notAuthorized : failure.exitCode;
  // The whole body stays at hand: some callers need a member of it, such as current_status.
  return new CliError(failure.code, failure.message, failure.hint, exitCode, body);
}

function sentences(errors: Record<string, unknown>): Record<string, string[]> {
  const listed = ([field, words]: [string, unknown]) => [field, Array.isArray(words) ? words.map(String) : []] as const;
  return Object.fromEntries(Object.entries(errors).map(listed));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The partner and environment that a partner-side command acts for, where the place does not set them. */
export interface ActsFor {
  partner: string | undefined;
  sandbox: boolean;
  /** The command is about the sandbox alone: on local data it acts there, whether --sandbox is given or not. */
  sandboxOnly: boolean;
  /** Naming a partner is not needed: the command reads what all partners share. */
  optional: boolean;
}

/** Finds the owner of an object. Throws when there is no such object. */
export type OwnerOf = (store: Store) => Promise<{ partner_id: PartnerId; environment: Environment }>;

/** The store of the place and what writing to it takes. */
export interface Opened {
  store: Store;
  clock: Clock;
  ids: Ids;
}

/** What a command does with the store beside an ordinary write or two. */
export interface StoreUse {
  /** It writes very many rows: on a database file by a thread of its own, beside what prepares them. */
  writesMany?: boolean;
}

/** What the client needs of the command that uses it. */
export interface Caller {
  readonly globals: Globals;
  /** Aborted by Ctrl-C: a command in batches ends after the one under way. */
  readonly interruption: AbortSignal;
  /** Runs `work` on the place's store, which is closed afterwards however it ends. */
  withStore<T>(work: (opened: Opened) => Promise<T>, how?: StoreUse): Promise<T>;
}
