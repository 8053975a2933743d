import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { revokeCredential } from "../src/core/credentials/revoke.ts";
import { eventKinds } from "../src/core/events/catalog.ts";
import { feedCursor, readFeed } from "../src/core/feed/read.ts";
import type { Owner } from "../src/core/kernel/owner.ts";
import type { Tx } from "../src/core/store/store.ts";
import { clearEvents } from "../src/core/webhooks/clear-events.ts";
import { KEPT_DAYS, purgeStep } from "../src/core/webhooks/retention.ts";
import { MOST_WAITING } from "../src/daemon/feed/long-polls.ts";
import { addProducts } from "./support/catalog.ts";
import { followWhileWriting, recordCancellations } from "./support/feed.ts";
import { eventually } from "./support/hangs.ts";
import { newData } from "./support/installation.ts";
import { type Caller, type Platform, startPlatform } from "./support/platform.ts";
import { startReceiver } from "./support/receiver.ts";
import { rewind } from "./support/store.ts";
import { esimctl, esimctlJson } from "./support/warm.ts";
import { startWebhookPlatform } from "./support/webhooks.ts";

const FEED = "/api/v1/events";
const DAY_MS = 86_400_000;

interface Envelope {
  event: string;
  event_id: string;
  timestamp: string;
  data: Record<string, unknown>;
}

/** One event of a made-up cancellation, in a transaction of its own. */
async function cancelled({ store }: Pick<Platform, "store">, owner: Owner, subjectId: string = crypto.randomUUID()) {
  const [id = ""] = await store.write(recordCancellations, { owner, subjectId, reasons: ["sold out"], fails: false });
  return id;
}

const sandboxOf = ({ partnerId }: Caller): Owner => ({ partnerId, environment: "sandbox" });

/** The page at `query`, which must be there. */
async function page(caller: Caller, query: Record<string, string | number> = {}) {
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) asked.set(name, String(value));
  const { status, body } = await caller.get(`${FEED}?${asked}`);
  expect([status, body.detail]).toEqual([200, undefined]);
  const data: Envelope[] = body.data;
  return {
    ...body.pagination,
    data,
    ids: data.map(({ event_id }) => event_id),
    next: String(body.pagination.next_cursor),
  };
}

async function refused(caller: Caller, query: string) {
  const { status, body } = await caller.get(`${FEED}?${query}`);
  return [status, body.type?.split("/").at(-1)];
}

test("events are in the feed whether or not an endpoint exists, as webhooks carry them", async () => {
  const platform = await startWebhookPlatform();
  const caller = await platform.caller();
  const { "ES-1": product_id } = await addProducts(platform.store, [{ sku: "ES-1" }]);
  const order = async () => {
    const lines = { line_items: [{ product_id, quantity: 2 }] };
    const placed = await caller.send("POST", "/api/v1/orders", lines, { "idempotency-key": crypto.randomUUID() });
    platform.clock.advance(3_000);
    await platform.fulfill();
    return placed.body.id;
  };
  const id = await order();
  const first = await page(caller);
  expect(first).toMatchObject({ has_more: false, count: 3 });
  expect(first.data.map(({ event, data }: Envelope) => [event, data.id ?? data.order_id])).toEqual([
    ["order.created", id],
    ["order.fulfilled", id],
    ["esims.ready", id],
  ]);
  expect(first.data[1]?.data.esims).toHaveLength(2);
  expect((await caller.get(`${FEED}/${first.ids[2]}`)).body).toEqual(first.data[2]);

  const receiver = await startReceiver();
  await platform.endpoint(caller, receiver.url, [...eventKinds]);
  await order();
  await platform.deliver();
  await receiver.got(3);
  const next = await page(caller, { after: first.next });
  const sent = receiver.received.map(({ json }) => json).sort((a, b) => (a.event_id < b.event_id ? -1 : 1));
  expect([...next.data].sort((a, b) => (a.event_id < b.event_id ? -1 : 1))).toEqual(sent);
});

test("pages follow one another without gap or repetition, and begin where they are asked to", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller();
  const owner = sandboxOf(caller);
  expect(await page(caller)).toMatchObject({ data: [], has_more: false, count: 0 });
  const fromNow = await page(caller, { after: "now" });
  const ids: string[] = [];
  for (let count = 0; count < 5; count++) {
    ids.push(await cancelled(platform, owner, count % 2 === 0 ? "even" : "odd"));
    platform.clock.advance(1_000);
  }
  const first = await page(caller, { limit: 2 });
  const second = await page(caller, { limit: 2, after: first.next });
  const third = await page(caller, { limit: 2, after: second.next });
  expect([first.ids, second.ids, third.ids]).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
  expect([first.has_more, second.has_more, third.has_more]).toEqual([true, true, false]);
  expect((await page(caller, { limit: 2, after: third.next })).ids).toEqual([]);
  expect((await page(caller, { after: fromNow.next })).ids).toEqual(ids);
  expect((await page(caller, { after: "now" })).ids).toEqual([]);

  expect((await page(caller, { subject_id: "odd" })).ids).toEqual([ids[1], ids[3]]);
  const even = await page(caller, { subject_id: "even", limit: 1 });
  expect([even.ids, (await page(caller, { subject_id: "even", after: even.next })).ids]).toEqual([
    [ids[0]],
    [ids[2], ids[4]],
  ]);
  expect((await page(caller, { kind: "order.created" })).ids).toEqual([]);
  expect((await page(caller, { kind: "order.cancelled" })).ids).toEqual(ids);
  expect((await page(caller, { since: "2026-03-02T01:00:03Z" })).ids).toEqual(ids.slice(3));
  expect((await page(caller, { since: "2026-03-03T01:00:00Z" })).ids).toEqual([]);

  // A cursor is a position, whichever filter it was made with.
  expect((await page(caller, { after: even.next })).ids).toEqual(ids.slice(1));
  expect((await page(caller, { after: even.next, subject_id: "odd" })).ids).toEqual([ids[1], ids[3]]);
  expect((await page(caller, { after: first.next, kind: "order.cancelled" })).ids).toEqual(
    (await page(caller, { after: first.next })).ids,
  );
  expect(await refused(caller, "after=later")).toEqual([400, "invalid_cursor"]);
  expect(await refused(caller, "kind=order.shipped")).toEqual([400, "validation"]);
  expect(await refused(caller, "wait=26")).toEqual([400, "validation"]);
  expect(await refused(caller, "since=yesterday")).toEqual([400, "validation"]);
  expect(await refused(caller, `since=2026-03-02T01:00:03Z&after=${first.next}`)).toEqual([400, "validation"]);
});

test("a feed is of one partner and environment, and needs its scope", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller({ slug: "acme" });
  const live = await platform.credential("acme", { live: true });
  const stranger = await platform.caller();
  const id = await cancelled(platform, sandboxOf(caller), "mine");
  const cursor = (await page(caller)).next;
  for (const other of [live, stranger]) {
    expect((await page(other)).ids).toEqual([]);
    expect((await page(other, { subject_id: "mine" })).ids).toEqual([]);
    expect((await other.get(`${FEED}/${id}`)).status).toBe(404);
    expect(await refused(other, `after=${cursor}`)).toEqual([400, "invalid_cursor"]);
  }
  const without = await platform.credential("acme", { scopes: ["write:webhooks"] });
  expect(await refused(without, "")).toEqual([403, "insufficient_scope"]);
});

test("an erased event is left out, and a cursor from before what was dropped is expired", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller();
  const owner = sandboxOf(caller);
  const start = (await page(caller)).next;
  const erased = await cancelled(platform, owner, "erased");
  const kept = await cancelled(platform, owner, "kept");
  await platform.store.write((tx: Tx) => clearEvents(tx, "erased"), null);
  expect((await page(caller)).ids).toEqual([kept]);
  expect((await page(caller, { subject_id: "erased" })).ids).toEqual([]);
  expect((await caller.get(`${FEED}/${erased}`)).status).toBe(404);
  const read = (await page(caller)).next;

  platform.clock.advance(KEPT_DAYS * DAY_MS + 1);
  const again = await platform.credential("partner-1", {});
  const later = await cancelled(platform, owner);
  await platform.store.write(purgeStep, null);
  const gone = await again.get(`${FEED}?after=${start}`);
  expect([gone.status, gone.body.type, gone.body.title]).toEqual([
    410,
    "http://esim.test/docs/errors/cursor_expired",
    "Cursor Expired",
  ]);
  // This reader has read all that was dropped.
  expect((await page(again, { after: read })).ids).toEqual([later]);
  expect((await page(again)).ids).toEqual([later]);
  expect((await page(again, { since: "2026-01-01T00:00:00Z" })).ids).toEqual([later]);
});

test("a long poll is answered by the first event, of any process, or empty when its time is over", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller();
  const owner = sandboxOf(caller);
  const { next } = await page(caller);
  for (const store of [platform.store, await platform.again()]) {
    const { next: after } = await page(caller, { after: "now" });
    const waiting = page(caller, { after, wait: 25 });
    await cancelled({ store }, owner, "early");
    expect((await waiting).ids).toHaveLength(1);
  }
  // Neither another partner's events nor those of another kind end it.
  const stranger = await platform.caller();
  const filter = { subject_id: "awaited" };
  const waiting = page(caller, { ...filter, after: (await page(caller, { ...filter, after: "now" })).next, wait: 25 });
  await cancelled(platform, sandboxOf(stranger));
  await cancelled(platform, owner);
  const awaited = await cancelled(platform, owner, "awaited");
  expect((await waiting).ids).toEqual([awaited]);
  const empty = await page(caller, { after: "now", wait: 1 });
  expect(empty).toMatchObject({ data: [], has_more: false });
  expect((await page(caller, { after: next })).count).toBeGreaterThan(2);
});

test("ten requests of a credential may wait, closed ones no longer count, and an expired token ends it", {
  tags: ["slow"],
}, async () => {
  const platform = await startPlatform();
  const caller = await platform.caller();
  const closing = new AbortController();
  const after = (await page(caller)).next;
  const headers = { authorization: `Bearer ${caller.token}` };
  const wait = async () => {
    const { signal } = closing;
    while (!signal.aborted) {
      await fetch(`${platform.url}${FEED}?after=${after}&wait=25`, { headers, signal }).catch(() => null);
    }
  };
  const waiting = Array.from({ length: MOST_WAITING }, wait);
  const over = await eventually(
    () => caller.get(`${FEED}?after=${after}&wait=1`),
    ({ status }) => status === 429,
  );
  expect([over.body.type.split("/").at(-1), over.headers.get("retry-after")]).toEqual(["rate_limit_exceeded", "1"]);
  // Without a wait it is answered.
  expect((await page(caller, { after })).ids).toEqual([]);
  closing.abort();
  await Promise.all(waiting);
  await eventually(
    () => caller.get(`${FEED}?after=${after}&wait=1`),
    ({ status }) => status === 200,
  );

  const lifetime = 3_600_000;
  platform.clock.advance(lifetime - 200);
  expect((await page(caller, { after, wait: 25 })).ids).toEqual([]);
  platform.clock.advance(200);
  expect(await refused(caller, `after=${after}&wait=25`)).toEqual([401, "token_expired"]);
});

test("a credential that is revoked during its wait gets no event any more", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller();
  const after = (await page(caller)).next;
  const ask = (wait: number) => caller.get(`${FEED}?after=${after}&wait=${wait}`);
  const waited = async () => {
    const { status } = await eventually(
      () => ask(25),
      (answer) => answer.status !== 429,
    );
    return status;
  };
  const waiting = Array.from({ length: MOST_WAITING }, waited);
  // As many wait as may.
  await eventually(
    () => ask(1),
    ({ status }) => status === 429,
  );
  const { store } = platform;
  await store.write(revokeCredential, { clientId: caller.clientId, actor: "test" });
  await cancelled(platform, sandboxOf(caller));
  expect(await Promise.all(waiting)).toEqual(Array(MOST_WAITING).fill(401));
});

/** Revokes a credential and records an event of its feed, so that none may be read who sees the event. */
async function revokeAndRecord(tx: Tx, { clientId, owner }: { clientId: string; owner: Owner }): Promise<void> {
  await revokeCredential(tx, { clientId, actor: "test" });
  await recordCancellations(tx, { owner, subjectId: "late", reasons: ["sold out"], fails: false });
}

test("a credential that is revoked before the first read of its long poll gets no event either", async () => {
  const platform = await startPlatform();
  const asked: Promise<unknown>[] = [];
  // Whenever it happens: from before the request is authenticated until after it waits.
  for (let turns = 1; turns <= 4_096; turns *= 2) {
    const caller = await platform.caller();
    const { clientId } = caller;
    const polled = caller.get(`${FEED}?wait=25`).then(({ status, body }) => [status, body.data]);
    for (let turn = 0; turn < turns; turn++) await nextTurn();
    await platform.store.write(revokeAndRecord, { clientId, owner: sandboxOf(caller) });
    asked.push(polled);
  }
  expect(await Promise.all(asked)).toEqual(asked.map(() => [401, undefined]));
});

test("a reader that is killed while 64 writers commit gets every event once, in each subject's order", {
  tags: ["slow"],
}, async () => {
  const platform = await startPlatform();
  const caller = await platform.caller();
  const stores = [platform.store, await platform.again()];
  const followed = await followWhileWriting(platform, caller, {
    stores,
    writers: 64,
    eventsEach: 6,
    killsAtLeast: 6,
    seed: 1,
  });
  expect(followed.read).toEqual(followed.expected);
});

test("events from before the feed are numbered in the order of their IDs when the database is migrated", async () => {
  const platform = await startPlatform();
  const [one, other] = [await platform.caller(), await platform.caller()];
  const ids: string[] = [];
  for (let count = 0; count < 3; count++) {
    ids.push(await cancelled(platform, sandboxOf(one)));
    await cancelled(platform, sandboxOf(other));
  }
  await platform.store.close();
  await rewind(platform.location, "9008_event_feed", ["UPDATE events SET feed_no = NULL", "DELETE FROM event_feeds"]);
  const store = await platform.again();
  const filter = { owner: sandboxOf(one) };
  const { events, position } = await store.read(readFeed, { filter, start: "oldest", limit: 10 });
  expect([events.map(({ id }) => id), position.key]).toEqual([ids, 3]);
  const next = await cancelled({ store }, sandboxOf(one));
  const after = { filter, start: { after: feedCursor(filter, position) }, limit: 10 };
  expect((await store.read(readFeed, after)).events.map(({ id }) => id)).toEqual([next]);
});

test("the terminal lists, shows and tails the feed of a partner", async () => {
  const data = await newData();
  const at = (line: string) => [...line.split(" "), "--data", data];
  const acting = "--partner acme --sandbox";
  await esimctlJson(at("partners create acme --name Acme"));
  expect((await esimctl(at(`events list ${acting}`))).stdout).toBe("No events.");
  await esimctlJson(at(`webhooks create https://shop.example.com/hooks --events order.created,esims.ready ${acting}`));
  const ids: string[] = [];
  for (const kind of ["order.created", "esims.ready", "order.created"]) {
    ids.push(Object(await esimctlJson(at(`webhooks trigger ${kind} ${acting}`))).event_id);
  }
  const listed = async (line: string) => Object(await esimctlJson(at(`events list ${line} ${acting}`)));
  const idsOf = (events: Envelope[]) => events.map(({ event_id }) => event_id);
  const first = await listed("--limit 2");
  expect([idsOf(first.data), first.pagination.has_more, first.pagination.count]).toEqual([ids.slice(0, 2), true, 2]);
  expect(idsOf((await listed(`--after ${first.pagination.next_cursor}`)).data)).toEqual(ids.slice(2));
  expect(idsOf((await listed("--all --since 1h")).data)).toEqual(ids);
  expect(idsOf((await listed("--kind esims.ready")).data)).toEqual([ids[1]]);
  expect(await esimctlJson(at(`events show ${ids[1]} ${acting}`))).toMatchObject({
    event: "esims.ready",
    event_id: ids[1],
  });
  expect((await esimctl(at(`events list ${acting}`))).stdout).toMatch(/order\.created +ORD-/);
  const tailed = Object(await esimctlJson(at(`events tail --kind order.created ${acting}`)));
  expect([idsOf(tailed.data), tailed.count]).toEqual([[ids[0], ids[2]], 2]);
  expect((await esimctl(at(`events tail ${acting}`))).stdout.split("\n")).toHaveLength(3);
  expect(await esimctl(at(`events tail --follow --json ${acting}`))).toMatchObject({ exitCode: 2 });
  expect(await esimctl(at(`events show ${crypto.randomUUID()} ${acting}`))).toMatchObject({ exitCode: 1 });
});
