import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { isoTime, systemClock } from "../src/core/kernel/clock.ts";
import type { Nodes, Store, WindowDraw } from "../src/core/store/store.ts";
import type { Counters, RateUsage } from "../src/daemon/plugins/rate-windows.ts";
import { sharedCounters } from "../src/daemon/plugins/shared-windows.ts";
import { type TestClock, testClock } from "./support/clock.ts";
import { acceptConnections, onDatabase, refuseConnections } from "./support/database.ts";
import { HANG_MS } from "./support/hangs.ts";
import { seeded } from "./support/random.ts";
import { onPostgres, openTestStore } from "./support/store.ts";

interface Node {
  counters: Counters;
  /** Draws by one statement each. */
  statements: WindowDraw[][];
}

/** Nodes on one database, which a busy machine makes slow: unless `hurried`, they wait for it as for a hang. */
async function nodes(count: number, { hurried = false } = {}) {
  const clock = testClock("2026-03-02T09:30:12.000Z");
  const { again, location } = await openTestStore(clock);
  const made: Node[] = [];
  for (let at = 0; at < count; at++) {
    const store = await again();
    made.push(nodeOn(store, clock, hurried ? {} : { waitMs: HANG_MS }));
  }
  return { clock, all: made, url: "url" in location ? location.url : "" };
}

/** `reached`: what a draw waits for before it reaches the database. */
function nodeOn(
  { nodes: shared, vault }: Store,
  clock: TestClock,
  { reached = async () => {}, waitMs }: { reached?: () => Promise<void>; waitMs?: number } = {},
): Node {
  if (shared === null) throw new Error("this database has one node");
  const statements: WindowDraw[][] = [];
  const log = { error: (...words: unknown[]) => console.error(...words) };
  const draw: Nodes["draw"] = async (draws) => {
    statements.push([...draws]);
    await reached();
    return shared.draw(draws);
  };
  return { counters: sharedCounters({ nodes: { draw }, vault, clock, log, ...(waitMs && { waitMs }) }), statements };
}

const accepted = (usages: readonly RateUsage[]) => usages.filter(({ allowed }) => allowed).length;

const LIMITS = [3, 19, 30, 60, 300, 1_000];

describe.runIf(onPostgres)("limits of several nodes", () => {
  test.each(LIMITS)(
    "of %i a minute hold over all nodes, however requests are spread: never under, a twentieth over at most",
    async (limit) => {
      const { all, clock } = await nodes(3);
      const random = seeded(limit);
      const spreads: Record<string, (sent: number) => number> = {
        "in turn": (sent) => sent % 3,
        "one node after the other": (sent) => (sent < limit / 2 ? 0 : 1 + (sent % 2)),
        "by chance": () => Math.floor(random() * 3),
      };
      for (const [name, nodeOf] of Object.entries(spreads)) {
        for (const atOnce of [1, 7, limit * 2]) {
          clock.advance(60_000);
          const usages: RateUsage[] = [];
          while (usages.length < limit * 2) {
            const burst = Array.from({ length: Math.min(atOnce, limit * 2 - usages.length) }, (_, at) =>
              all[nodeOf(usages.length + at)]?.counters.clients.count(name, limit),
            );
            for (const usage of await Promise.all(burst)) if (usage !== undefined) usages.push(usage);
          }
          expect(accepted(usages), `${name}, ${atOnce} at once`).toBeGreaterThanOrEqual(limit);
          expect(accepted(usages), `${name}, ${atOnce} at once`).toBeLessThanOrEqual(Math.floor(limit * 1.05));
        }
      }
    },
  );

  test("each request shows what is left of the limit, and the end of the minute", async () => {
    const { all } = await nodes(2);
    const usages = [];
    for (let sent = 0; sent < 64; sent++) usages.push(await all[sent % 2]?.counters.clients.count("ann", 60));
    const resetsAt = Date.parse("2026-03-02T09:31:00Z");
    expect(usages[0]).toEqual({ limit: 60, remaining: 59, allowed: true, resetsAt });
    // A node shows what it knows: others may have accepted a few more.
    for (const [sent, usage] of usages.entries()) {
      expect(Math.abs((usage?.remaining ?? -9) - Math.max(0, 59 - sent)), String(sent)).toBeLessThanOrEqual(3);
    }
    expect(usages.at(-1)).toEqual({ limit: 60, remaining: 0, allowed: false, resetsAt });
    const burst = await Promise.all(Array.from({ length: 5 }, () => all[0]?.counters.clients.count("ben", 60)));
    expect(burst.map((usage) => usage?.remaining)).toEqual([59, 58, 57, 56, 55]);
  });

  test("requests for tokens and those without a token are counted over all nodes too, each by its own", async () => {
    const { all } = await nodes(2);
    for (const tally of ["addresses", "tokenClients", "tokenAddresses"] as const) {
      const usages = [];
      for (let sent = 0; sent < 40; sent++) usages.push(await all[sent % 2]?.counters[tally].count("192.0.2.1", 30));
      expect([30, 31]).toContain(accepted(usages.filter((usage) => usage !== undefined)));
    }
    expect((await all[0]?.counters.tokenAddresses.look("192.0.2.1", 30))?.allowed).toBe(false);
    expect((await all[1]?.counters.clients.count("192.0.2.1", 30))?.remaining).toBe(29);
  });

  test("a steady caller waits for the database once in a minute, a refused one never, many together", async () => {
    const { all } = await nodes(2);
    const [node] = all;
    let waited = 0;
    for (let sent = 0; sent < 300; sent++) {
      const usage = node?.counters.clients.count("ann", 300);
      if (usage !== undefined && "then" in usage) waited++;
      expect((await usage)?.allowed).toBe(true);
      // Between two requests the draw under way ends.
      await settled(node);
    }
    // The first one, and the last few, for which nothing may be drawn ahead.
    expect(waited).toBeLessThanOrEqual(2);
    const ofAnn = () => node?.statements.filter((draws) => draws.some(({ limit }) => limit === 300)).length ?? 0;
    expect(ofAnn()).toBeLessThan(110);
    const before = ofAnn();
    for (let sent = 0; sent < 1_000; sent++) await node?.counters.clients.count("ann", 300);
    expect(ofAnn()).toBe(before);
    await Promise.all(Array.from({ length: 90 }, (_, at) => node?.counters.clients.count(`client ${at}`, 300)));
    expect(ofAnn()).toBe(before + 1);
  });

  test("of a limit under 20 each accepted request waits for a draw, a refused one for none", async () => {
    const { all } = await nodes(2);
    const [node] = all;
    const count = async () => (await node?.counters.clients.count("ann", 19))?.allowed;
    for (let sent = 0; sent < 10; sent++) expect(await count()).toBe(true);
    expect(node?.statements).toHaveLength(10);
    expect(await Promise.all(Array.from({ length: 9 }, count))).toEqual(Array(9).fill(true));
    expect(node?.statements).toHaveLength(11);
    expect(await Promise.all(Array.from({ length: 100 }, count))).toEqual(Array(100).fill(false));
    expect(node?.statements).toHaveLength(11);
  });

  test("limits hold beside nodes whose clocks are minutes off, and old windows go all the same", async () => {
    const clock = testClock(isoTime(systemClock.now()));
    const { store, again, location } = await openTestStore(clock);
    const nodeAt = async (aheadMs: number) => {
      const own = testClock(isoTime(clock.now() + aheadMs));
      return { ...nodeOn(await again(own), own, { waitMs: HANG_MS }), clock: own };
    };
    const [ahead, behind, late] = [await nodeAt(600_000), await nodeAt(-600_000), await nodeAt(0)];
    const count = async (node: Node, key: string) => (await node.counters.clients.count(key, 19)).allowed;
    const windows = () => store.read(async (q) => q.db.select().from(q.t.rateWindows), null);
    await count(behind, "of a minute long ago");
    const right = nodeOn(store, clock, { waitMs: HANG_MS });
    for (let sent = 0; sent < 19; sent++) expect(await count(right, "ann")).toBe(true);
    expect(await windows()).toHaveLength(1);
    expect(await count(ahead, "ann")).toBe(true);
    expect(await count(late, "ann")).toBe(false);
    expect(await windows()).toHaveLength(2);
    // Its clock is corrected: it drops old windows from then on as before.
    await onDatabase(location, "UPDATE rate_windows SET minute = minute - 60");
    ahead.clock.advance(-600_000);
    expect(await count(ahead, "ben")).toBe(true);
    expect(await windows()).toHaveLength(1);
  });

  test("no request waits for a draw that hangs, however long it does: the node counts alone meanwhile", async () => {
    const clock = testClock("2026-03-02T09:30:12.000Z");
    const { store } = await openTestStore(clock);
    const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const reached = async () => {
      begun.resolve();
      await held.promise;
    };
    const node = nodeOn(store, clock, { reached });
    const count = async (key: string) => (await node.counters.clients.count(key, 30)).allowed;
    const first = count("ann");
    await begun.promise;
    // They asked while the draw was under way: the next one would have taken them.
    const behind = [count("ben"), ...Array.from({ length: 30 }, () => count("ann"))];
    expect(await first).toBe(true);
    expect((await Promise.all(behind)).filter(Boolean)).toHaveLength(30);
    // Beyond the second for which a node counts alone after a draw that was late.
    const until = performance.now() + 1_500;
    while (performance.now() < until) {
      expect(node.counters.clients.count(`client ${performance.now()}`, 30)).toMatchObject({ allowed: true });
      await nextTurn();
    }
    expect(node.statements).toHaveLength(1);
    held.resolve();
    await expect.poll(() => count("carl").then(() => node.statements.length)).toBeGreaterThan(1);
  });

  test("while the database is away each node counts alone, and together again once it is back", async () => {
    const { all, url, clock } = await nodes(2, { hurried: true });
    const spend = async (times: number) => {
      const usages = [];
      for (let sent = 0; sent < times; sent++) usages.push(await all[sent % 2]?.counters.clients.count("ann", 60));
      return accepted(usages.filter((usage) => usage !== undefined));
    };
    await refuseConnections(url);
    expect(await spend(200)).toBe(120);
    await acceptConnections(url);
    await expect
      .poll(async () => {
        clock.advance(60_000);
        return spend(200);
      })
      .toBeLessThanOrEqual(63);
  });
});

/** Resolves once the statements of a node that are under way have ended. */
async function settled(node: Node | undefined): Promise<void> {
  // Another window waits for the statement under way and then for its own.
  await node?.counters.addresses.count(`after ${performance.now()}`, 10);
}
