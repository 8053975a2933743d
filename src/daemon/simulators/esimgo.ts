import { createEsimgoAccount, type EsimgoAccount, type EsimgoOptions } from "./esimgo-account.ts";
import { decimal, type EsimgoCall, EsimgoRefusal, processing, RETRY_AFTER } from "./esimgo-call.ts";
import { signedCallback } from "./esimgo-callbacks.ts";
import { endpointFor } from "./esimgo-endpoints.ts";
import { createEsimgoLimit } from "./esimgo-limit.ts";
import { recordFirstTopup } from "./esimgo-order-list.ts";
import { ESIMGO_KEY } from "./esimgo-organisation.ts";
import { playEsim } from "./esimgo-phone.ts";
import { esimgoCallOf, steeredAway } from "./esimgo-steered.ts";
import type { ProviderAnswer, ProviderRequest, SimulatedProvider } from "./provider.ts";

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
