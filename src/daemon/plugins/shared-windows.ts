import { setImmediate as nextTurn } from "node:timers/promises";
import type { Logger } from "pino";
import type { Clock } from "../../core/kernel/clock.ts";
import { isUnavailable } from "../../core/store/problems.ts";
import type { Nodes, WindowDraw, WindowShare } from "../../core/store/store.ts";
import type { Vault } from "../../core/store/vault.ts";
import { type Counters, KEPT_CALLERS, keptCallers, MINUTE, type RateUsage, type Windows } from "./rate-windows.ts";

interface SharedDependencies {
  nodes: Pick<Nodes, "draw">;
  /** Its keyed digests take the place of client IDs and addresses in the database. */
  vault: Pick<Vault, "blindIndex">;
  clock: Clock;
  log: Pick<Logger, "error">;
  /** How long a request waits to be counted by a draw (ms), before this node counts alone; left out: half a second. */
  waitMs?: number;
}

/** Windows that one statement draws from at most. */
const MOST_DRAWS = 100;
const WAIT_MS = 500;
/** After a draw that failed, or that a request waited too long for, this node counts alone for so long (ms). */
const REST_MS = 1_000;

/** Called with whether a request is allowed, and how many were used with it. */
type Waiting = (allowed: boolean, used: number) => void;

/** One caller's minute, as far as this node knows. */
interface Minute {
  id: string;
  minute: number;
  limit: number;
  /** Requests of all nodes at the last draw, and this node's since. */
  used: number;
  /** What the last draw got ahead, and what is left of it. */
  slice: number;
  left: number;
  /** What was accepted of it and not yet reported. */
  spent: number;
  /** Requests that wait for the next draw, and the timer of the first of them. */
  waiting: Waiting[];
  alarm: NodeJS.Timeout | undefined;
}

/**
 * Counters that all nodes of a database share. A node draws a few requests of a window ahead, so that most are counted
 * without waiting for the database; without any left, requests wait for one draw together. While the database is away,
 * or slow, each node counts alone.
 */
export function sharedCounters(deps: SharedDependencies): Counters {
  const drawing = createDrawing(deps);
  const windows = (tally: string) => sharedWindows(tally, deps, drawing);
  return {
    clients: windows("clients"),
    partners: windows("partners"),
    addresses: windows("addresses"),
    tokenClients: windows("tokenClients"),
    tokenAddresses: windows("tokenAddresses"),
  };
}

function sharedWindows(tally: string, { clock, vault }: SharedDependencies, drawing: Drawing): Windows {
  const table = keptCallers<Minute>(KEPT_CALLERS);

  function minuteOf(key: string, limit: number): Minute {
    const minute = Math.floor(clock.now() / MINUTE);
    const known = table.get(key);
    if (known?.minute === minute) return Object.assign(known, { limit });
    const id = known?.id ?? vault.blindIndex("rate_windows", `${tally} ${key}`);
    const fresh: Minute = { id, minute, limit, used: 0, slice: 0, left: 0, spent: 0, waiting: [], alarm: undefined };
    table.set(key, fresh);
    return fresh;
  }

  return {
    count(key, limit) {
      const window = minuteOf(key, limit);
      if (window.used >= limit) return usageOf(window, false);
      if (window.left > 0) {
        window.left--;
        window.spent++;
        window.used++;
        if (window.left <= window.slice / 2) drawing.ask(window);
        return usageOf(window, true);
      }
      if (drawing.rests()) return usageOf(window, countAlone(window));
      return new Promise((resolve) => drawing.wait(window, (allowed, used) => resolve(usageOf(window, allowed, used))));
    },
    look(key, limit) {
      const window = minuteOf(key, limit);
      return usageOf(window, window.used < limit);
    },
  };
}

function usageOf({ limit, minute, ...window }: Minute, allowed: boolean, used = window.used): RateUsage {
  return { limit, remaining: allowed ? Math.max(0, limit - used) : 0, allowed, resetsAt: (minute + 1) * MINUTE };
}

/** Counts a request by what this node knows. */
function countAlone(window: Minute): boolean {
  const allowed = window.used < window.limit;
  if (allowed) window.used++;
  return allowed;
}

interface Drawing {
  /** Draws from the window soon, together with others. */
  ask(window: Minute): void;
  /** The same for a request that waits for it: it is answered in time, whatever becomes of the draw. */
  wait(window: Minute, answer: Waiting): void;
  /** Whether a draw has just failed, or takes too long. */
  rests(): boolean;
}

/** Draws for all windows that ask, one statement at a time; those that ask meanwhile share the next one. */
function createDrawing({ nodes, log, waitMs = WAIT_MS }: SharedDependencies): Drawing {
  const asking = new Set<Minute>();
  let drawing = false;
  let restUntil = 0;
  let overdueAt = Number.POSITIVE_INFINITY;

  const rests = () => performance.now() < restUntil || performance.now() > overdueAt;
  /** Answers what waits in these windows by what this node knows. */
  function alone(windows: readonly Pick<TakenWindow, "window" | "waiting">[]): void {
    restUntil = performance.now() + REST_MS;
    for (const { window, waiting } of windows)
      for (const answer of waiting.splice(0)) answer(countAlone(window), window.used);
  }

  async function draw(): Promise<void> {
    const asked = [...asking].slice(0, MOST_DRAWS).map(take);
    for (const { window } of asked) asking.delete(window);
    overdueAt = performance.now() + waitMs;
    try {
      const shares = await nodes.draw(asked.map(drawOf));
      for (const [at, one] of asked.entries()) settle(one, shares[at]);
    } catch (error) {
      // What was to be reported is lost: other nodes may accept so much more in this minute. An outage is logged where
      // it is watched (outages.ts).
      if (!isUnavailable(error)) log.error({ err: error }, "requests are counted by this node alone");
      alone(asked);
    } finally {
      overdueAt = Number.POSITIVE_INFINITY;
      for (const { alarm } of asked) clearTimeout(alarm);
    }
  }

  async function run(): Promise<void> {
    drawing = true;
    while (asking.size > 0) {
      // All requests of this turn of the event loop share the statement.
      await nextTurn();
      await draw();
    }
    drawing = false;
  }

  function ask(window: Minute): void {
    if (window.waiting.length === 0 && rests()) return;
    asking.add(window);
    if (!drawing) void run();
  }

  return {
    ask,
    wait(window, answer) {
      // The draw that takes it may begin long after this, behind one that hangs.
      const { waiting } = window;
      if (waiting.length === 0) window.alarm = setTimeout(() => alone([{ window, waiting }]), waitMs);
      waiting.push(answer);
      ask(window);
    },
    rests,
  };
}

/** A window with what a draw reports and asks for. */
interface TakenWindow extends Pick<Minute, "spent" | "waiting" | "alarm"> {
  window: Minute;
}

function take(window: Minute): TakenWindow {
  const { spent, waiting, alarm } = window;
  Object.assign(window, { spent: 0, waiting: [], alarm: undefined } satisfies Partial<Minute>);
  return { window, spent, waiting, alarm };
}

function drawOf({ window: { id, minute, limit }, spent, waiting }: TakenWindow): WindowDraw {
  return { id, minute, limit, spent, wanted: waiting.length };
}

/** Puts a draw's outcome into its window, and answers what waited for it, the first ones first. */
function settle({ window, waiting }: TakenWindow, share: WindowShare | undefined): void {
  if (share === undefined) throw new Error("a draw answers every window");
  window.used = Math.max(window.used, share.used + window.spent);
  window.left += share.ahead;
  window.slice = window.left;
  for (const [at, answer] of waiting.entries()) answer(at < share.allowed, share.used - share.allowed + at + 1);
}
