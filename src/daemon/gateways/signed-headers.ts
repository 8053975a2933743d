import { signature, signatureHeader } from "../../core/webhooks/signature.ts";

/** How deliveries name their sender. */
export const USER_AGENT = "esimctl-webhooks/1";

/** What signs: the secret of the first header, and of the second during an overlap. */
interface Secrets {
  current: string;
  next: string | null;
}

/** The headers of a delivery whose body is signed at the moment `at` (ms) (contract: Signature). */
export function signedHeaders(
  event: { id: string; kind: string },
  { body, at }: { body: Buffer; at: number },
  { current, next }: Secrets,
): Record<string, string> {
  const timestamp = Math.floor(at / 1000);
  const under = (secret: string) => signatureHeader(timestamp, signature(secret, timestamp, body));
  return {
    "content-type": "application/json",
    "user-agent": USER_AGENT,
    "x-webhook-id": event.id,
    "x-webhook-event": event.kind,
    "x-webhook-signature": under(current),
    ...(next === null ? {} : { "x-webhook-signature-next": under(next) }),
  };
}
