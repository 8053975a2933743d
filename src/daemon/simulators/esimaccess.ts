import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { accessFault, EA_ACCESS_CODE, EA_SECRET_KEY } from "./esimaccess-access.ts";
import { type EaAccount, freshAccount, freshNumbers, noticesOf } from "./esimaccess-account.ts";
import { bodyFault, type EaCode, type EaOutcome, eaCodes } from "./esimaccess-codes.ts";
import { cancelEsim, changeEsim, type EaCall, type EaRepeats, placeOrder, topUp } from "./esimaccess-order.ts";
import { playPhone } from "./esimaccess-phone.ts";
import { listLocations, listPackages, queryEsims, queryUsage } from "./esimaccess-query.ts";
import type { ProviderAnswer, ProviderRequest, SimulatedProvider } from "./provider.ts";

/** Where the reference and what was seen live disagree, which of both the simulation does. */
export interface EaReadings {
  /** How a transactionId is answered again; left out: `same`. */
  repeats?: EaRepeats;
  /**
   * `seen`: `success` is a boolean and `errorCode` null. `documented`: `success` is a text, `errorCode` "0", the words
   * are in `errorMessage`, and the rows of usage are `obj` itself. Left out: `seen`.
   */
  envelope?: "seen" | "documented";
  /** Calls a second; left out: 8. */
  perSecond?: number;
}

const webhook = Compile(Type.Object({ webhook: Type.String({ minLength: 1, maxLength: 2_000 }) }));

/** Every call of the protocol, by its path. */
const calls: Readonly<Record<string, (call: EaCall) => EaOutcome>> = {
  "/package/list": listPackages,
  "/location/list": listLocations,
  "/esim/order": placeOrder,
  "/esim/query": queryEsims,
  "/esim/usage/query": queryUsage,
  "/esim/topup": topUp,
  "/esim/cancel": cancelEsim,
  "/esim/suspend": (call) => changeEsim(call, "suspend"),
  "/esim/unsuspend": (call) => changeEsim(call, "unsuspend"),
  "/esim/revoke": (call) => changeEsim(call, "revoke"),
  "/balance/query": ({ account }) => ({ obj: { balance: account.balance } }),
  "/webhook/query": ({ account }) => ({ obj: { webhook: account.webhook ?? "" } }),
  "/webhook/save": saveWebhook,
};

const steerable = {
  "/esim/order": "order",
  "/esim/topup": "topup",
  "/esim/cancel": "cancel",
  "/esim/query": "query",
} as const;

/** eSIM Access, its partner API version 1. The account begins with 1,000 USD. */
export function simulateEsimaccess(readings: EaReadings = {}): SimulatedProvider {
  const { repeats = "same", envelope = "seen", perSecond = 8 } = readings;
  const numbers = freshNumbers();
  let account = freshAccount();
  let recent: number[] = [];
  const isTooOften = (now: number) => {
    recent = recent.filter((at) => at > now - 1_000 && at <= now);
    if (recent.length >= perSecond) return true;
    recent.push(now);
    return false;
  };
  const outcomeOf = (request: ProviderRequest, call: (call: EaCall) => EaOutcome): EaOutcome => {
    const { method, body, steered, now } = request;
    if (method !== "POST") return { code: "000103" };
    const fault = accessFault(request);
    if (fault !== null) return { code: fault };
    if (isTooOften(now)) return { code: "429000" };
    if (steered?.outcome === "busy") return { code: "900001" };
    const parsed = parse(body);
    if (parsed === null) return { code: "000104" };
    return call({ account, numbers, repeats, body: parsed, steered, now });
  };
  return {
    name: "esimaccess",
    basePath: "/api/v1/open",
    secret: `${EA_ACCESS_CODE}:${EA_SECRET_KEY}`,
    callOf: ({ path }) => Object.entries(steerable).find(([steered]) => steered === path)?.[1] ?? null,
    answer(request) {
      const call = Object.hasOwn(calls, request.path) ? calls[request.path] : undefined;
      if (call === undefined) return { status: 404, body: { status: 404, error: "Not Found", path: request.path } };
      return wrapped(outcomeOf(request, call), envelope);
    },
    play: (played, now) => playPhone(account, played, now),
    notify(url) {
      account.webhook = url;
    },
    state: () => ({ bought: boughtOf(account), balance: (account.balance / 10_000).toFixed(4) }),
    reset() {
      account = freshAccount();
      recent = [];
    },
  };
}

/** POST /webhook/save: the address has to answer a health check at once. */
function saveWebhook({ account, body, now }: EaCall): EaOutcome {
  if (!webhook.Check(body)) return { code: bodyFault(webhook, body) };
  const before = account.webhook;
  if (!/^https?:$/.test(URL.parse(body.webhook)?.protocol ?? "")) return { code: "000107" };
  account.webhook = body.webhook;
  return {
    obj: {},
    callbacks: noticesOf(account, "CHECK_HEALTH", { orderNo: "B00000000000000", orderStatus: "Test" }, now),
    unanswered() {
      account.webhook = before;
      return "400001";
    },
  };
}

function boughtOf({ esims }: EaAccount): number {
  return esims.filter(({ life }) => life !== "CANCEL").length;
}

/** A body as JSON; null: it is no object. An empty one has to be written too. */
function parse(body: Buffer): object | null {
  try {
    const parsed: unknown = JSON.parse(body.toString("utf8"));
    return typeof parsed === "object" && !Array.isArray(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

/** Whether failures come with status 200 is not documented; clients find their codes there. */
function wrapped(outcome: EaOutcome, envelope: "seen" | "documented"): ProviderAnswer {
  if ("code" in outcome) return refusal(outcome.code, envelope);
  const { obj, callbacks = [], unanswered } = outcome;
  const body =
    envelope === "seen"
      ? { success: true, errorCode: null, errorMsg: null, obj }
      : { success: "true", errorCode: "0", errorMessage: null, obj: rowsOf(obj) };
  const answer: ProviderAnswer = { status: 200, body, callbacks };
  if (unanswered !== undefined) answer.unanswered = () => refusal(unanswered(), envelope);
  return answer;
}

function refusal(code: EaCode, envelope: "seen" | "documented"): ProviderAnswer {
  const status = code === "429000" ? 429 : 200;
  const words = eaCodes[code];
  const body =
    envelope === "seen"
      ? { success: false, errorCode: code, errorMsg: words, obj: null }
      : { success: "false", errorCode: code, errorMessage: words, obj: null };
  return { status, body };
}

function rowsOf(obj: unknown): unknown {
  return typeof obj === "object" && obj !== null && "esimUsageList" in obj ? obj.esimUsageList : obj;
}
