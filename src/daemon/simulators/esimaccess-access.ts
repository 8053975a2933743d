import { createHmac, timingSafeEqual } from "node:crypto";
import type { EaCode } from "./esimaccess-codes.ts";
import type { ProviderRequest } from "./provider.ts";

/** The account's one pair. */
export const EA_ACCESS_CODE = "DEMOACCESS";
export const EA_SECRET_KEY = "DEMOSECRETKEY";

/** How far (ms) a timestamp may be from the provider's clock. The reference names no number. */
const TOLERANCE_MS = 300_000;

/** What is signed, beside the body. */
export interface EaSigned {
  timestamp: string;
  requestId: string;
  accessCode: string;
}

/** The signature of a request, in lower case. */
export function eaSignature({ timestamp, requestId, accessCode }: EaSigned, body: Buffer, secretKey: string): string {
  return createHmac("sha256", secretKey).update(`${timestamp}${requestId}${accessCode}`).update(body).digest("hex");
}

/**
 * The error code that the headers of a request earn; null: it may go on. The access code alone is enough; where one of
 * the signed form's headers is sent, all of them have to be there and right.
 */
export function accessFault({ headers, body, now }: Pick<ProviderRequest, "headers" | "body" | "now">): EaCode | null {
  const accessCode = one(headers["rt-accesscode"]);
  if (accessCode === null) return "000101";
  const [requestId, timestamp, signature] = [
    one(headers["rt-requestid"]),
    one(headers["rt-timestamp"]),
    one(headers["rt-signature"]),
  ];
  // A wrong access code has no code of its own in the reference.
  if (accessCode !== EA_ACCESS_CODE) return "101003";
  if (requestId === null && timestamp === null && signature === null) return null;
  if (requestId === null || timestamp === null || signature === null) return "000101";
  if (!/^\d{1,16}$/.test(timestamp) || !isUuid(requestId)) return "000102";
  if (Math.abs(now - Number(timestamp)) > TOLERANCE_MS) return "101001";
  // Which case the digits must have is not certain: both are taken.
  const right = eaSignature({ timestamp, requestId, accessCode }, body, EA_SECRET_KEY);
  return sameText(right, signature.toLowerCase()) ? null : "101003";
}

function one(header: string | string[] | undefined): string | null {
  return typeof header === "string" && header !== "" ? header : null;
}

/** With hyphens or, as the reference's example has it, without. */
function isUuid(text: string): boolean {
  return /^([0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i.test(text);
}

function sameText(right: string, given: string): boolean {
  return right.length === given.length && timingSafeEqual(Buffer.from(right), Buffer.from(given));
}
