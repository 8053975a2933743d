import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { createEsimgoAccount, type EsimgoAccount, type EsimgoOptions } from "./esimgo-account.ts";
import { applyBundles } from "./esimgo-apply.ts";
import {
  listAssignments,
  revokeAssignment,
  revokeBundle,
  showAssignments,
  showCompatible,
} from "./esimgo-assignments.ts";
import {
  decimal,
  type EsimgoCall,
  type EsimgoEndpoint,
  EsimgoRefusal,
  processing,
  RETRY_AFTER,
  readJson,
} from "./esimgo-call.ts";
import { signedCallback } from "./esimgo-callbacks.ts";
import { listCatalogue, showBundle } from "./esimgo-catalogue.ts";
import {
  deactivateEsim,
  listEsims,
  listHistory,
  showEsim,
  showInstallDetails,
  showLocation,
  showSuspension,
  suspendEsim,
  updateEsim,
} from "./esimgo-esims.ts";
import { listInventory, refundInventory } from "./esimgo-inventory.ts";
import { listNetworks } from "./esimgo-networks.ts";
import { listOrders, order, recordFirstTopup, showOrder } from "./esimgo-orders.ts";
import { ESIMGO_KEY, listGroups, showOrganisation } from "./esimgo-organisation.ts";
import { playEsim } from "./esimgo-phone.ts";
import type { ProviderAnswer, ProviderRequest, SimulatedProvider } from "./provider.ts";
import type { SimulatedCall } from "./steering.ts";

/** Tokens a second of the real service. */
const STANDARD_TOKENS = 10;

/** eSIM Go's API 2.5 with one organisation that has 1,000.00 USD. */
export function simulateEsimgo(options: EsimgoOptions = {}): SimulatedProvider {
  let account = createEsimgoAccount(options);
  const limit = createEsimgoLimit(options.tokens ?? STANDARD_TOKENS);
  return {
    name: "esimgo",
    basePath: "/v2.5",
    secret: ESIMGO_KEY,
    callOf: esimgoCallOf,
    answer(request) {
      const { allowed, headers } = limit.charge(request.method, request.path, request.now);
      const answered = allowed ? answer(account, request) : { status: 429, body: { message: "Too many requests" } };
      return { ...answered, headers: { ...headers, ...answered.headers } };
    },
    play(played, now) {
      const notices = playEsim(account, played, now);
      const { callbackUrl } = account;
      if (notices === null || callbackUrl === null) return notices === null ? null : [];
      const sending = { url: callbackUrl, key: ESIMGO_KEY, signature: options.signature };
      return notices.map((notice) => signedCallback(notice, sending));
    },
    notify(url) {
      account.callbackUrl = url;
    },
    state: () => ({ bought: account.bought, balance: decimal(account.balance).toFixed(4) }),
    reset() {
      account = createEsimgoAccount(options);
      limit.reset();
    },
  };
}

function answer(account: EsimgoAccount, request: ProviderRequest): ProviderAnswer {
  try {
    if (request.headers["x-api-key"] !== ESIMGO_KEY) throw new EsimgoRefusal(403, "Access denied");
    const kind = esimgoCallOf(request);
    const away = steeredAway(kind, request.steered);
    if (away !== null) return away;
    if (account.orders.length === 0) recordFirstTopup(account, request.now);
    const { endpoint, names } = endpointFor(request.method, request.path);
    const late = request.steered?.outcome === "wait" ? request.steered.delay_ms : 0;
    const isQuery = kind === "query";
    const call: EsimgoCall = {
      account,
      request,
      names,
      shown: { at: request.now, shownAt: request.now + (isQuery ? 0 : late) },
      horizon: request.now - (isQuery ? late : 0),
    };
    const answered = endpoint(call);
    return request.steered?.outcome === "wait" && !isQuery ? processing() : answered;
  } catch (error) {
    if (!(error instanceof EsimgoRefusal)) throw error;
    const headers = error.status === 503 ? { "retry-after": RETRY_AFTER } : undefined;
    return { status: error.status, ...(headers && { headers }), body: { message: error.message } };
  }
}

/** Tokens of the second that is running. */
interface EsimgoWindow {
  startedAt: number;
  used: number;
}

/** What a request is charged, and whether it may go on. */
interface EsimgoCharge {
  allowed: boolean;
  headers: Record<string, string>;
}

const WINDOW_MS = 1_000;

// The guide says that some endpoints cost more and does not name them.
const dear = [/^\/catalogue$/, /^\/esims$/];

/** Tokens of a fixed window of a second, counted for the one address that calls. */
function createEsimgoLimit(tokens: number) {
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

const bought = Compile(
  Type.Object({
    type: Type.Optional(Type.Unknown()),
    order: Type.Optional(Type.Array(Type.Object({ iccids: Type.Optional(Type.Array(Type.Unknown())) }))),
  }),
);
const applied = Compile(Type.Object({ iccid: Type.Optional(Type.Unknown()) }));

/**
 * POST /orders and POST /esims/apply are a top-up where they name an eSIM, and an order where they do not; revokes and
 * refunds are a cancel; every look at orders, inventory and eSIMs is a query. A price or a revoke that is only asked
 * for (`type` of validate) is none, and so is a refresh of catalogue and account.
 */
function esimgoCallOf({
  method,
  path,
  query,
  body,
}: Pick<ProviderRequest, "method" | "path" | "query" | "body">): SimulatedCall | null {
  if (method === "GET") return /^\/(orders|inventory|esims)(\/|$)/.test(path) ? "query" : null;
  if (method === "POST" && path === "/inventory/refund") return "cancel";
  if (method === "DELETE" && /^\/esims\/[^/]+\/bundles\//.test(path)) {
    return query.get("type") === "validate" ? null : "cancel";
  }
  if (method === "POST" && path === "/orders") {
    const read = readJson(body);
    if (!bought.Check(read)) return "order";
    if (read.type === "validate") return null;
    return read.order?.some(({ iccids = [] }) => iccids.length > 0) ? "topup" : "order";
  }
  if (method === "POST" && path === "/esims/apply") {
    const read = readJson(body);
    return applied.Check(read) && read.iccid !== undefined ? "topup" : "order";
  }
  return null;
}

const refusals: Record<SimulatedCall, string> = {
  order: "out of stock",
  topup: "bundle cannot be applied to this eSIM",
  cancel: "bundle cannot be refunded",
  query: "request is refused",
};

/** The answer to a steered call of which nothing is done; null: it goes its way. */
function steeredAway(call: SimulatedCall | null, steered: ProviderRequest["steered"]): ProviderAnswer | null {
  if (steered?.outcome === "busy") return processing();
  if (steered?.outcome !== "refuse") return null;
  return { status: 400, body: { message: refusals[call ?? "query"] } };
}

/** `*` is a name. The first that fits is it. */
const endpoints: [method: string, path: string, endpoint: EsimgoEndpoint][] = [
  ["GET", "/catalogue", listCatalogue],
  ["GET", "/catalogue/bundle/*", showBundle],
  ["GET", "/networks", listNetworks],
  ["GET", "/organisation", showOrganisation],
  ["GET", "/organisation/groups", listGroups],
  ["POST", "/orders", order],
  ["GET", "/orders", listOrders],
  ["GET", "/orders/*", showOrder],
  ["GET", "/inventory", listInventory],
  ["POST", "/inventory/refund", refundInventory],
  ["POST", "/esims/apply", applyBundles],
  ["GET", "/esims/assignments", showInstallDetails],
  ["GET", "/esims", listEsims],
  ["PUT", "/esims", updateEsim],
  ["GET", "/esims/*", showEsim],
  ["DELETE", "/esims/*", deactivateEsim],
  ["GET", "/esims/*/history", listHistory],
  ["GET", "/esims/*/location", showLocation],
  ["GET", "/esims/*/suspend", showSuspension],
  ["POST", "/esims/*/suspend", suspendEsim],
  ["GET", "/esims/*/bundles", listAssignments],
  ["GET", "/esims/*/bundles/*", showAssignments],
  ["DELETE", "/esims/*/bundles/*", revokeBundle],
  ["DELETE", "/esims/*/bundles/*/assignments/*", revokeAssignment],
  ["GET", "/esims/*/compatible/*", showCompatible],
];

/** What answers a path, with the names in it. Throws a refusal (404) where nothing does. */
function endpointFor(method: string, path: string): { endpoint: EsimgoEndpoint; names: string[] } {
  for (const [answered, pattern, endpoint] of endpoints) {
    const names = answered === method ? namesIn(path, pattern) : null;
    if (names !== null) return { endpoint, names };
  }
  throw new EsimgoRefusal(404, "Not Found");
}

function namesIn(path: string, pattern: string): string[] | null {
  const found = new RegExp(`^${pattern.replaceAll("*", "([^/]+)")}$`).exec(path);
  return found === null ? null : found.slice(1).map(decoded);
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    throw new EsimgoRefusal(400, "Invalid path");
  }
}
