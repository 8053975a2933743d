import { LRUCache } from "lru-cache";
import type { Clock } from "../../core/kernel/clock.ts";

const MINUTE = 60_000;

/** Where a caller stands in the current minute. */
export interface Standing {
  /** Requests allowed in a minute. */
  limit: number;
  /** How many of them are left; never below 0. */
  remaining: number;
  /** False when this request is one too many. */
  allowed: boolean;
  /** When the minute ends (ms). */
  resetsAt: number;
}

/** Counts requests by key in the minutes of the clock: in this process, or wherever it is told to. */
export interface Windows {
  /** Counts one more request of `key`, of which `limit` a minute are allowed. */
  count(key: string, limit: number): Standing | Promise<Standing>;
  /** The same without counting. */
  look(key: string, limit: number): Standing | Promise<Standing>;
}

/** What is counted: requests of clients, of addresses without a good token, and to the token endpoint by two keys. */
export const tallies = ["clients", "addresses", "tokenClients", "tokenAddresses"] as const;
export type Tally = (typeof tallies)[number];

/** The windows of every tally. */
export type Counters = Record<Tally, Windows>;
/** The same in this process: they answer at once. */
export type MemoryCounters = Record<Tally, { [K in keyof Windows]: (key: string, limit: number) => Standing }>;

/** Callers that each tally remembers. */
const REMEMBERED = 50_000;

/** Counters in this process's memory. */
export function memoryCounters(clock: Clock): MemoryCounters {
  const windows = () => fixedWindows(clock, REMEMBERED);
  return { clients: windows(), addresses: windows(), tokenClients: windows(), tokenAddresses: windows() };
}

/**
 * Fixed one-minute windows, aligned to the clock's minutes. At most `keys` callers are remembered, the least recently
 * seen is forgotten first: memory stays bounded whoever calls.
 */
function fixedWindows(clock: Clock, keys: number): MemoryCounters[Tally] {
  // Each entry counts as one: a bound by size takes room as entries come, a `max` takes all of it at once.
  const table = new LRUCache<string, { minute: number; count: number }>({ maxSize: keys, sizeCalculation: () => 1 });
  const standing = (minute: number, count: number, limit: number): Standing => ({
    limit,
    remaining: Math.max(0, limit - count),
    allowed: count <= limit,
    resetsAt: (minute + 1) * MINUTE,
  });
  return {
    count(key, limit) {
      const minute = Math.floor(clock.now() / MINUTE);
      const known = table.get(key);
      if (known?.minute === minute) return standing(minute, ++known.count, limit);
      table.set(key, { minute, count: 1 });
      return standing(minute, 1, limit);
    },
    look(key, limit) {
      const minute = Math.floor(clock.now() / MINUTE);
      const known = table.get(key);
      return standing(minute, known?.minute === minute ? known.count : 0, limit);
    },
  };
}
