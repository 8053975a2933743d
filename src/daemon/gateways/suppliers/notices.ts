import { createHmac, timingSafeEqual } from "node:crypto";
import type { Provider } from "./provider.ts";

/** What reading a notice comes to. */
export type NoticeRead = ReturnType<Provider["readNotice"]>;

/** The JSON of a notice; undefined: it is none. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a signature is the HMAC of these bytes by this key. */
export function isSigned(bytes: Buffer | string, signature: Buffer, by: { hash: string; key: string }): boolean {
  const expected = createHmac(by.hash, by.key).update(bytes).digest();
  return signature.length === expected.length && timingSafeEqual(signature, expected);
}
