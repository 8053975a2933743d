import type { Clock } from "../../src/core/kernel/clock.ts";
import { signature, signatureHeader } from "../../src/core/webhooks/signature.ts";
import { call, type Reply } from "./platform.ts";

/** A secret that a test shares with its carrier or supplier. */
export const SHARED_SECRET = "shared by both, sixteen at least";

/** The header that a carrier or supplier signs `raw` with at `now`. */
export function signed(raw: string, now: number, secret: string): { "x-signature": string } {
  const seconds = Math.floor(now / 1000);
  return { "x-signature": signatureHeader(seconds, signature(secret, seconds, raw)) };
}

/** Posts a callback as a carrier or supplier does: signed, at the time of its clock. */
export function postSigned(
  { url, clock }: { url: string; clock: Clock },
  path: string,
  body: unknown,
  secret = SHARED_SECRET,
): Promise<Reply> {
  const raw = JSON.stringify(body);
  return call(url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...signed(raw, clock.now(), secret) },
    body: raw,
  });
}
