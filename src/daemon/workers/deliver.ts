import type { Clock } from "../../core/kernel/clock.ts";
import type { Store } from "../../core/store/store.ts";
import { type ClaimedDelivery, prolongDelivery, releaseDeliveries } from "../../core/webhooks/due.ts";
import type { Outcome } from "../../core/webhooks/outcome.ts";
import { signatureHeader, signingSecrets } from "../../core/webhooks/signature.ts";
import { USER_AGENT, type WebhookSender } from "../gateways/webhook-sender.ts";
import { type DeliveryBody, deliveryBody, signBody } from "./delivery-body.ts";

/** What an attempt needs. */
export interface DeliverDependencies {
  store: Store;
  clock: Clock;
  sender: WebhookSender;
  publicUrl: string;
}

/**
 * Makes one attempt of a delivery that was claimed; null when none was made: another worker has claimed it meanwhile,
 * or `stopping` was aborted before anything was sent (contract: Events).
 */
export async function deliver(
  deps: DeliverDependencies,
  claimed: ClaimedDelivery,
  stopping: AbortSignal,
): Promise<Outcome | null> {
  const { store, clock, sender } = deps;
  const { lease, attempts, endpoint, event } = claimed;
  const body = await deliveryBody(store, event, deps.publicUrl);
  const at = clock.now();
  const { length, headers } = await signed(deps, claimed, { body, at });
  if (stopping.aborted) {
    await store.write(releaseDeliveries, [{ lease, endpointId: endpoint.id }]);
    return null;
  }
  // Reading a long body took its time: where the lease was lost meanwhile, its new holder makes the attempt.
  if (!Buffer.isBuffer(body) && !(await store.write(prolongDelivery, lease))) return null;
  const content = Buffer.isBuffer(body) ? body : { length, chunks: body.chunks };
  const answer = await sender.post({ url: endpoint.url, headers, body: content });
  const about = { id: lease.id, endpointId: endpoint.id, event: event.kind, eventId: event.id };
  return { ...about, leaseNo: lease.no, attempts, at, ...answer };
}

async function signed(
  { store }: DeliverDependencies,
  { endpoint, event }: ClaimedDelivery,
  { body, at }: { body: DeliveryBody; at: number },
) {
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
  return { length, headers };
}
