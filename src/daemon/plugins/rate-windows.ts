import { LRUCache } from "lru-cache";
import type { Clock } from "../../core/kernel/clock.ts";

/** The length of a window (ms). */
export const MINUTE = 60_000;

/** How much of its limit a caller has used in the current minute. */
export interface RateUsage {
  /** Requests allowed in a minute. */
  limit: number;
  /** Requests left in it; never below 0. */
  remaining: number;
  /** False when this request exceeds the limit. */
  allowed: boolean;
  /** When the minute ends (ms). */
  resetsAt: number;
  /** The limit of the partner's credentials together, where it was that one which this request exceeds. */
  together?: number;
}

/** Counts requests by key in the minutes of the clock: in this process, in the main one, or in that of all nodes. */
export interface Windows {
  /** Counts one more request of `key`, of which `limit` a minute are allowed. */
  count(key: string, limit: number): RateUsage | Promise<RateUsage>;
  /** The same without counting. */
  look(key: string, limit: number): RateUsage | Promise<RateUsage>;
}

/**
 * What is counted: requests of clients, of partners, of addresses without a valid token, and to the token endpoint by
 * two keys.
 */
export const tallies = ["clients", "partners", "addresses", "tokenClients", "tokenAddresses"] as const;
export type Tally = (typeof tallies)[number];

/** The windows of every tally. */
export type Counters = Record<Tally, Windows>;
/** The same in this process: they respond at once. */
export type MemoryCounters = Record<Tally, { [K in keyof Windows]: (key: string, limit: number) => RateUsage }>;

/** Callers that each tally keeps. */
export const KEPT_CALLERS = 50_000;

/** Counters in this process's memory. */
export function memoryCounters(clock: Clock): MemoryCounters {
  const windows = () => fixedWindows(clock, KEPT_CALLERS);
  return {
    clients: windows(),
    partners: windows(),
    addresses: windows(),
    tokenClients: windows(),
    tokenAddresses: windows(),
  };
}

/** A table of `keys` callers at most, from which the least recently seen is dropped first. */
export function keptCallers<T extends object>(keys: number): LRUCache<string, T> {
  // Each entry counts as one: a bound by size takes room as entries come, a `max` takes all of it at once.
  return new LRUCache<string, T>({ maxSize: keys, sizeCalculation: () => 1 });
}

/**
 * Fixed one-minute windows, aligned to the clock's minutes. At most `keys` callers are kept, the least recently
 * seen is dropped first: memory stays bounded however many call.
 */
function fixedWindows(clock: Clock, keys: number): MemoryCounters[Tally] {
  const table = keptCallers<{ minute: number; count: number }>(keys);
  const usage = (minute: number, count: number, limit: number): RateUsage => ({
    limit,
    remaining: Math.max(0, limit - count),
    allowed: count <= limit,
    resetsAt: (minute + 1) * MINUTE,
  });
  return {
    count(key, limit) {
      const minute = Math.floor(clock.now() / MINUTE);
      const known = table.get(key);
      if (known?.minute === minute) return usage(minute, ++known.count, limit);
      table.set(key, { minute, count: 1 });
      return usage(minute, 1, limit);
    },
    look(key, limit) {
      const minute = Math.floor(clock.now() / MINUTE);
      const known = table.get(key);
      return usage(minute, known?.minute === minute ? known.count : 0, limit);
    },
  };
}
