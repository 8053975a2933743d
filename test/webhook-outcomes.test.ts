import { expect, test } from "vitest";
import type { WebhookId } from "../src/core/kernel/brand.ts";
import type { Store } from "../src/core/store/store.ts";
import { deleteWebhook } from "../src/core/webhooks/delete.ts";
import { disableWebhook } from "../src/core/webhooks/disable.ts";
import { type ClaimedDelivery, claimDeliveries, DELIVERY_LEASE_MS } from "../src/core/webhooks/due.ts";
import { applyOutcomes } from "../src/core/webhooks/outcome.ts";
import { createWebhookSender } from "../src/daemon/gateways/webhook-sender.ts";
import { createDeliveries } from "../src/daemon/workers/deliveries.ts";
import { outcomeOf } from "./support/laned.ts";
import type { Caller } from "./support/platform.ts";
import { settled } from "./support/pool.ts";
import { startReceiver } from "./support/receiver.ts";
import { startWebhookPlatform, type WebhookPlatform } from "./support/webhooks.ts";

/** Nothing is sent in these tests unless they say so. */
const NOWHERE = "http://127.0.0.1:4099/hooks";

/** A partner with an endpoint and `count` events that wait for it. */
async function waiting(platform: WebhookPlatform, count: number) {
  const caller = await platform.caller();
  const { id } = await platform.endpoint(caller, NOWHERE);
  for (let at = 0; at < count; at++) await platform.trigger(caller);
  return { caller, id };
}

const claim = ({ store }: WebhookPlatform, endpointId: WebhookId, room: number) =>
  store.write(claimDeliveries, { rooms: [{ endpointId, room }] });

const detail = async (caller: Caller, id: string) => (await caller.get(`/api/v1/webhooks/${id}`)).body;

/** Status, and codes of its attempts, of every delivery by its event. */
async function outcomesByEvent(platform: WebhookPlatform) {
  const all = await platform.deliveries();
  return Object.fromEntries(
    all.map(({ event_id, status, attempts }) => [event_id, [status, ...attempts.map((one) => one.status_code)]]),
  );
}

test("an outcome whose lease was lost is only recorded, and takes no other of its batch with it", async () => {
  const platform = await startWebhookPlatform();
  const { id } = await waiting(platform, 3);
  const claimed = await claim(platform, id, 3);
  platform.clock.advance(DELIVERY_LEASE_MS);
  const [again] = await claim(platform, id, 1);
  if (again === undefined) throw new Error("no lease ran out");
  await platform.store.write(
    applyOutcomes,
    claimed.map((one) => outcomeOf(one, 200)),
  );
  const held = claimed.filter(({ lease }) => lease.id !== again.lease.id).map(({ event }) => event.id);
  expect(held).toHaveLength(2);
  expect(await outcomesByEvent(platform)).toEqual({
    ...Object.fromEntries(held.map((event) => [event, ["delivered", 200]])),
    [again.event.id]: ["pending", 200],
  });
  // The holder's outcome counts.
  await platform.store.write(applyOutcomes, [outcomeOf(again, 503)]);
  expect((await outcomesByEvent(platform))[again.event.id]).toEqual(["pending", 200, 503]);
});

test("of outcomes under an old and the present lease in one batch the present one counts", async () => {
  const platform = await startWebhookPlatform();
  const { caller, id } = await waiting(platform, 1);
  const [before] = await claim(platform, id, 1);
  platform.clock.advance(DELIVERY_LEASE_MS);
  const [now] = await claim(platform, id, 1);
  if (before === undefined || now === undefined) throw new Error("nothing was claimed");
  await platform.store.write(applyOutcomes, [outcomeOf(before, 410), outcomeOf(now, 200)]);
  expect(await outcomesByEvent(platform)).toEqual({ [now.event.id]: ["delivered", 410, 200] });
  expect(await detail(caller, id)).toMatchObject({ status: "active", last_delivery: { status_code: 200 } });
});

test("a batch over an active, a disabled and a deleted endpoint leaves each as its own outcomes say", async () => {
  const platform = await startWebhookPlatform();
  const { store } = platform;
  const [active, disabled, deleted] = [
    await waiting(platform, 2),
    await waiting(platform, 2),
    await waiting(platform, 1),
  ];
  const rooms = [active, disabled, deleted].map(({ id }) => ({ endpointId: id, room: 2 }));
  const claimed = await store.write(claimDeliveries, { rooms });
  expect(claimed).toHaveLength(5);
  const of = (id: WebhookId) => claimed.filter(({ endpoint }) => endpoint.id === id);
  await store.write(disableWebhook, { id: disabled.id, actor: "test" });
  const owner = { partnerId: deleted.caller.partnerId, environment: "sandbox" } as const;
  await store.write(deleteWebhook, { owner, id: deleted.id, actor: "test" });

  const [ok, busy] = of(active.id);
  const [arrived, refused] = of(disabled.id);
  const [gone] = of(deleted.id);
  if (!(ok && busy && arrived && refused && gone)) throw new Error("not all were claimed");
  await store.write(applyOutcomes, [
    outcomeOf(gone, 200),
    outcomeOf(arrived, 204),
    outcomeOf(ok, 200),
    outcomeOf(refused, 500),
    outcomeOf(busy, 503),
  ]);
  expect(await outcomesByEvent(platform)).toEqual({
    [ok.event.id]: ["delivered", 200],
    [busy.event.id]: ["pending", 503],
    [arrived.event.id]: ["delivered", 204],
    [refused.event.id]: ["held", 500],
  });
  expect(await detail(active.caller, active.id)).toMatchObject({ last_delivery: { status_code: 503 } });
  expect(await detail(disabled.caller, disabled.id)).toMatchObject({
    status: "disabled",
    last_delivery: { status_code: 500 },
  });
});

test("each delivery of a batch waits as its own number of attempts says", async () => {
  const platform = await startWebhookPlatform();
  const { caller, id } = await waiting(platform, 1);
  const fail = async (room: number) => {
    const claimed = await claim(platform, id, room);
    await platform.store.write(
      applyOutcomes,
      claimed.map((one) => outcomeOf(one, 500)),
    );
    return claimed.map(({ attempts }) => attempts);
  };
  expect(await fail(2)).toEqual([0]);
  platform.clock.advance(1_000);
  expect(await fail(2)).toEqual([1]);
  platform.clock.advance(2_000);
  // A third attempt of one and the first one of another end together.
  await platform.trigger(caller);
  expect((await fail(2)).sort()).toEqual([0, 2]);
  const { now } = platform.clock;
  const waits = (await platform.deliveries()).map(({ next_attempt_at }) => Date.parse(next_attempt_at ?? "") - now());
  expect(waits.sort((a, b) => a - b)).toEqual([1_000, 4_000]);
});

test("a batch's outcomes count in their order: what arrives ends a row of exhausted deliveries", async () => {
  const platform = await startWebhookPlatform();
  const { caller, id } = await waiting(platform, 22);
  const claimed = await claim(platform, id, 22);
  // As if each had made five attempts before.
  const last = (one: ClaimedDelivery, code: number) => ({ ...outcomeOf(one, code), attempts: 5 });
  await platform.store.write(
    applyOutcomes,
    claimed.slice(0, 21).map((one, at) => (at === 19 ? outcomeOf(one, 200) : last(one, 500))),
  );
  expect(await detail(caller, id)).toMatchObject({ status: "active", consecutive_failures: 1 });
  const [rest] = claimed.slice(21);
  if (rest === undefined) throw new Error("not all were claimed");
  await platform.store.write(applyOutcomes, [{ ...outcomeOf(rest, 410) }]);
  expect(await detail(caller, id)).toMatchObject({ status: "disabled", consecutive_failures: 1 });
});

test("many outcomes at once are one write, and each is recorded", async () => {
  const platform = await startWebhookPlatform();
  const caller = await platform.caller();
  const receiver = await startReceiver();
  await platform.endpoint(caller, receiver.url);
  for (let at = 0; at < 60; at++) await platform.trigger(caller);
  const { pool, writes } = countedWorker(platform);
  expect(await settled(pool)).toBe(60);
  expect(receiver.received).toHaveLength(60);
  const all = await platform.deliveries();
  expect(all.map(({ status, attempts }) => [status, attempts.length])).toEqual(Array(60).fill(["delivered", 1]));
  // Two claims of at most 32, and what ended between and after them: not a write for each delivery.
  expect(writes()).toBeLessThan(30);
});

/** A worker whose writes are counted. */
function countedWorker({ store, clock }: WebhookPlatform) {
  let count = 0;
  const counting: Store = {
    ...store,
    write: (...args: Parameters<Store["write"]>) => {
      count += 1;
      return store.write(...args);
    },
  } as Store;
  const sender = createWebhookSender({ allowPrivate: true });
  const log = { error: (...words: unknown[]) => console.error(...words) };
  const pool = createDeliveries({ store: counting, clock, sender, publicUrl: "http://esim.test", log });
  return { pool, writes: () => count };
}
