import type { Clock } from "../../core/kernel/clock.ts";
import type { Store } from "../../core/store/store.ts";
import { type ClaimedDelivery, prolongLease } from "../../core/webhooks/claim.ts";
import type { Outcome } from "../../core/webhooks/outcome.ts";
import { signingSecrets } from "../../core/webhooks/secrets.ts";
import { signatureHeader } from "../../core/webhooks/signature.ts";
import type { WebhookSender } from "../gateways/webhook-sender.ts";
import { deliveryBody, signBody } from "./delivery-body.ts";

/** What a try stands on. */
export interface DeliverDependencies {
  store: Store;
  clock: Clock;
  sender: WebhookSender;
  publicUrl: string;
}

/** How deliveries name their sender. */
export const USER_AGENT = "esimctl-webhooks/1";

/** Makes one try of a delivery that was claimed; null when it was taken over meanwhile (contract: Events). */
export async function deliver(deps: DeliverDependencies, claimed: ClaimedDelivery): Promise<Outcome | null> {
  const { store, clock, sender } = deps;
  const { id, attempts, endpoint, event } = claimed;
  const body = await deliveryBody(store, event, deps.publicUrl);
  const at = clock.now();
  const timestamp = Math.floor(at / 1000);
  const { current, next } = signingSecrets(store.vault, endpoint, at);
  const { length, signatures } = await signBody(body, next === null ? [current] : [current, next], timestamp);
  const [first = "", second] = signatures;
  const headers = {
    "content-type": "application/json",
    "user-agent": USER_AGENT,
    "x-webhook-id": event.id,
    "x-webhook-event": event.kind,
    "x-webhook-signature": signatureHeader(timestamp, first),
    ...(second === undefined ? {} : { "x-webhook-signature-next": signatureHeader(timestamp, second) }),
  };
  // Reading a long body took its time: whoever took the delivery over meanwhile makes the try instead.
  const leasedUntil = Buffer.isBuffer(body) ? claimed.leasedUntil : await store.write(prolongLease, claimed);
  if (leasedUntil === null) return null;
  const content = Buffer.isBuffer(body) ? body : { length, chunks: body.chunks };
  const answer = await sender.post({ url: endpoint.url, headers, body: content });
  const about = { id, endpointId: endpoint.id, event: event.kind, eventId: event.id };
  return { ...about, leasedUntil, attempts, at, ...answer };
}
