import { expect, test } from "vitest";
import { eventKinds } from "../src/core/events/catalog.ts";
import { writeSettings } from "../src/core/platform/settings.ts";
import { disableWebhook } from "../src/core/webhooks/disable.ts";
import { KEPT_DAYS, purgeStep } from "../src/core/webhooks/retention.ts";
import { enableWebhook } from "../src/core/webhooks/update.ts";
import { type Caller, type Reply, startPlatform } from "./support/platform.ts";
import { startReceiver } from "./support/receiver.ts";
import { startWebhookPlatform } from "./support/webhooks.ts";

const url = "https://shop.example.com/hooks";

function register(caller: Caller, fields: Record<string, unknown> = {}): Promise<Reply> {
  return caller.send("POST", "/api/v1/webhooks", { url, events: ["order.created"], ...fields });
}

/** The health of an endpoint that nothing was sent to. */
const unused = {
  last_delivery: null,
  consecutive_failures: 0,
  failing_since: null,
  failed_attempts: 0,
  pending_deliveries: 0,
};

test("registering returns the record and, this once, the secret", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller();
  const created = await register(caller, { description: " Order desk ", events: ["order.created", "esims.ready"] });
  expect(created.status).toBe(201);
  const { webhook, secret } = created.body;
  expect(created.headers.get("location")).toBe(`/api/v1/webhooks/${webhook.id}`);
  expect(webhook).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    url,
    events: ["order.created", "esims.ready"],
    status: "active",
    environment: "sandbox",
    description: "Order desk",
    created_at: "2026-03-02T01:00:00.000Z",
    updated_at: "2026-03-02T01:00:00.000Z",
  });
  expect(secret).toMatch(/^whsec_[A-Za-z0-9_-]{43}$/);
  const shown = await caller.get(`/api/v1/webhooks/${webhook.id}`);
  expect(shown.status).toBe(200);
  expect(shown.body).toEqual({ ...webhook, ...unused });
  expect(JSON.stringify((await caller.get("/api/v1/webhooks")).body)).not.toContain("whsec_");
});

test("every kind can be subscribed; unknown and no kinds are refused, repetitions count once", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller();
  expect((await register(caller, { events: eventKinds })).body.webhook.events).toEqual(eventKinds);
  const twice = await register(caller, { events: ["order.created", "order.created"] });
  expect(twice.body.webhook.events).toEqual(["order.created"]);
  const unknown = await register(caller, { events: ["order.created", "order.shipped"] });
  expect(unknown.status).toBe(400);
  expect(unknown.body.errors).toHaveProperty(["events.1"]);
  expect((await register(caller, { events: [] })).body.errors).toHaveProperty("events");
  expect((await register(caller, { events: undefined })).body.errors).toEqual({ events: ["is required"] });
  expect((await register(caller, { events: "order.created" })).status).toBe(400);
});

test("invalid and disallowed addresses are refused", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller();
  const live = await platform.caller({ live: true });
  const refused = [
    "shop.example.com/hooks",
    "/hooks",
    "ftp://shop.example.com/hooks",
    "https:shop.example.com",
    "https://",
    "https://user:pass@shop.example.com/",
    "https://user@shop.example.com/",
    "https://shop.example.com/#hooks",
    "https://shop.example.com/a b",
    `https://shop.example.com/${"a".repeat(2048)}`,
    "http://127.0.0.1/hooks",
    "http://localhost/hooks",
    "https://10.0.0.8/hooks",
    "http://169.254.169.254/latest/meta-data",
  ];
  for (const each of refused) {
    const { status, body } = await register(caller, { url: each });
    expect([status, Object.keys(body.errors ?? {})], each).toEqual([400, ["url"]]);
  }
  expect((await register(caller, { url: "http://shop.example.com/hooks" })).status).toBe(201);
  expect((await register(live, { url: "http://shop.example.com/hooks" })).body.errors).toEqual({
    url: ["must be https in production"],
  });
  // Whether a name resolves is found out when it is called.
  expect((await register(live, { url: "https://no-such-name.invalid/hooks?tenant=1" })).status).toBe(201);
});

test("private addresses can be registered once the operator serves with --allow-private-webhooks", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller();
  await platform.store.write(writeSettings, { allow_private_webhooks: "yes" });
  expect((await register(caller, { url: "http://127.0.0.1:9999/hooks" })).status).toBe(201);
  await platform.store.write(writeSettings, { allow_private_webhooks: "no" });
  expect((await register(caller, { url: "http://127.0.0.1:9999/hooks" })).status).toBe(400);
});

test("an endpoint belongs to its credential's environment and to its partner", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller({ slug: "acme" });
  const live = await platform.credential("acme", { live: true });
  const stranger = await platform.caller();
  expect((await register(caller, { environment: "production" })).body.errors).toHaveProperty("environment");
  expect((await register(live, { environment: "production" })).body.webhook.environment).toBe("production");
  const { webhook } = (await register(caller, { environment: "sandbox" })).body;
  for (const other of [live, stranger]) {
    expect((await other.get(`/api/v1/webhooks/${webhook.id}`)).status).toBe(404);
    expect((await other.send("DELETE", `/api/v1/webhooks/${webhook.id}`)).status).toBe(404);
    expect((await other.get("/api/v1/webhooks")).body.data).not.toContainEqual(
      expect.objectContaining({ id: webhook.id }),
    );
  }
  expect((await caller.get("/api/v1/webhooks?environment=production")).body.data).toEqual([]);
  expect((await caller.get("/api/v1/webhooks?environment=sandbox")).body.data).toEqual([{ ...webhook, ...unused }]);
});

test("lists are paged, newest first, and filtered by status", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller();
  const ids: string[] = [];
  for (let count = 0; count < 5; count++) {
    platform.clock.advance(1_000);
    ids.unshift((await register(caller)).body.webhook.id);
  }
  const one = await caller.get("/api/v1/webhooks?limit=3");
  expect(one.body.data.map((each: { id: string }) => each.id)).toEqual(ids.slice(0, 3));
  expect(one.body.pagination).toEqual({ has_more: true, next_cursor: expect.any(String), count: 3 });
  const two = await caller.get(`/api/v1/webhooks?limit=3&cursor=${one.body.pagination.next_cursor}`);
  expect(two.body.data.map((each: { id: string }) => each.id)).toEqual(ids.slice(3));
  expect(two.body.pagination).toEqual({ has_more: false, next_cursor: null, count: 2 });
  const elsewhere = await caller.get(`/api/v1/webhooks?status=active&cursor=${one.body.pagination.next_cursor}`);
  expect(elsewhere).toMatchObject({ status: 400, body: { type: expect.stringMatching(/invalid_cursor$/) } });

  // An id made for an endpoint.
  await platform.store.write(disableWebhook, { id: ids[1] as never, actor: "test" });
  const disabled = await caller.get("/api/v1/webhooks?status=disabled");
  expect(disabled.body.data).toMatchObject([{ id: ids[1], status: "disabled" }]);
  expect((await caller.get("/api/v1/webhooks?status=active")).body.data).toHaveLength(4);
  for (const query of ["limit=0", "limit=101", "status=gone", "environment=test"]) {
    expect((await caller.get(`/api/v1/webhooks?${query}`)).status, query).toBe(400);
  }
});

test("scopes are required: read for reading, write for creating and deleting", async () => {
  const platform = await startPlatform();
  const reader = await platform.caller({ scopes: ["read:webhooks"] });
  const writer = await platform.caller({ scopes: ["write:webhooks"] });
  expect((await register(reader)).status).toBe(403);
  expect((await reader.get("/api/v1/webhooks")).status).toBe(200);
  const { webhook } = (await register(writer)).body;
  expect((await writer.get(`/api/v1/webhooks/${webhook.id}`)).status).toBe(403);
  expect((await writer.send("DELETE", `/api/v1/webhooks/${webhook.id}`)).status).toBe(204);
});

test("deleting drops waiting deliveries and keeps the record of finished ones", async () => {
  const platform = await startWebhookPlatform();
  const caller = await platform.caller();
  const receiver = await startReceiver();
  const { id } = await platform.endpoint(caller, receiver.url);
  const arrived = await platform.trigger(caller);
  await platform.deliver();
  receiver.answers(500);
  await platform.trigger(caller);
  await platform.deliver();
  const gone = await caller.send("DELETE", `/api/v1/webhooks/${id}`);
  expect([gone.status, gone.body]).toEqual([204, ""]);
  expect((await caller.get(`/api/v1/webhooks/${id}`)).status).toBe(404);
  expect((await caller.send("DELETE", `/api/v1/webhooks/${id}`)).status).toBe(404);
  platform.clock.advance(60_000);
  await platform.deliver();
  expect(receiver.received).toHaveLength(2);
  expect(await platform.deliveries()).toMatchObject([{ event_id: arrived, status: "delivered", url: null }]);
});

test("events reach the endpoints of their own partner, environment and kind only", async () => {
  const platform = await startWebhookPlatform();
  const caller = await platform.caller({ slug: "acme" });
  const other = await platform.caller();
  const receiver = await startReceiver();
  const mine = await platform.endpoint(caller, `${receiver.url}/mine`);
  await platform.endpoint(caller, `${receiver.url}/kind`, ["order.fulfilled"]);
  await platform.endpoint(other, `${receiver.url}/other`);
  const both = await platform.endpoint(caller, `${receiver.url}/both`, ["order.created", "order.fulfilled"]);
  await platform.trigger(caller);
  await platform.deliver();
  expect(receiver.received.map((each) => each.path).sort()).toEqual(["/hooks/both", "/hooks/mine"]);
  // One event: the same id at every endpoint.
  expect(new Set(receiver.received.map((each) => each.json.event_id)).size).toBe(1);
  expect(receiver.received[0]?.json.data.test).toBe(true);
  expect((await platform.deliveries()).map((each) => each.endpoint_id).sort()).toEqual([mine.id, both.id].sort());
  await expect(platform.trigger(caller, "order.created", "production")).rejects.toThrow(/No production endpoint/);
});

test("deliveries, also held ones, are deleted after 90 days", async () => {
  const platform = await startWebhookPlatform();
  const caller = await platform.caller();
  const receiver = await startReceiver();
  const { id } = await platform.endpoint(caller, receiver.url);
  await platform.trigger(caller);
  await platform.deliver();
  await platform.store.write(disableWebhook, { id, actor: "test" });
  await platform.trigger(caller);
  platform.clock.advance(KEPT_DAYS * 86_400_000);
  expect(await platform.store.write(purgeStep, null)).toBe(0);
  platform.clock.advance(1);
  await platform.store.write(enableWebhook, { id, actor: "test" });
  const young = await platform.trigger(caller);
  while ((await platform.store.write(purgeStep, null)) > 0);
  expect((await platform.deliveries()).map((each) => each.event_id)).toEqual([young]);
});
