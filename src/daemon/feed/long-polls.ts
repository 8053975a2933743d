import { lastNumbers } from "../../core/feed/last-numbers.ts";
import type { Owner } from "../../core/kernel/owner.ts";
import { Problem } from "../../core/kernel/problem.ts";
import type { Store } from "../../core/store/store.ts";

/** Requests of one credential that may wait in one process at the same time, and of all of a partner's. */
export const MOST_WAITING = 10;
const MOST_OF_PARTNER = 50;

/** How often waiting feeds are looked at by themselves (ms): other processes and nodes commit too. */
const POLL_MS = 500;
/** How long a commit in this process waits for others before the feeds are looked at (ms). */
const GATHER_MS = 10;

/** Requests that wait for events. */
export interface LongPolls {
  /** Counts a request that is to wait; the result counts it out. Throws `rate_limit_exceeded`. */
  enter(client: Owner & { clientId: string }): () => void;
  /** Resolves when the feed has an event after `position`, or `ended` is aborted. Holds no connection meanwhile. */
  grown(feed: Owner, position: number, ended: AbortSignal): Promise<void>;
}

interface Waiter {
  feed: Owner;
  position: number;
  wake(): void;
}

/**
 * Long polls over one store: all that wait are looked at by one query, soon after a commit of this process that wrote
 * an event, and twice a second. Nothing runs while none waits.
 */
export function createLongPolls(store: Pick<Store, "read" | "onSignal">): LongPolls {
  const enter = createWaitCounts();
  const waiters = new Set<Waiter>();
  const look = createLook(store, waiters);
  let stop: (() => void) | null = null;

  function begin(): () => void {
    const timer = setInterval(look, POLL_MS);
    let gathering: NodeJS.Timeout | null = null;
    const silence = store.onSignal("events", () => {
      gathering ??= setTimeout(() => {
        gathering = null;
        look();
      }, GATHER_MS);
    });
    return () => {
      silence();
      clearInterval(timer);
      if (gathering !== null) clearTimeout(gathering);
    };
  }

  function leave(waiter: Waiter): void {
    waiters.delete(waiter);
    if (waiters.size > 0) return;
    stop?.();
    stop = null;
  }

  return {
    enter({ clientId, partnerId, environment }) {
      const leaveOwn = enter(clientId, MOST_WAITING, "of this credential");
      try {
        const leavePartner = enter(`${partnerId} ${environment}`, MOST_OF_PARTNER, "of your credentials");
        return () => {
          leaveOwn();
          leavePartner();
        };
      } catch (error) {
        leaveOwn();
        throw error;
      }
    },
    async grown(feed, position, ended) {
      if (ended.aborted) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const waiter = { feed, position, wake: () => resolve() };
      waiters.add(waiter);
      ended.addEventListener("abort", waiter.wake, { once: true });
      stop ??= begin();
      // What was committed between the caller's read and now.
      look();
      await promise;
      ended.removeEventListener("abort", waiter.wake);
      leave(waiter);
    },
  };
}

/** Counts requests that wait, by name; what it answers counts one out. */
function createWaitCounts() {
  const waiting = new Map<string, number>();
  return (name: string, most: number, whose: string): (() => void) => {
    const others = waiting.get(name) ?? 0;
    if (others >= most) {
      throw new Problem("rate_limit_exceeded", `More than ${most} requests ${whose} wait for events.`);
    }
    waiting.set(name, others + 1);
    return () => {
      const left = (waiting.get(name) ?? 1) - 1;
      if (left === 0) waiting.delete(name);
      else waiting.set(name, left);
    };
  };
}

/** Looks at the feeds of all waiters, one query at a time; asked for during one, it looks once more. */
function createLook(store: Pick<Store, "read">, waiters: ReadonlySet<Waiter>): () => void {
  let looking = false;
  let again = false;

  async function once(): Promise<void> {
    const partners = [...new Set([...waiters].map(({ feed }) => feed.partnerId))];
    const feeds = await store.read(lastNumbers, partners);
    const last = new Map(feeds.map((feed) => [keyOf(feed), feed.last]));
    for (const { feed, position, wake } of [...waiters]) if ((last.get(keyOf(feed)) ?? 0) > position) wake();
  }

  async function run(): Promise<void> {
    looking = true;
    do {
      again = false;
      // A database that is away wakes nothing: the next look asks again, and the wait has its own end.
      await once().catch(() => undefined);
    } while (again && waiters.size > 0);
    looking = false;
  }

  return () => {
    again = true;
    if (!looking && waiters.size > 0) void run();
  };
}

function keyOf({ partnerId, environment }: Owner): string {
  return `${partnerId} ${environment}`;
}
