import { messageOnly, notFound, refused, success } from "./airalo-answers.ts";
import { type AiraloLimit, airaloLimiter } from "./airalo-limits.ts";
import { type AiraloMemory, airaloNumbers, emptyMemory } from "./airalo-memory.ts";
import { LOW_DATA, optIn, optOut, showOptIn } from "./airalo-notices.ts";
import { listOrders, showOrder } from "./airalo-order-list.ts";
import { placeOrder, placeOrderLater } from "./airalo-orders.ts";
import { listPackages } from "./airalo-packages.ts";
import { playSim } from "./airalo-play.ts";
import { requestRefund } from "./airalo-refunds.ts";
import { listAllowances, listSims, showSim, showUsage } from "./airalo-sims.ts";
import { airaloClient, bearerOf, isAuthorized, issueToken } from "./airalo-token.ts";
import { listTopups, placeTopup } from "./airalo-topups.ts";
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
