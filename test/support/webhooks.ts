import { onTestFinished } from "vitest";
import type { EventKind, Subscription } from "../../src/core/events/catalog.ts";
import type { PartnerId, WebhookId } from "../../src/core/kernel/brand.ts";
import { writeSettings } from "../../src/core/platform/settings.ts";
import { updateRow } from "../../src/core/store/rows.ts";
import type { Read, Tx } from "../../src/core/store/store.ts";
import { type Delivery, type DeliveryFilter, listDeliveries } from "../../src/core/webhooks/deliveries.ts";
import { triggerSample } from "../../src/core/webhooks/trigger.ts";
import { createWebhookSender, type SenderOptions } from "../../src/daemon/gateways/webhook-sender.ts";
import { createDeliveries } from "../../src/daemon/workers/deliveries.ts";
import { type Caller, type Platform, startPlatform } from "./platform.ts";
import { settled } from "./pool.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

export interface WebhookPlatform extends Platform {
  /** Makes every attempt that is due now, and waits for it. */
  deliver(): Promise<void>;
  /** Registers an endpoint through the API. */
  endpoint(caller: Caller, url: string, events?: Subscription[]): Promise<{ id: WebhookId; secret: string }>;
  /** Sends a sample event; its event_id. */
  trigger(caller: Caller, kind?: EventKind, environment?: "sandbox" | "production"): Promise<string>;
  /** All deliveries, newest first. */
  deliveries(filter?: Partial<DeliveryFilter>): Promise<Delivery[]>;
}

/** A platform that may send to loopback, with a delivery worker that the test drives. */
export async function startWebhookPlatform(options: Partial<SenderOptions> = {}): Promise<WebhookPlatform> {
  return withDeliveries(await startPlatform(), options);
}

/** The same of a platform that is started already, one that serves pages for instance. */
export async function withDeliveries(
  platform: Platform,
  options: Partial<SenderOptions> = {},
): Promise<WebhookPlatform> {
  const { store, clock } = platform;
  await store.write(writeSettings, { allow_private_webhooks: "yes" });
  const sender = createWebhookSender({ allowPrivate: true, ...options });
  onTestFinished(() => sender.close());
  const log = { error: (...words: unknown[]) => console.error(...words) };
  const worker = createDeliveries({ store, clock, sender, publicUrl: "http://esim.test", log });
  onTestFinished(() => worker.stop(0));
  return {
    ...platform,
    deliver: async () => void (await settled(worker)),
    async endpoint(caller, url, events = ["order.created"]) {
      const { status, body } = await caller.send("POST", "/api/v1/webhooks", { url, events });
      if (status !== 201) throw new Error(JSON.stringify(body));
      return { id: body.webhook.id, secret: body.secret };
    },
    async trigger({ partnerId }, kind = "order.created", environment = "sandbox") {
      const { event_id } = await store.write(triggerSample, { kind, partnerId, environment, actor: "test" });
      return event_id;
    },
    async deliveries(filter = {}) {
      return (await store.read(listDeliveries, { failed: false, limit: 100, ...filter })).data;
    },
  };
}

/** A receiver with an endpoint of production, which is registered with https and moved to the receiver. */
export async function liveReceiver(
  { store }: Pick<Platform, "store">,
  caller: Caller,
  events: readonly Subscription[],
) {
  const receiver = await startReceiver();
  const body = { url: "https://hooks.example.com/esim", events };
  const { body: created } = await caller.send("POST", "/api/v1/webhooks", body);
  const { id } = created.webhook;
  await store.write((tx: Tx) => updateRow(tx, "webhookEndpoints", { id }, { url: receiver.url }), null);
  return receiver;
}

/** The kinds of the events that came to a receiver. */
export const kindsAt = ({ received }: Receiver) => received.map(({ json }) => json.event);
/** The data of those of one kind. */
export const dataAt = ({ received }: Receiver, kind: string) =>
  received.filter(({ json }) => json.event === kind).map(({ json }) => json.data);

/** The data of all events of a kind that were written, oldest first. */
export async function written({ store }: Pick<Platform, "store">, kind: EventKind, partnerId?: PartnerId) {
  const events = await store.read((q: Read) => q.db.select().from(q.t.events).orderBy(q.t.events.id), null);
  return events.filter((one) => one.kind === kind && one.partner_id === (partnerId ?? one.partner_id));
}
