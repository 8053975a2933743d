import type { TSchema } from "typebox";
import type { Validator } from "typebox/compile";
import type { ProviderCallback } from "./provider.ts";

/** The provider's error codes that the simulation answers, with words. */
export const eaCodes = {
  "000101": "A mandatory request header is missing.",
  "000102": "A request header has the wrong format.",
  "000103": "The interface does not support this HTTP method.",
  "000104": "The request JSON has the wrong format.",
  "000105": "A mandatory parameter is missing from the request body.",
  "000106": "A mandatory parameter is null.",
  "000107": "The length or value of a parameter is not allowed.",
  "101001": "The request timestamp is expired.",
  "101002": "The request address is in the block list.",
  "101003": "The request signature does not match.",
  "200002": "The operation is not allowed in this state.",
  "200005": "The price of the package is wrong.",
  "200006": "The total of the order is wrong.",
  "200007": "The balance of the account is too small.",
  "200008": "The parameters of the order are wrong.",
  "200010": "The profiles of the order are being allocated.",
  "200011": "There are too few profiles for the package.",
  "310211": "The location does not exist.",
  "310241": "The package code does not exist.",
  "310243": "The package does not exist.",
  "310272": "The order number does not exist.",
  "310402": "The transactionId was used already.",
  "310403": "The ICCID does not exist in the order.",
  // The reference names no code for them.
  "400001": "The webhook address did not answer the health check.",
  "429000": "Too many requests: 8 per second are allowed.",
  "900001": "The system is busy, please repeat later.",
} as const;
export type EaCode = keyof typeof eaCodes;

/** Why a call was refused. */
export interface EaRefused {
  code: EaCode;
}

/** What a call leads to: `obj` and what is sent then, or a refusal. */
export type EaOutcome = EaDone | EaRefused;

interface EaDone {
  obj: unknown;
  callbacks?: ProviderCallback[];
  /** Undoes it where a callback is not answered, and returns the code for that. */
  unanswered?: () => EaCode;
}

/** The code that a body earns which does not fit its schema; the first fault counts. */
export function bodyFault(schema: Validator<Record<never, never>, TSchema>, body: unknown): EaCode {
  const [fault] = schema.Errors(body);
  if (fault?.keyword === "required") return "000105";
  if (fault?.keyword !== "type") return "000107";
  return valueAt(body, fault.instancePath) === null ? "000106" : "000104";
}

/** The value at a JSON pointer of plain names. */
function valueAt(body: unknown, pointer: string): unknown {
  let value = body;
  for (const name of pointer.split("/").slice(1)) {
    if (typeof value !== "object" || value === null) return undefined;
    value = Reflect.get(value, name);
  }
  return value;
}
