import { expect, onTestFinished, test } from "vitest";
import type { Clock } from "../src/core/kernel/clock.ts";
import { CLOCK_TOLERANCE_MS } from "../src/core/store/clock-difference.ts";
import type { Store } from "../src/core/store/store.ts";
import { createWebhookSender } from "../src/daemon/gateways/webhook-sender.ts";
import { createDeliveries } from "../src/daemon/workers/deliveries.ts";
import type { Platform } from "./support/platform.ts";
import { startReceiver } from "./support/receiver.ts";
import { suspendedAfterClaim } from "./support/suspended.ts";
import { startWebhookPlatform } from "./support/webhooks.ts";

const log = { error: (...words: unknown[]) => console.error(...words), warn() {}, info() {} };
const { signal } = new AbortController();

/** A node on the same database whose clock is as far ahead of the platform's as those of two nodes may be apart. */
async function nodeAhead({ clock, again }: Platform) {
  const own = { now: () => clock.now() + 2 * CLOCK_TOLERANCE_MS };
  return { clock: own, store: await again(own) };
}

test("a webhook is sent once where a node 2 s ahead takes it over from one 2 s behind", async () => {
  const platform = await startWebhookPlatform();
  const caller = await platform.caller();
  const receiver = await startReceiver();
  await platform.endpoint(caller, receiver.url);
  await platform.trigger(caller);
  const workerOn = ({ store, clock }: { store: Store; clock: Clock }) => {
    const sender = createWebhookSender({ allowPrivate: true });
    onTestFinished(() => sender.close());
    return createDeliveries({ store, clock, sender, publicUrl: "http://esim.test", log });
  };
  const suspended = suspendedAfterClaim(platform.store);
  const behind = workerOn({ ...platform, store: suspended.store });
  const ahead = workerOn(await nodeAhead(platform));
  const stepping = behind.step(signal);
  await suspended.claimed;
  platform.clock.advance(30_000 - 2 * CLOCK_TOLERANCE_MS);
  expect(await ahead.step(signal)).toBe(1);
  await ahead.idle();
  suspended.resume();
  await stepping;
  await behind.idle();
  expect(receiver.received).toHaveLength(1);
});
