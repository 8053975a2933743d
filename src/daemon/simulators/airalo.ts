import { messageOnly, notFound, refused, success } from "./airalo-answers.ts";
import { type AiraloMemory, airaloNumbers, emptyMemory } from "./airalo-memory.ts";
import { LOW_DATA, optIn, optOut, showOptIn } from "./airalo-notices.ts";
import { listOrders, showOrder } from "./airalo-order-list.ts";
import { listTopups, placeOrder, placeOrderLater, placeTopup, requestRefund } from "./airalo-orders.ts";
import { listPackages } from "./airalo-packages.ts";
import { listAllowances, listSims, playSim, showSim, showUsage } from "./airalo-sims.ts";
import { airaloClient, bearerOf, isAuthorized, issueToken } from "./airalo-token.ts";
import type { ProviderAnswer, ProviderRequest, SimulatedProvider } from "./provider.ts";
import type { SimulatedCall } from "./steering.ts";

/**
 * A double of Airalo's Partner API v2: answers as the provider's published pages have them, with the limits of
 * production, whose refunds people decide on later. The sandbox's own limit is left out, as load would only meet that.
 */
export function simulateAiralo(): SimulatedProvider {
  const next = airaloNumbers();
  let memory = emptyMemory(next);
  let limiter = airaloLimiter();
  return {
    name: "airalo",
    basePath: "/v2",
    secret: `${airaloClient.id}:${airaloClient.secret}`,
    callOf: (request) => routeOf(request)?.route.call ?? null,
    answer(request) {
      const found = routeOf(request);
      if (found === null) return notFound();
      const { route, named } = found;
      const { headers, throttled } = limiter.take(route.limits?.(named, request) ?? [], request.now);
      const answer = throttled ?? answerOf(memory, request, found);
      return { ...answer, headers: { ...headers, ...answer.headers } };
    },
    play: (played, now) => playSim(memory, played, now),
    notify(url) {
      if (url === null) memory.contacts.delete(LOW_DATA);
      else memory.contacts.set(LOW_DATA, url);
    },
    state: () => ({
      // Nothing is given back here: eSIMs and top-ups alike stay bought.
      bought: memory.orders.reduce((units, order) => units + order.units, 0),
      balance: (memory.balance / 100).toFixed(4),
    }),
    reset() {
      memory = emptyMemory(next);
      limiter = airaloLimiter();
    },
  };
}

interface Route {
  method: "GET" | "POST";
  /** Its group is the ICCID or the number that the path names. */
  path: RegExp;
  call: SimulatedCall | null;
  answer(memory: AiraloMemory, request: ProviderRequest, named: string): ProviderAnswer;
  limits?(named: string, request: ProviderRequest): AiraloLimit[];
}

const MINUTE = 60_000;

function aMinute(key: string, most: number): AiraloLimit {
  return { key, most, window_ms: MINUTE };
}

const token: Route = {
  ...{ method: "POST", path: /^\/token$/, call: null, answer: issueToken },
  limits: () => [aMinute("token", 3)],
};

/** The account is one company that calls from one address: limits of either are the account's. */
const routes: readonly Route[] = [
  token,
  {
    ...{ method: "GET", path: /^\/packages$/, call: null, answer: listPackages },
    limits: (_, request) => [aMinute(`packages ${bearerOf(request)}`, 80)],
  },
  { method: "POST", path: /^\/orders$/, call: "order", answer: placeOrder },
  { method: "POST", path: /^\/orders-async$/, call: null, answer: placeOrderLater },
  { method: "POST", path: /^\/orders\/topups$/, call: "topup", answer: placeTopup },
  { method: "GET", path: /^\/orders$/, call: "query", answer: listOrders },
  { method: "GET", path: /^\/orders\/([^/]+)$/, call: "query", answer: showOrder },
  { method: "GET", path: /^\/sims$/, call: "query", answer: listSims },
  { method: "GET", path: /^\/sims\/([^/]+)$/, call: "query", answer: showSim },
  {
    ...{ method: "GET", path: /^\/sims\/([^/]+)\/usage$/, call: "query", answer: showUsage },
    limits: (iccid) => [aMinute(`usage ${iccid}`, 10), { key: "usage", most: 5, window_ms: 1000 }],
  },
  {
    ...{ method: "GET", path: /^\/sims\/([^/]+)\/packages$/, call: "query", answer: listAllowances },
    limits: (iccid) => [aMinute(`packages of ${iccid}`, 10)],
  },
  { method: "GET", path: /^\/sims\/([^/]+)\/topups$/, call: null, answer: listTopups },
  {
    ...{ method: "POST", path: /^\/refund$/, call: "cancel", answer: requestRefund },
    limits: () => [aMinute("refund", 5)],
  },
  { method: "GET", path: /^\/balance$/, call: null, answer: showBalance },
  { method: "POST", path: /^\/notifications\/opt-in$/, call: null, answer: optIn },
  { method: "GET", path: /^\/notifications\/opt-in$/, call: null, answer: showOptIn },
  { method: "POST", path: /^\/notifications\/opt-out$/, call: null, answer: optOut },
];

function routeOf({ method, path }: Pick<ProviderRequest, "method" | "path">): { route: Route; named: string } | null {
  for (const route of routes) {
    const match = route.method === method ? route.path.exec(path) : null;
    if (match !== null) return { route, named: match[1] ?? "" };
  }
  return null;
}

function answerOf(memory: AiraloMemory, request: ProviderRequest, { route, named }: { route: Route; named: string }) {
  if (route !== token && !isAuthorized(memory, request)) return messageOnly(401, "This action is unauthorized.");
  return steeredQuery(memory, request, route) ?? route.answer(memory, request, named);
}

/** How a look-up is steered: lists stay late from then on. */
function steeredQuery(memory: AiraloMemory, { steered }: ProviderRequest, { call }: Route): ProviderAnswer | null {
  if (call !== "query" || steered === null) return null;
  if (steered.outcome === "refuse") return refused(43);
  if (steered.outcome === "busy") return refused(53);
  memory.list_delay_ms = steered.delay_ms;
  return null;
}

function showBalance({ balance }: AiraloMemory): ProviderAnswer {
  return success({ balances: { name: "balance", availableBalance: { amount: balance / 100, currency: "USD" } } });
}

/** So many requests with the same key within a window that begins with the first of them. */
interface AiraloLimit {
  key: string;
  most: number;
  window_ms: number;
}

/** What a request got of its limits: headers for its answer, and that of a request beyond them. */
interface Taken {
  headers: Record<string, string>;
  throttled: ProviderAnswer | null;
}

/** Counts requests in windows. */
interface AiraloLimiter {
  /** Counts a request in all of `limits`, or in none where one of them is used up. */
  take(limits: readonly AiraloLimit[], now: number): Taken;
}

/** Windows that are over go as soon as there are more than this. */
const KEPT_WINDOWS = 10_000;

/** A limiter that has counted nothing yet. */
function airaloLimiter(): AiraloLimiter {
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
