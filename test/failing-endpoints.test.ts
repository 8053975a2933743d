import { expect, test } from "vitest";
import { platformStatus } from "../src/core/insight/status.ts";
import { listDeliveries } from "../src/core/webhooks/deliveries.ts";
import { disableWebhook } from "../src/core/webhooks/disable.ts";
import { startReceiver } from "./support/receiver.ts";
import { startWebhookPlatform, type WebhookPlatform } from "./support/webhooks.ts";

/** A partner with an endpoint that answers 500, and an event on its way there. */
async function failing() {
  const platform = await startWebhookPlatform();
  const caller = await platform.caller();
  const receiver = await startReceiver(500);
  const { id } = await platform.endpoint(caller, receiver.url);
  await platform.trigger(caller);
  const at = new Date(platform.clock.now()).toISOString();
  const detail = async () => (await caller.get(`/api/v1/webhooks/${id}`)).body;
  return { platform, caller, receiver, id, at, detail };
}

const namedByStatus = async ({ store }: WebhookPlatform) =>
  (await store.read(platformStatus, null)).failing_endpoints.map(({ id, failed_attempts }) => ({
    id,
    failed_attempts,
  }));

test("an endpoint shows from the first failed attempt on since when it fails and what waits for it", async () => {
  const { platform, caller, receiver, at, detail } = await failing();
  expect(await detail()).toMatchObject({ failing_since: null, failed_attempts: 0, pending_deliveries: 1 });
  await platform.deliver();
  const last_delivery = { event: "order.created", status_code: 500, at };
  const health = {
    failing_since: at,
    failed_attempts: 1,
    pending_deliveries: 1,
    consecutive_failures: 0,
    last_delivery,
  };
  expect(await detail()).toMatchObject({ status: "active", ...health });
  expect((await caller.get("/api/v1/webhooks")).body.data).toMatchObject([health]);

  platform.clock.advance(1_000);
  await platform.trigger(caller);
  await platform.deliver();
  expect(await detail()).toMatchObject({ failing_since: at, failed_attempts: 3, pending_deliveries: 2 });

  receiver.answers(200);
  platform.clock.advance(2_000);
  await platform.deliver();
  expect(await detail()).toMatchObject({ failing_since: null, failed_attempts: 0, pending_deliveries: 0 });
});

test("the streak of another partner's endpoint is its own, and enabling one ends its streak", async () => {
  const { platform, caller, id, detail } = await failing();
  const stranger = await platform.caller();
  const fine = await startReceiver();
  const other = await platform.endpoint(stranger, fine.url);
  await platform.trigger(stranger);
  await platform.deliver();
  expect((await stranger.get(`/api/v1/webhooks/${other.id}`)).body).toMatchObject({ failed_attempts: 0 });
  await platform.store.write(disableWebhook, { id, actor: "test" });
  // What waited is held.
  expect(await detail()).toMatchObject({ status: "disabled", failed_attempts: 1, pending_deliveries: 0 });
  const enabled = await caller.send("PATCH", `/api/v1/webhooks/${id}`, { status: "active" });
  expect(enabled.body).toMatchObject({ status: "active", failing_since: null, failed_attempts: 0 });
});

test("status names an endpoint that fails for over five minutes, though no delivery is exhausted", async () => {
  const { platform, caller, receiver, id } = await failing();
  await platform.deliver();
  platform.clock.advance(299_999);
  expect(await namedByStatus(platform)).toEqual([]);
  platform.clock.advance(1);
  expect(await namedByStatus(platform)).toEqual([{ id, failed_attempts: 1 }]);
  receiver.answers(200);
  await platform.trigger(caller);
  await platform.deliver();
  expect(await namedByStatus(platform)).toEqual([]);
});

test("deliveries are listed over all endpoints of one partner, page by page, and of no other", async () => {
  const { platform, caller, receiver } = await failing();
  await platform.endpoint(caller, receiver.url);
  const stranger = await platform.caller();
  await platform.endpoint(stranger, receiver.url);
  const live = await platform.caller({ live: true });
  for (const one of [caller, stranger, caller]) await platform.trigger(one);
  const all = await platform.deliveries();
  expect(all).toHaveLength(6);
  const { partnerId } = caller;
  const own = await platform.deliveries({ of: { partnerId } });
  const { body } = await caller.get("/api/v1/webhooks");
  const ids = body.data.map(({ id }: { id: string }) => id);
  expect(own.map(({ id }) => id)).toEqual(all.filter((one) => ids.includes(one.endpoint_id)).map(({ id }) => id));
  expect(own).toHaveLength(5);
  expect(await platform.deliveries({ of: { partnerId, environment: "production" } })).toEqual([]);
  expect(await platform.deliveries({ of: { partnerId: live.partnerId } })).toEqual([]);
  const paged: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const filter = { of: { partnerId }, failed: false, limit: 2, cursor };
    const page = await platform.store.read(listDeliveries, filter);
    expect(page.data.length).toBeLessThanOrEqual(2);
    paged.push(...page.data.map(({ id }) => id));
    cursor = page.next_cursor;
  }
  expect(paged).toEqual(own.map(({ id }) => id));
});
