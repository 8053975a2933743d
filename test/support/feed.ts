import { expect } from "vitest";
import type { Owner } from "../../src/core/kernel/owner.ts";
import { recordEvent } from "../../src/core/outbox/record.ts";
import type { Store, Tx } from "../../src/core/store/store.ts";
import { MOST_WAITING } from "../../src/daemon/feed/long-polls.ts";
import { eventually } from "./hangs.ts";
import { type Caller, call, type Platform, type Reply } from "./platform.ts";
import { seeded } from "./random.ts";

interface Cancellations {
  owner: Owner;
  subjectId: string;
  /** The cancellations that the transaction records, by the reason that each carries. */
  reasons: string[];
  /** It is taken back after all. */
  fails: boolean;
}

/** Records events of one subject in one transaction. */
export async function recordCancellations(
  tx: Tx,
  { owner, subjectId, reasons, fails }: Cancellations,
): Promise<string[]> {
  const ids: string[] = [];
  for (const reason of reasons) {
    const data = {
      id: subjectId,
      order_number: "ORD-20260302-AAAAA",
      external_order_id: null,
      status: "cancelled",
      cancellation_reason: reason,
      cancelled_at: "2026-03-02T01:00:00.000Z",
    } as const;
    ids.push(await recordEvent(tx, { ...owner, subjectId, kind: "order.cancelled", data }));
  }
  if (fails) throw new Error("taken back");
  return ids;
}

export interface Follow {
  /** The nodes that commit; writers use them in turn. */
  stores: readonly Store[];
  writers: number;
  eventsEach: number;
  /** The writers go on until the reader was killed this often. */
  killsAtLeast: number;
  seed: number;
}

/** What a reader got, and what it had to get: the events of each writer, in the order of its writing. */
export interface Followed {
  read: Record<string, string[]>;
  expected: Record<string, string[]>;
}

/**
 * Follows the feed of `caller` over HTTP while writers commit on all stores, some in vain. The reader is killed at
 * random before it has kept a page, and goes on from what it has kept: cursor and events, kept together.
 */
export async function followWhileWriting(platform: Platform, caller: Caller, follow: Follow): Promise<Followed> {
  const owner: Owner = { partnerId: caller.partnerId, environment: "sandbox" };
  const random = seeded(follow.seed);
  const expected: Record<string, string[]> = {};
  let writing = true;
  let kills = 0;
  const writers = Array.from({ length: follow.writers }, async (_, writer) => {
    const subjectId = `writer-${writer}`;
    const store = follow.stores[writer % follow.stores.length];
    if (store === undefined) throw new Error("no store");
    const written: string[] = [];
    expected[subjectId] = written;
    for (let count = 0; count < follow.eventsEach || kills < follow.killsAtLeast; ) {
      const reasons = Array.from({ length: 1 + Math.floor(random() * 3) }, () => `${count++}`);
      const fails = random() < 0.2;
      const done = store.write(recordCancellations, { owner, subjectId, reasons, fails });
      if (fails) await done.catch(() => undefined);
      else written.push(...(await done));
    }
  });
  const ended = Promise.all(writers).finally(() => {
    writing = false;
  });
  const kept: { cursor: string | null; events: { id: string; subject: string }[] } = { cursor: null, events: [] };
  let pageMs = 10;
  for (let idle = false; !idle; ) {
    const over = !writing;
    // It is killed amid a request, or between a response and its keeping.
    const fate = over ? 1 : random();
    const killed = new AbortController();
    const timer = fate < 0.3 ? setTimeout(() => killed.abort(), random() * pageMs) : undefined;
    const began = performance.now();
    const limit = 1 + Math.floor(random() * 40);
    const { cursor } = kept;
    try {
      const page = await readPage(platform, caller, { cursor, limit, wait: over ? 0 : 1, signal: killed.signal });
      pageMs = performance.now() - began;
      if (fate < 0.5) {
        kills += 1;
        continue;
      }
      kept.events.push(...page.events);
      kept.cursor = page.next;
      idle = over && page.events.length === 0;
    } catch (error) {
      if (!killed.signal.aborted) throw error;
      kills += 1;
    } finally {
      clearTimeout(timer);
    }
  }
  await ended;
  const read: Record<string, string[]> = Object.fromEntries(Object.keys(expected).map((subject) => [subject, []]));
  for (const { id, subject } of kept.events) read[subject] = [...(read[subject] ?? []), id];
  return { read, expected };
}

async function readPage(
  { url }: Platform,
  { token }: Caller,
  { cursor, limit, wait, signal }: { cursor: string | null; limit: number; wait: number; signal: AbortSignal },
) {
  const query = new URLSearchParams({ limit: String(limit), wait: String(wait) });
  if (cursor !== null) query.set("after", cursor);
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/api/v1/events?${query}`, { headers, signal });
  if (response.status !== 200) throw new Error(await response.text());
  const { data, pagination } = Object(await response.json());
  return {
    events: [...data].map(({ event_id, data }) => ({ id: String(event_id), subject: String(data.id) })),
    next: String(pagination.next_cursor),
  };
}

/** Long polls at the end of a feed, as many as may wait, all of them waiting; `answers` are their responses. */
export async function waitingPolls(url: string, token: string): Promise<{ answers: Promise<Reply[]> }> {
  const headers = { authorization: `Bearer ${token}` };
  const poll = (wait: number) => call(`${url}/api/v1/events?after=now&wait=${wait}`, { headers });
  const waiting = async () => {
    let reply = await poll(25);
    // The question below may have had its place.
    while (reply.status === 429) reply = await poll(25);
    return reply;
  };
  const answers = Promise.all(Array.from({ length: MOST_WAITING }, waiting));
  // One more is refused once all of them wait.
  await eventually(
    () => poll(1),
    ({ status }) => status === 429,
  );
  return { answers };
}

/** What polls are answered that a stopping daemon ends. */
export function expectEndedPolls(replies: Reply[]): void {
  const empty = { data: [], pagination: { has_more: false, count: 0, next_cursor: expect.any(String) } };
  expect(replies).toMatchObject(replies.map(() => ({ status: 200, body: empty })));
}
