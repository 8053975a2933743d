/** Tokens of the second that is running. */
interface EsimgoWindow {
  startedAt: number;
  used: number;
}

/** What a request is charged, and whether it may go on. */
export interface EsimgoCharge {
  allowed: boolean;
  headers: Record<string, string>;
}

const WINDOW_MS = 1_000;

// The guide says that some endpoints cost more and does not name them.
const dear = [/^\/catalogue$/, /^\/esims$/];

/** Tokens of a fixed window of a second, counted for the one address that calls. */
export function createEsimgoLimit(tokens: number) {
  let window: EsimgoWindow = { startedAt: 0, used: 0 };
  return {
    /** Charges a request; one that is refused is not charged. */
    charge(method: string, path: string, now: number): EsimgoCharge {
      const startedAt = Math.floor(now / WINDOW_MS) * WINDOW_MS;
      if (window.startedAt !== startedAt) window = { startedAt, used: 0 };
      const cost = method === "GET" && dear.some((pattern) => pattern.test(path)) ? 5 : 1;
      const allowed = window.used + cost <= tokens;
      if (allowed) window.used += cost;
      const resetAt = startedAt + WINDOW_MS;
      const headers = {
        "x-ratelimit-limit": String(tokens),
        "x-ratelimit-remaining": String(tokens - window.used),
        "x-ratelimit-reset": new Date(resetAt).toISOString(),
        "x-ratelimit-cost": String(cost),
      };
      if (allowed) return { allowed, headers };
      return { allowed, headers: { ...headers, "retry-after": String(Math.ceil((resetAt - now) / 1_000)) } };
    },
    reset() {
      window = { startedAt: 0, used: 0 };
    },
  };
}
