import { hash } from "node:crypto";
import stringify from "safe-stable-stringify";

/** Plain JSON data as one text: keys sorted by code unit, no white space (RFC 8785 for text and whole numbers). */
export function canonicalText(value: unknown): string {
  return stringify(value) ?? "";
}

/** SHA-256 (hex) of plain JSON data; the order of keys makes no difference. */
export function payloadHash(value: unknown): string {
  return hash("sha256", canonicalText(value), "hex");
}
