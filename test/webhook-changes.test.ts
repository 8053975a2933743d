import { expect, test } from "vitest";
import { retryDelays } from "../src/core/webhooks/retries.ts";
import { signatureFault } from "../src/core/webhooks/signature.ts";
import { startReceiver } from "./support/receiver.ts";
import { startWebhookPlatform } from "./support/webhooks.ts";

const EVENT = "order.created";

/** A platform with an endpoint of a sandbox caller, and the receiver behind it. */
async function shop() {
  const platform = await startWebhookPlatform();
  const caller = await platform.caller();
  const receiver = await startReceiver();
  const { id, secret } = await platform.endpoint(caller, receiver.url);
  return { platform, caller, receiver, id, secret, path: `/api/v1/webhooks/${id}` };
}

test("a partner sees how its deliveries went, and sends them again", async () => {
  const { platform, caller, receiver, path } = await shop();
  receiver.answers((_, response, count) => response.writeHead(count <= 6 ? 500 : 200).end("é".repeat(700)));
  const eventId = await platform.trigger(caller);
  await platform.deliver();
  const { body: first } = await caller.get(`${path}/deliveries`);
  expect(first.data).toEqual([
    {
      id: expect.any(String),
      event_id: eventId,
      event: EVENT,
      status: "pending",
      attempts: 1,
      next_attempt_at: "2026-03-02T01:00:01.000Z",
      last_status_code: 500,
      last_error: null,
      created_at: "2026-03-02T01:00:00.000Z",
    },
  ]);
  for (const delay of retryDelays) {
    platform.clock.advance(delay);
    await platform.deliver();
  }
  const [{ id }] = first.data;
  const { body: exhausted } = await caller.get(`${path}/deliveries/${id}`);
  expect(exhausted).toMatchObject({ status: "exhausted", attempts: 6, next_attempt_at: null });
  expect(exhausted.attempt_log).toHaveLength(6);
  expect(exhausted.attempt_log[0]).toEqual({
    at: "2026-03-02T01:00:00.000Z",
    duration_ms: expect.any(Number),
    status_code: 500,
    error: null,
    response_excerpt: "é".repeat(512),
  });

  const listed = async (query: string) => (await caller.get(`${path}/deliveries?${query}`)).body.data.length;
  expect(await listed("status=exhausted")).toBe(1);
  expect(await listed("status=pending")).toBe(0);
  expect(await listed("failed=true")).toBe(1);
  expect(await listed("failed=true&status=held")).toBe(0);
  expect(await listed(`event_id=${eventId}`)).toBe(1);
  expect(await listed(`event_id=${crypto.randomUUID()}`)).toBe(0);
  expect(await listed("created_after=2026-03-02T01:00:00Z")).toBe(1);
  expect(await listed("created_after=2026-03-02T01:00:00.001Z")).toBe(0);
  expect(await listed("created_before=2026-03-02T01:00:00Z")).toBe(0);

  expect((await caller.send("POST", `${path}/deliveries/${id}/redeliver`)).status).toBe(202);
  await platform.deliver();
  expect((await caller.get(`${path}/deliveries/${id}`)).body).toMatchObject({ status: "delivered", attempts: 1 });
  expect(new Set(receiver.received.map(({ json }) => json.event_id))).toEqual(new Set([eventId]));
});

test("what was held is replayed from a time on, by kind, once the endpoint is enabled again", async () => {
  const { platform, caller, receiver, path } = await shop();
  const changed = await caller.send("PATCH", path, { status: "disabled", events: [EVENT, "order.fulfilled"] });
  expect(changed.body).toMatchObject({ status: "disabled", events: [EVENT, "order.fulfilled"] });
  await platform.trigger(caller);
  platform.clock.advance(60_000);
  const later = await platform.trigger(caller);
  const fulfilled = await platform.trigger(caller, "order.fulfilled");
  const replay = (body: object) => caller.send("POST", `${path}/replay`, body);
  const since = "2026-03-02T01:00:30Z";
  expect((await replay({ since })).status).toBe(409);
  expect((await caller.send("PATCH", path, { status: "active" })).body).toMatchObject({
    status: "active",
    consecutive_failures: 0,
  });
  expect((await replay({ since, kinds: ["order.fulfilled"] })).body).toEqual({ count: 1 });
  expect((await replay({ since })).body).toEqual({ count: 1 });
  await platform.deliver();
  expect(receiver.received.map(({ json }) => json.event_id).sort()).toEqual([later, fulfilled].sort());
  expect((await replay({ since: "yesterday" })).status).toBe(400);
});

test("an endpoint is changed by what is sent alone, under the rules of its registration", async () => {
  const { caller, path } = await shop();
  const before = (await caller.get(path)).body;
  const described = (await caller.send("PATCH", path, { description: "Desk" })).body;
  expect(described).toEqual({ ...before, description: "Desk" });
  expect((await caller.send("PATCH", path, { description: null })).body.description).toBeNull();
  const moved = await caller.send("PATCH", path, { url: "https://shop.example.com/hooks" });
  expect(moved.body).toEqual({ ...before, url: "https://shop.example.com/hooks" });
  expect((await caller.send("PATCH", path, { url: "ftp://shop.example.com" })).body.errors).toHaveProperty("url");
  expect((await caller.send("PATCH", path, { events: [] })).body.errors).toHaveProperty("events");
  expect((await caller.send("PATCH", path, { status: "failed" })).body.errors).toHaveProperty("status");
  const cleared = await caller.send("PATCH", path, { url: null, events: null, status: null, description: null });
  const refusal = ["cannot be cleared"];
  expect([cleared.status, cleared.body.errors]).toEqual([400, { url: refusal, events: refusal, status: refusal }]);
});

test("a sample goes to one endpoint only and is in no feed; a rotated secret signs beside the old one", async () => {
  const { platform, caller, receiver, secret, path } = await shop();
  const other = await startReceiver();
  await platform.endpoint(caller, other.url, ["order.fulfilled"]);
  // Without a body.
  const rotated = await caller.send("POST", `${path}/rotate-secret`);
  expect(rotated.body).toMatchObject({
    webhook: { url: receiver.url },
    secret: expect.stringMatching(/^whsec_/),
    previous_secret_expires_at: "2026-03-03T01:00:00.000Z",
  });
  expect((await caller.send("POST", `${path}/rotate-secret`, {})).status).toBe(409);
  // Not subscribed to by this endpoint.
  const sent = await caller.send("POST", `${path}/test`, { event: "order.fulfilled" });
  expect(sent.status).toBe(202);
  await platform.deliver();
  expect(other.received).toEqual([]);
  const [got] = receiver.received;
  expect(got?.json).toMatchObject({ event: "order.fulfilled", event_id: sent.body.event_id, data: { test: true } });
  const fault = (header: string | undefined, key: string) =>
    signatureFault({ secret: key, header: header ?? "", body: got?.body ?? "" }, platform.clock.now());
  expect(fault(got?.headers["x-webhook-signature"], secret)).toBeNull();
  expect(fault(got?.headers["x-webhook-signature-next"], rotated.body.secret)).toBeNull();
  expect((await caller.get("/api/v1/events")).body.data).toEqual([]);
  expect((await caller.get(`/api/v1/events/${sent.body.event_id}`)).status).toBe(404);
  expect((await caller.get(`${path}/deliveries`)).body.data).toMatchObject([{ id: sent.body.delivery_id }]);
});

test("another partner, the other environment and another endpoint find nothing of it", async () => {
  const { platform, caller, path } = await shop();
  const { body: sent } = await caller.send("POST", `${path}/test`, { event: EVENT });
  const delivery = `${path}/deliveries/${sent.delivery_id}`;
  const live = await platform.credential("partner-1", { live: true });
  for (const other of [live, await platform.caller()]) {
    const replies = [
      other.get(`${path}/deliveries`),
      other.get(delivery),
      other.send("POST", `${delivery}/redeliver`),
      other.send("POST", `${path}/replay`, { since: "2026-01-01T00:00:00Z" }),
      other.send("POST", `${path}/rotate-secret`, {}),
      other.send("POST", `${path}/test`, { event: EVENT }),
      other.send("PATCH", path, { status: "disabled" }),
    ];
    expect((await Promise.all(replies)).map(({ status }) => status)).toEqual(replies.map(() => 404));
  }
  const { id: second } = await platform.endpoint(caller, "https://shop.example.com/hooks");
  const elsewhere = `/api/v1/webhooks/${second}/deliveries/${sent.delivery_id}`;
  expect((await caller.get(elsewhere)).status).toBe(404);
  expect((await caller.send("POST", `${elsewhere}/redeliver`)).status).toBe(404);
});
