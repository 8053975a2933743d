import type { Clock } from "../../src/core/kernel/clock.ts";
import { signature, signatureHeader } from "../../src/core/webhooks/signature.ts";
import { call, type Reply } from "./platform.ts";

/** A secret that a test shares with its carrier or supplier. */
export const SHARED_SECRET = "shared by both, sixteen at least";

/** Posts a callback as a carrier or supplier does: signed, at the time of its clock. */
export function postSigned(
  { url, clock }: { url: string; clock: Clock },
  path: string,
  body: unknown,
  secret = SHARED_SECRET,
): Promise<Reply> {
  const raw = JSON.stringify(body);
  const seconds = Math.floor(clock.now() / 1000);
  const mark = signatureHeader(seconds, signature(secret, seconds, raw));
  return call(url + path, {
    method: "POST",
    headers: { "content-type": "application/json", "x-signature": mark },
    body: raw,
  });
}
