import type { ProviderAnswer } from "./provider.ts";

/** So many requests with the same key within a window that begins with the first of them. */
export interface AiraloLimit {
  key: string;
  most: number;
  window_ms: number;
}

/** What a request got of its limits: headers for its answer, and that of a request beyond them. */
export interface Taken {
  headers: Record<string, string>;
  throttled: ProviderAnswer | null;
}

/** Counts requests in windows. */
export interface AiraloLimiter {
  /** Counts a request in all of `limits`, or in none where one of them is used up. */
  take(limits: readonly AiraloLimit[], now: number): Taken;
}

/** Windows that are over go as soon as there are more than this. */
const KEPT_WINDOWS = 10_000;

/** A limiter that has counted nothing yet. */
export function airaloLimiter(): AiraloLimiter {
  const windows = new Map<string, { until: number; used: number }>();
  const windowOf = ({ key, window_ms }: AiraloLimit, now: number) => {
    const open = windows.get(key);
    if (open !== undefined && now < open.until) return open;
    if (windows.size > KEPT_WINDOWS) for (const [one, { until }] of windows) if (until <= now) windows.delete(one);
    const begun = { until: now + window_ms, used: 0 };
    windows.set(key, begun);
    return begun;
  };
  return {
    take(limits, now) {
      const all = limits.map((limit) => ({ limit, window: windowOf(limit, now) }));
      const full = all.find(({ limit, window }) => window.used >= limit.most);
      if (full !== undefined) return throttled(full.limit.most, full.window.until, now);
      for (const { window } of all) window.used += 1;
      const [first] = all;
      if (first === undefined) return { headers: {}, throttled: null };
      return { headers: counted(first.limit.most, first.limit.most - first.window.used), throttled: null };
    },
  };
}

function counted(most: number, left: number): Record<string, string> {
  return { "X-RateLimit-Limit": String(most), "X-RateLimit-Remaining": String(left) };
}

function throttled(most: number, until: number, now: number): Taken {
  const headers = {
    ...counted(most, 0),
    "X-RateLimit-Reset": String(Math.ceil(until / 1000)),
    "Retry-After": String(Math.ceil((until - now) / 1000)),
  };
  return { headers, throttled: { status: 429, headers, body: { message: "Too Many Attempts." } } };
}
