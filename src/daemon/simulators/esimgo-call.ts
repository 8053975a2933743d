import type { EsimgoAccount, EsimgoShown } from "./esimgo-account.ts";
import type { ProviderAnswer, ProviderRequest } from "./provider.ts";

/** A request with what is needed to answer it. */
export interface EsimgoCall {
  account: EsimgoAccount;
  request: ProviderRequest;
  /** What the path names, decoded, in its order. */
  names: string[];
  /** When what this call makes came to be, and is shown from. */
  shown: EsimgoShown;
  /** Look-ups leave out what came to be after this. */
  horizon: number;
}

/** Answers one endpoint. Throws an EsimgoRefusal. */
export type EsimgoEndpoint = (call: EsimgoCall) => ProviderAnswer;

/** What the service answers where it does not do as it was asked: a status and a text, no code. */
export class EsimgoRefusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Seconds that a 503 asks to wait. */
export const RETRY_AFTER = "1";

/** The answer while something is not done, or may not be. */
export function processing(): ProviderAnswer {
  const message = "Processing - please come back later or use the Retry-After header";
  return { status: 503, headers: { "retry-after": RETRY_AFTER }, body: { message } };
}

/** Whether look-ups of this call show it. */
export function isShown({ at, shownAt }: EsimgoShown, { request, horizon }: EsimgoCall): boolean {
  return shownAt <= request.now && at <= horizon;
}

/** A body that a check accepts. Throws a refusal (400) where it does not, or where it is no JSON. */
export function checkedBody<T>({ request }: EsimgoCall, check: { Check(value: unknown): value is T }): T {
  const body = readJson(request.body);
  if (!check.Check(body)) throw new EsimgoRefusal(400, "Invalid request body");
  return body;
}

/** A body as JSON; undefined: it is none. */
export function readJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

/** A query parameter that is one of these; left out: the first. Throws a refusal (400). */
export function choice<T extends string>(call: EsimgoCall, name: string, among: readonly [T, ...T[]]): T {
  const given = call.request.query.get(name);
  if (given === null) return among[0];
  const found = among.find((one) => one === given);
  if (found === undefined) throw new EsimgoRefusal(400, `Invalid value for parameter ${name}`);
  return found;
}

/** A query parameter as a whole number within these bounds. Throws a refusal (400). */
export function wholeNumber(call: EsimgoCall, name: string, bounds: { usual: number; most: number }): number {
  const given = call.request.query.get(name);
  if (given === null) return bounds.usual;
  const number = /^\d{1,9}$/.test(given) ? Number(given) : 0;
  if (number < 1 || number > bounds.most) throw new EsimgoRefusal(400, `Invalid value for parameter ${name}`);
  return number;
}

/** One page of rows with the counts of all. */
export function pageOf<T>(rows: T[], page: number, size: number) {
  const counts = { pageCount: Math.ceil(rows.length / size), rows: rows.length, pageSize: size };
  return { page: rows.slice((page - 1) * size, page * size), counts };
}

/** Cents as the decimal number of a body: 228 is 2.28. */
export function decimal(cents: number): number {
  return cents / 100;
}

/** `2006-01-02T15:04:05Z`. */
export function seconds(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}

/** A time as orders have it, to the nanosecond. */
export function nanoseconds(at: number, nth: number): string {
  return `${new Date(at).toISOString().slice(0, -1)}${String(nth % 1_000_000).padStart(6, "0")}Z`;
}
