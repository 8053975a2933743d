import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { FormData } from "undici";
import { Secret } from "../../../../core/kernel/secret.ts";
import { sharedRun } from "../../../../core/kernel/shared-run.ts";
import type { Balance } from "../../../../core/supply/provider.ts";
import { balanceIn } from "../account-checks.ts";
import type { Call, ProviderCalls } from "../calls.ts";
import type { ProviderParts } from "../provider.ts";
import { boundedWords, done, type Reply, replyOf, shaped, unclear, type Whole } from "../reply.ts";
import { Currency, maybe, TextOrNumber } from "../values.ts";

/** Its name, for people. */
export const NAME = "Airalo";
/** What accounts pay in, and what costs are counted in here. */
export const CURRENCY = "USD";

/** A call below the base address. */
export interface ApiCall extends Pick<Call, "method" | "path" | "timeoutMs" | "taken"> {
  /** The fields of its body. */
  form?: Record<string, string>;
  /** A limit of its own beside that of the account: so many a minute. */
  own?: { bucket: string; aMinute: number };
}

/** Calls with the token that all nodes share. */
export type Client = ReturnType<typeof createClient>;

const Words = Type.Union([Type.String(), Type.Array(Type.String())]);
/** The forms of an error: code and reason; fields; a message in `meta`; a reason or a message alone. */
const Fault = Type.Object({
  ...maybe(TextOrNumber, "code"),
  ...maybe(Type.String(), "reason", "message"),
  ...maybe(Type.Union([Type.Array(Type.Unknown()), Type.Record(Type.String(), Words)]), "data"),
  ...maybe(Type.Object(maybe(Type.String(), "message")), "meta"),
});
const fault = Compile(Fault);

/** The codes that say for certain that nothing was done. 53 is not among them: its text does not say so. */
const definite: Readonly<Record<string, "plan" | "account">> = {
  ...{ 13: "plan", 23: "plan", 33: "plan", 34: "plan", 43: "plan", 73: "plan" },
  // A wrong checksum and an address that is not allowed are of the account's settings.
  ...{ 11: "account", 14: "account", 89: "account" },
};
/** Statuses that a request ends with before it gets to anything that could buy. */
const turnedAway = [401, 403, 404, 405];

const Held = Type.Object({ availableBalance: Type.Object({ amount: TextOrNumber, currency: Currency }) });
/** An object in the schema; a list, empty without an account, in the text. */
const balances = Compile(Type.Object({ data: Type.Object({ balances: Type.Union([Held, Type.Array(Held)]) }) }));
const Token = Type.Object({ access_token: Type.String({ minLength: 1 }), ...maybe(TextOrNumber, "expires_in") });
const granted = Compile(Type.Object({ data: Token }));

/** The text says 24 hours, the example a year: the earlier holds. */
const LONGEST_LIFE_MS = 86_400_000;
/** A token is no longer used so long before its end. */
const MARGIN_MS = 5 * 60_000;

/** Makes the client of one account. */
export function createClient({ calls, secret, now }: Omit<ProviderParts, "url">) {
  /** One token request at a time: three a minute are allowed. */
  const renewed = sharedRun(async (way: ProviderCalls["send"]): Promise<Reply<Secret>> => {
    const body = new URLSearchParams({ ...credentialOf(secret), grant_type: "client_credentials" }).toString();
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const limits = limitsOf({ bucket: "token", aMinute: 3 });
    const reply = shaped(replyOf(await way({ method: "POST", path: "/token", headers, body, limits }), read), granted);
    // Another node may have got it meanwhile.
    if (reply.kind === "busy") return (await shared()) ?? reply;
    // Nothing but a token was asked for: what needs it was not sent.
    if (reply.kind === "unclear") return { kind: "unsent", reason: `no token (${reply.reason})` };
    if (reply.kind !== "done") return reply.kind === "refused" ? { ...reply, because: "account" } : reply;
    const { access_token, expires_in } = reply.value.data;
    const life = Math.min(LONGEST_LIFE_MS, Number(expires_in) * 1_000 || LONGEST_LIFE_MS);
    await calls.keepToken(access_token, now() + life - Math.min(MARGIN_MS, life / 2));
    return { ...reply, value: new Secret(access_token) };
  });

  async function shared(): Promise<Reply<Secret> | null> {
    const token = await calls.token();
    return token && done(token);
  }

  /** Reads again first: another request may have kept a token since its caller found none. */
  const missing = sharedRun(async (way: ProviderCalls["send"]) => (await shared()) ?? renewed(way));

  async function valid(way: ProviderCalls["send"]): Promise<Reply<Secret>> {
    return (await shared()) ?? missing(way);
  }

  async function sent({ own, form, ...call }: ApiCall, way: ProviderCalls["send"]): Promise<Reply> {
    const by = async (token: Secret) => {
      const headers = { authorization: `Bearer ${token.reveal()}` };
      return replyOf(await way({ ...call, ...(form && { body: bodyOf(form) }), headers, limits: limitsOf(own) }), read);
    };
    const first = await valid(way);
    if (first.kind !== "done") return first;
    const reply = await by(first.value);
    if (reply.kind !== "refused" || reply.code !== "401") return reply;
    await calls.dropToken(first.value);
    const second = await valid(way);
    return second.kind === "done" ? by(second.value) : second;
  }

  return {
    /** Sends it once; a 401 gets one new token, and it is sent with that. */
    send: (call: ApiCall) => sent(call, calls.send),
    /** The same for what people wait for: limits are waited for. */
    ask: (call: ApiCall) => sent(call, calls.sendInTurn),
    /** Has a token ready, and the account's limit taken for a call with `taken`, as far as limits allow at once. */
    async ready(): Promise<Reply<Secret>> {
      const token = await valid(calls.send);
      const waitMs = token.kind === "done" ? await calls.take(limitsOf()) : 0;
      return waitMs > 0 ? { kind: "busy", waitMs } : token;
    },
    /** Gets a new token, which proves the credential. */
    renew: () => renewed(calls.sendInTurn),
  };
}

/** What the account holds. */
export async function accountBalance({ ask }: Client): Promise<Reply<Balance>> {
  const reply = shaped(await ask({ method: "GET", path: "/balance" }), balances);
  return balanceIn(reply, ({ data }) => [data.balances].flat()[0]?.availableBalance);
}

/** The id and the secret of an account's client. */
export function credentialOf(secret: Secret): { client_id: string; client_secret: string } {
  const [client_id = "", ...rest] = secret.reveal().split(":");
  return { client_id, client_secret: rest.join(":") };
}

function bodyOf(form: Record<string, string>): FormData {
  const body = new FormData();
  for (const [name, value] of Object.entries(form)) body.append(name, value);
  return body;
}

/**
 * The sandbox allows five calls a second over all endpoints, and which mode an account is in does not show; production
 * has the same for usage, and nothing published for orders. A limit of the call's own comes first: it is the smaller
 * one, and a 429 then holds up its like, and not the account.
 */
function limitsOf(own?: ApiCall["own"]): Call["limits"] {
  const account = { limit: { bucket: "account", most: 5, windowMs: 1_000 }, cost: 1 };
  if (own === undefined) return [account];
  return [{ limit: { bucket: own.bucket, most: own.aMinute, windowMs: 60_000 }, cost: 1 }, account];
}

/** What an answer says, as Airalo's pages read its statuses and codes. Without a code an unclear one has its status. */
function read({ status, body, at }: Whole): Reply {
  if (status >= 200 && status < 300) return { kind: "done", value: body, at };
  const said: Type.Static<typeof Fault> = fault.Check(body) ? body : {};
  const code = String(said.code ?? "");
  const shown = code === "" ? `status ${status}` : `status ${status}, code ${code}`;
  const words = said.reason ?? said.message ?? said.meta?.message;
  const refused = (as: string, because: "plan" | "account", message = words ?? shown): Reply => {
    return { kind: "refused", code: as, because, message: boundedWords(message) };
  };
  if (status >= 400 && status < 500) {
    const because = definite[code];
    if (because !== undefined) return refused(code, because);
    if (turnedAway.includes(status)) return refused(String(status), "account");
    // Faults of fields, without a code: other forms are not certain to be a refusal.
    const faults = Object.entries(Array.isArray(said.data) ? {} : (said.data ?? {}));
    const fields = faults.map(([field, words]) => `${field}: ${[words].flat().join(" ")}`).join("; ");
    if (status === 422 && code === "" && fields !== "") return refused("validation", "plan", fields);
  }
  return unclear(boundedWords(words ? `${shown}: ${words}` : shown), { code: code || String(status) });
}
