/** @module-tag slow */
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { PartnerId } from "../../src/core/kernel/brand.ts";
import { systemClock } from "../../src/core/kernel/clock.ts";
import { createPartner } from "../../src/core/partners/create.ts";
import { writeSettings } from "../../src/core/platform/settings.ts";
import type { Store } from "../../src/core/store/store.ts";
import { createWebhook } from "../../src/core/webhooks/create.ts";
import { triggerSample } from "../../src/core/webhooks/trigger.ts";
import { createWebhookSender } from "../../src/daemon/gateways/webhook-sender.ts";
import { startDeliveries } from "../../src/daemon/workers/deliveries.ts";
import { freePort } from "../support/free-port.ts";
import { type Answering, startReceiver } from "../support/receiver.ts";
import { onPostgres, openTestStore } from "../support/store.ts";

/** Fewer on PostgreSQL, where they take longer to write. */
const WAITING = onPostgres ? 2_000 : 10_000;
const MEASURED = 150;

async function partnerWith(store: Store, slug: string, url: string): Promise<PartnerId> {
  const { id } = await store.write(createPartner, { slug, name: slug, actor: "test" });
  const owner = { partnerId: id, environment: "sandbox" } as const;
  await store.write(createWebhook, { owner, url, events: ["order.created"], actor: "test" });
  return id;
}

function send(store: Store, partnerId: PartnerId) {
  return store.write(triggerSample, { kind: "order.created", partnerId, environment: "sandbox", actor: "test" });
}

const bad: Record<string, Answering | "refuses"> = {
  "never answers": () => undefined,
  "answers 500": 500,
  "answers after a second": (_, response) => void setTimeout(() => response.end(), 1_000),
  "refuses connections": "refuses",
};

// On PostgreSQL only the one that makes it record most.
test.each(Object.entries(bad).filter(([name]) => !onPostgres || name === "answers 500"))(
  `${WAITING} waiting for a receiver that %s delay another by less than 100 ms`,
  async (_, how) => {
    const { store } = await openTestStore(systemClock);
    await store.write(writeSettings, { allow_private_webhooks: "yes" });
    const slow = await startReceiver(how === "refuses" ? 200 : how);
    // Nothing listens on a free port.
    const slowPartner = await partnerWith(
      store,
      "slow",
      how === "refuses" ? `http://127.0.0.1:${await freePort()}/` : slow.url,
    );
    const quick = await startReceiver();
    const quickPartner = await partnerWith(store, "quick", quick.url);
    await Promise.all(Array.from({ length: WAITING }, () => send(store, slowPartner)));

    const log = { error: (...words: unknown[]) => console.error(...words) };
    const sender = createWebhookSender({ allowPrivate: true });
    const worker = startDeliveries({ store, clock: systemClock, sender, publicUrl: "http://esim.test", log });
    const stopListening = store.onSignal("deliveries", worker.wake);
    onTestFinished(async () => {
      stopListening();
      await worker.stop();
    });
    const sentAt = new Map<string, number>();
    for (let count = 0; count < MEASURED; count++) {
      const at = Date.now();
      sentAt.set((await send(store, quickPartner)).event_id, at);
      await pause(20);
    }
    await quick.got(MEASURED);
    const delays = quick.received.map(({ json, arrivedAt }) => arrivedAt - (sentAt.get(json.event_id) ?? 0));
    const [median = Number.NaN, most] = [delays.sort((a, b) => a - b)[MEASURED / 2], delays.at(-1)];
    console.log(`median ${median} ms, most ${most} ms; the slow one got ${slow.received.length}`);
    expect(median).toBeLessThan(100);
  },
);
