import { describe, expect, test } from "vitest";
import { updatePartner } from "../src/core/partners/update.ts";
import { replayStep } from "../src/core/webhooks/redeliver.ts";
import { ACTIVATIONS, iccid, request, startActivationPlatform } from "./support/activations.ts";
import { addProducts, suppliedProducts } from "./support/catalog.ts";
import { passport } from "./support/passports.ts";
import { type Caller, type Platform, type Reply, startPlatform } from "./support/platform.ts";
import { startReceiver } from "./support/receiver.ts";
import { startWebhookPlatform } from "./support/webhooks.ts";

const slugOf = ({ body }: Reply) => String(body.type).split("/").at(-1);
const outcomes = (replies: Reply[]) => replies.map(({ status }) => status).sort();

type Change = Omit<Parameters<typeof updatePartner>[1], "slug" | "actor">;

async function limit({ store }: Platform, change: Change, slug = "partner-1"): Promise<void> {
  await store.write(updatePartner, { slug, actor: "test", ...change });
}

/** As many requests at once. */
function atOnce(count: number, send: (at: number) => Promise<Reply>): Promise<Reply[]> {
  return Promise.all(Array.from({ length: count }, (_, at) => send(at)));
}

describe("webhook endpoints", () => {
  const register = (caller: Caller, at: number) => {
    const body = { url: `https://shop.example.com/${at}`, events: ["order.created"] };
    return caller.send("POST", "/api/v1/webhooks", body);
  };

  test("a partner has at most 100 in one environment, also when more are registered at once", async () => {
    const platform = await startPlatform();
    const caller = await platform.caller();
    const replies = await atOnce(105, (at) => register(caller, at));
    expect(outcomes(replies)).toEqual([...Array(100).fill(201), ...Array(5).fill(409)]);
    const refused = replies.filter(({ status }) => status === 409).map((reply) => [slugOf(reply), reply.body.limit]);
    expect(refused).toEqual(Array(5).fill(["too_many_endpoints", 100]));
    // The other environment and other partners have bounds of their own.
    const live = await platform.credential("partner-1", { live: true });
    expect((await register(live, 1)).status).toBe(201);
    expect((await register(await platform.caller(), 1)).status).toBe(201);
  });

  test("deleting one makes room; a limit set by the operator applies from the next request", async () => {
    const platform = await startPlatform();
    const caller = await platform.caller();
    await limit(platform, { bounds: { max_endpoints: 1 } });
    const { body } = await register(caller, 1);
    expect(slugOf(await register(caller, 2))).toBe("too_many_endpoints");
    await caller.send("DELETE", `/api/v1/webhooks/${body.webhook.id}`);
    expect((await register(caller, 2)).status).toBe(201);
    await limit(platform, { bounds: { max_endpoints: null } });
    expect((await register(caller, 3)).status).toBe(201);
  });
});

describe("activation requests", () => {
  test("open requests in the sandbox are limited, also when submitted concurrently", async () => {
    const platform = await startActivationPlatform();
    const caller = await platform.caller();
    await limit(platform, { bounds: { max_sandbox_activations: 3 } });
    const replies = await atOnce(6, () => caller.send("POST", ACTIVATIONS, request()));
    expect(outcomes(replies)).toEqual([201, 201, 201, 409, 409, 409]);
    const refused = replies.filter(({ status }) => status === 409);
    expect(refused.map((reply) => [slugOf(reply), reply.body.limit])).toEqual(
      Array(3).fill(["too_many_activations", 3]),
    );
    // Production has its own bound, and none unless it is set.
    const live = await platform.credential("partner-1", { live: true });
    expect((await live.send("POST", ACTIVATIONS, request())).status).toBe(201);
    await limit(platform, { bounds: { max_open_activations: 1 } });
    expect(slugOf(await live.send("POST", ACTIVATIONS, request()))).toBe("too_many_activations");
  });

  test("a cancelled request makes room, and a change of date by a new request takes none", async () => {
    const platform = await startActivationPlatform();
    const caller = await platform.caller();
    await limit(platform, { bounds: { max_sandbox_activations: 1 } });
    const sent = request();
    const { body } = await caller.send("POST", ACTIVATIONS, sent);
    const moved = { ...sent, activation_date: "2026-03-11", confirm_date_change: true };
    const { body: replaced, status } = await caller.send("POST", ACTIVATIONS, moved);
    expect([status, (await platform.show(caller, body.id)).status]).toEqual([201, "cancelled"]);
    expect(slugOf(await caller.send("POST", ACTIVATIONS, request()))).toBe("too_many_activations");
    await caller.send("POST", `${ACTIVATIONS}/${replaced.id}/cancel`);
    expect((await caller.send("POST", ACTIVATIONS, request())).status).toBe(201);
  });

  test("a request left to staff counts: it holds its ICCID", async () => {
    const platform = await startActivationPlatform({ adapter: "simulator" });
    const caller = await platform.caller();
    await limit(platform, { bounds: { max_sandbox_activations: 1 } });
    // The simulator reports a temporary fault for this ending, at every attempt.
    const id = await platform.submit(caller, { iccid: iccid("a", "22"), activation_date: "2026-03-02" });
    for (let minutes = 0; minutes < 40; minutes++) {
      platform.clock.advance(60_000);
      await platform.work();
    }
    expect(await platform.show(caller, id)).toMatchObject({ processing_status: "manual_required" });
    expect(slugOf(await caller.send("POST", ACTIVATIONS, request()))).toBe("too_many_activations");
  });

  test("sandbox requests are a 403 where the operator does not allow them", async () => {
    const platform = await startActivationPlatform();
    const caller = await platform.caller();
    await limit(platform, { sandboxActivations: false });
    const refused = await caller.send("POST", ACTIVATIONS, request());
    expect([refused.status, slugOf(refused)]).toEqual([403, "sandbox_activations_disabled"]);
    const live = await platform.credential("partner-1", { live: true });
    expect((await live.send("POST", ACTIVATIONS, request())).status).toBe(201);
    await limit(platform, { sandboxActivations: true });
    expect((await caller.send("POST", ACTIVATIONS, request())).status).toBe(201);
  });
});

describe("activation dates", () => {
  // It is 2 March in Sydney.
  const LAST = "2026-03-12";
  const BEYOND = "2026-03-13";

  test("are at most so many days ahead, when submitted and when changed", async () => {
    const platform = await startActivationPlatform();
    const caller = await platform.caller({ agent: true });
    await limit(platform, { bounds: { max_days_ahead: 10 } });
    const refused = await caller.send("POST", ACTIVATIONS, request({ activation_date: BEYOND }));
    expect([refused.status, slugOf(refused)]).toEqual([400, "invalid_activation_date"]);
    expect(refused.body.detail).toMatch(/10 days ahead/);
    const id = await platform.submit(caller, { activation_date: LAST });
    const changed = await caller.send("PATCH", `${ACTIVATIONS}/${id}`, { requested_activation_date: BEYOND });
    expect(slugOf(changed)).toBe("invalid_activation_date");
    const items = [
      { activation_id: id, requested_activation_date: BEYOND },
      { activation_id: id, requested_activation_date: "2026-03-11" },
    ];
    const { body } = await caller.send("POST", `${ACTIVATIONS}/bulk/reschedule`, { items });
    expect(body.results).toMatchObject([
      { status: "failed", reason: "invalid_activation_date" },
      { status: "rescheduled" },
    ]);
  });

  test("of order items are limited too; in a bulk request that order fails alone", async () => {
    const platform = await startPlatform();
    const { MAIL } = await addProducts(platform.store, [...suppliedProducts]);
    const caller = await platform.caller();
    await limit(platform, { bounds: { max_days_ahead: 10 } });
    const order = (activation_date: string) => ({
      line_items: [{ product_id: MAIL, quantity: 1 }],
      activation_requests: [
        {
          product_id: MAIL,
          activation_date,
          timezone: "Australia/Sydney",
          customer_name: "A",
          customer_email: "a@b.de",
        },
      ],
    });
    const one = (key: string, date: string) =>
      caller.send("POST", "/api/v1/orders", order(date), { "idempotency-key": key });
    const refused = await one("k", BEYOND);
    expect([refused.status, slugOf(refused)]).toEqual([400, "invalid_activation_date"]);
    expect(Object.keys(refused.body.errors)).toEqual(["activation_requests.0.activation_date"]);
    expect((await one("k", LAST)).status).toBe(201);
    const customer = { email: "a@b.de", name: "A" };
    const orders = [BEYOND, LAST].map((date) => ({ external_order_id: date, customer, ...order(date) }));
    const { body } = await caller.send("POST", "/api/v1/orders/bulk", { orders });
    expect(body.results).toMatchObject([
      { status: "failed", error: { code: "invalid_activation_date" } },
      { status: "success" },
    ]);
  });
});

test("a pool holds no more passports than its limit, and an import that would exceed it stores none", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller({ agent: true });
  await limit(platform, { bounds: { max_pool: 3 } });
  const add = (...numbers: number[]) =>
    caller.send("POST", "/api/v1/kyc/passports", {
      records: numbers.map((number) => passport({ passport_no: `QX${1_000_000 + number}` })),
    });
  expect((await add(1, 2)).status).toBe(201);
  const refused = await add(3, 4);
  expect([refused.status, slugOf(refused), refused.body.limit]).toEqual([409, "pool_full", 3]);
  // Duplicates take no room.
  expect((await add(1, 2, 3)).body).toMatchObject({ imported: 1, skipped_duplicates: 2 });
  expect(outcomes(await atOnce(3, (at) => add(10 + at)))).toEqual([409, 409, 409]);
  const { body } = await caller.get("/api/v1/kyc/passports");
  await caller.send("DELETE", `/api/v1/kyc/passports/${body.records[0].id}`);
  expect(outcomes(await atOnce(3, (at) => add(20 + at)))).toEqual([201, 409, 409]);
});

test("deliveries beyond an endpoint's limit of waiting ones are held; the order is placed", async () => {
  const platform = await startWebhookPlatform();
  const { EU5 } = await addProducts(platform.store, [{ sku: "EU5", price_cents: 1 }]);
  const caller = await platform.caller();
  const [slow, quick] = [await startReceiver(), await startReceiver()];
  const { id } = await platform.endpoint(caller, slow.url);
  await limit(platform, { bounds: { max_pending_deliveries: 2 } });
  const place = (key: string) =>
    caller.send(
      "POST",
      "/api/v1/orders",
      { line_items: [{ product_id: EU5, quantity: 1 }] },
      { "idempotency-key": key },
    );
  const replies = [await place("1"), await place("2")];
  await platform.endpoint(caller, quick.url);
  replies.push(await place("3"));
  expect(outcomes(replies)).toEqual([201, 201, 201]);
  const held = await platform.deliveries({ failed: true });
  expect(held).toMatchObject([{ endpoint_id: id, status: "held", held_reason: "pending_limit" }]);
  await platform.deliver();
  expect([slow.received.length, quick.received.length]).toEqual([2, 1]);
  // The operator replays what was held.
  const since = platform.clock.now() - 60_000;
  await platform.store.write(replayStep, { endpointId: id, since, after: null, actor: "test" });
  await platform.deliver();
  expect(slow.received).toHaveLength(3);
  expect(await platform.deliveries({ failed: true })).toEqual([]);
});
