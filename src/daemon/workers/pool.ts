import type { Logger } from "pino";
import { within } from "../../core/kernel/within.ts";
import { isUnavailable } from "../../core/store/problems.ts";
import { STOP_GRACE_MS } from "../context/context.ts";
import { startWorker, type Worker } from "./loop.ts";
import { type Bounds, countInFlight, createTurns, fullKeys, type Lane, type Room, share } from "./share.ts";

/** What a read found to be due. */
export interface Due<L extends Lane> {
  lanes: L[];
  /** In how many ms the first of what is not due yet will be; null: nothing of that kind waits. */
  waitMs: number | null;
}

/** One piece of work that was claimed, on its lane. */
export interface Claimed<L extends Lane, C> {
  lane: L;
  work: C;
}

/** One kind of work: what is due, how it is claimed, how it is done. `R` is what a later turn records of it. */
export interface PoolWork<L extends Lane, C, R> {
  name: string;
  bounds: Bounds;
  /** What a turn records at a time, if as much ends; left out: 32. */
  enough?: number;
  /** Lanes with something due, by a read; of the keys in `full` nothing is claimed just now. */
  due(full: ReadonlySet<string>): Promise<Due<L>>;
  /** Records what ended, then claims up to `room` of each lane. Called only when there is something to do. */
  turn(rooms: Room<L>[], ended: R[]): Promise<Claimed<L, C>[]>;
  /** Does one. Its answer is handed to the next turn unless null. Once `stopping` aborts it gives up what it can. */
  work(claimed: C, stopping: AbortSignal): Promise<R | null>;
  /** Gives up the leases of what was not begun, or could not be finished in time. */
  release(claimed: C[]): Promise<void>;
}

/** Work in flight, within bounds, shared fairly among keys. */
export interface Pool {
  name: string;
  /**
   * Claims what is due as far as there is room and begins it, without waiting for it. Answers how many were begun.
   * Without `claims` it only records what ended.
   */
  step(signal: AbortSignal, claims?: boolean): Promise<number>;
  /** Resolves once nothing is in flight and all that ended is recorded. */
  idle(): Promise<void>;
  /** Calls `wake` when another step is worthwhile: something ended, or came due. */
  onChange(wake: () => void): void;
  /** Claims nothing more, lets what is in flight finish for `graceMs`, then gives up the leases of the rest. */
  stop(graceMs: number): Promise<void>;
}

/** A pool for one kind of work; it does nothing by itself, see `startPool`. */
export function createPool<L extends Lane, C, R>(kind: PoolWork<L, C, R>, log: Pick<Logger, "error">): Pool {
  const { bounds } = kind;
  const runner = createRunner(kind, log);
  const { turn, recordRest } = createRecorder(kind, runner);
  const turns = createTurns();
  let alarm: NodeJS.Timeout | undefined;

  async function rooms(): Promise<Room<L>[]> {
    if (runner.flight.total() >= bounds.overall) return [];
    const { lanes, waitMs } = await kind.due(fullKeys(runner.flight, bounds));
    clearTimeout(alarm);
    if (waitMs !== null) alarm = setTimeout(() => runner.wake(), Math.min(waitMs, LONGEST_ALARM_MS)).unref();
    const shared = share(turns.order(lanes), runner.flight, bounds);
    turns.took(shared);
    return shared;
  }

  return {
    name: kind.name,
    async step(signal, claims = true) {
      let begun = 0;
      while (!signal.aborted && !runner.stopping.signal.aborted) {
        await gatherEnded(runner, kind.enough ?? ENOUGH);
        const shared = claims ? await rooms() : [];
        const claimed = await turn(shared);
        for (const one of claimed) runner.begin(one);
        begun += claimed.length;
        // Where less waited than there was room for, other lanes may have more.
        const most = shared.reduce((sum, { room }) => sum + room, 0);
        if ((claimed.length === 0 || claimed.length === most) && runner.ended.length === 0) break;
      }
      return begun;
    },
    async idle() {
      await runner.idle();
      await recordRest();
    },
    onChange(wake) {
      runner.wake = wake;
    },
    async stop(graceMs) {
      runner.wake = () => {};
      clearTimeout(alarm);
      runner.stopping.abort();
      const all = await within(runner.idle(), graceMs);
      await recordRest();
      if (!all) await kind.release([...runner.running].map(({ work }) => work)).catch(unlessAway);
    },
  };
}

/** How long (ms) what ended waits for what is still in flight, to be recorded together. */
const GATHER_MS = 2;
/** So much of it waits for nothing more, unless the kind of work says how much does. */
const ENOUGH = 32;

interface Gathering {
  readonly running: ReadonlySet<unknown>;
  readonly ended: readonly unknown[];
  onEnd: (() => void) | null;
}

/**
 * Waits, once something ended, until nothing more is in flight, enough has ended, or a moment has passed: a transaction
 * and its commit cost as much as recording a dozen outcomes.
 */
async function gatherEnded(runner: Gathering, enough: number): Promise<void> {
  const isGathered = () => runner.running.size === 0 || runner.ended.length >= enough;
  if (runner.ended.length === 0 || isGathered()) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, GATHER_MS);
  runner.onEnd = () => {
    if (isGathered()) resolve();
  };
  await promise;
  runner.onEnd = null;
  clearTimeout(timer);
}

/** Recording what ended, together with the next claims. */
function createRecorder<L extends Lane, C, R>(kind: PoolWork<L, C, R>, runner: { ended: R[] }) {
  async function turn(shared: Room<L>[]): Promise<Claimed<L, C>[]> {
    const ended = runner.ended.splice(0);
    if (shared.length + ended.length === 0) return [];
    try {
      return await kind.turn(shared, ended);
    } catch (error) {
      // What an outage kept from being recorded is recorded after it.
      if (isUnavailable(error)) runner.ended.unshift(...ended);
      throw error;
    }
  }

  /** Records what is left. During an outage it is left to the leases: they run out, and the work is done again. */
  async function recordRest(): Promise<void> {
    await turn([]).catch(unlessAway);
  }

  return { turn, recordRest };
}

/** What is in flight, and what it has left for the next turn. */
function createRunner<L extends Lane, C, R>(kind: PoolWork<L, C, R>, log: Pick<Logger, "error">) {
  const running = new Set<Claimed<L, C>>();
  const stopping = new AbortController();
  const idle: (() => void)[] = [];
  const runner = {
    flight: countInFlight(),
    running,
    ended: [] as R[],
    stopping,
    wake: () => {},
    /** Called in place of `wake` when one of `running` has ended, while a step gathers what ends. */
    onEnd: null as (() => void) | null,
    begin(claimed: Claimed<L, C>): void {
      runner.flight.enter(claimed.lane);
      running.add(claimed);
      void runner.work(claimed);
    },
    async work(claimed: Claimed<L, C>): Promise<void> {
      const { lane, work } = claimed;
      try {
        if (stopping.signal.aborted) {
          // Claimed while it was being stopped.
          await kind.release([work]);
        } else {
          const result = await kind.work(work, stopping.signal);
          if (result !== null) runner.ended.push(result);
        }
      } catch (error) {
        // Its lease ends by itself; then it is done again.
        log.error({ err: error, worker: kind.name }, "work failed");
      }
      running.delete(claimed);
      runner.flight.leave(lane);
      if (running.size === 0) for (const resolve of idle.splice(0)) resolve();
      (runner.onEnd ?? runner.wake)();
    },
    async idle(): Promise<void> {
      while (running.size > 0) await new Promise<void>((resolve) => void idle.push(resolve));
    },
  };
  return runner;
}

/** What an outage keeps from being recorded is left to the leases. */
function unlessAway(error: unknown): void {
  if (!isUnavailable(error)) throw error;
}

/** The longest that a timer can be set for. */
const LONGEST_ALARM_MS = 2 ** 31 - 1;

/**
 * Claims lane by lane, each in a command of its own, so that a lane whose claim fails takes nothing from the others.
 * Those that share a commit are one transaction anyway.
 */
export async function claimEach<L extends Lane, C>(
  rooms: Room<L>[],
  claim: (lane: L, room: number) => Promise<C[]>,
  log: Pick<Logger, "error">,
): Promise<Claimed<L, C>[]> {
  const claims = rooms.map(async ({ lane, room }) => {
    try {
      return (await claim(lane, room)).map((work) => ({ lane, work }));
    } catch (error) {
      log.error({ err: error, lane: lane.id }, "claim failed");
      return [];
    }
  });
  return (await Promise.all(claims)).flat();
}

/** How a pool is run. */
export interface PoolOptions {
  log: Pick<Logger, "error">;
  /** Whether the clock is too far off to take leases; left out: it never is. */
  isClockOff?: (() => boolean) | undefined;
  /** Runs at the start of each step. */
  before?: (signal: AbortSignal) => Promise<void>;
}

/** Runs a pool until it is stopped; it also looks every second. Nothing is claimed while the clock is off. */
export function startPool(pool: Pool, { log, before, isClockOff }: PoolOptions): Worker {
  const worker = startWorker({
    name: pool.name,
    pollMs: 1_000,
    log,
    async step(signal) {
      const claims = isClockOff?.() !== true;
      if (claims) await before?.(signal);
      await pool.step(signal, claims);
    },
  });
  pool.onChange(worker.wake);
  return {
    wake: worker.wake,
    async stop() {
      const until = performance.now() + STOP_GRACE_MS;
      await worker.stop();
      await pool.stop(Math.max(0, until - performance.now()));
    },
  };
}
