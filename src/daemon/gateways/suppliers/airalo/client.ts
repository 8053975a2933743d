import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { FormData } from "undici";
import { withoutHidden } from "../../../../core/kernel/hidden-characters.ts";
import { Secret } from "../../../../core/kernel/secret.ts";
import type { Call, ProviderCalls } from "../calls.ts";
import type { ProviderParts } from "../provider.ts";
import { type Reply, replyOf, unclear, type Whole } from "../reply.ts";
import { maybe } from "../values.ts";

/** Its name, for people. */
export const NAME = "Airalo";
/** What accounts pay in, and what costs are counted in here. */
export const CURRENCY = "USD";

/** A call below the base address. */
export interface ApiCall extends Pick<Call, "method" | "path" | "timeoutMs" | "taken"> {
  /** The fields of its body. */
  form?: [name: string, value: string][];
  /** A limit of its own beside that of the account: so many a minute. */
  own?: { bucket: string; aMinute: number };
}

/** Calls with the token that all nodes share. */
export interface Client {
  /** Sends it once; a 401 gets one new token, and it is sent with that. */
  send(call: ApiCall): Promise<Reply>;
  /** The same for what people wait for: limits are waited for. */
  ask(call: ApiCall): Promise<Reply>;
  /** Has a token ready, and the account's limit taken for a call with `taken`, as far as limits allow at once. */
  ready(): Promise<Reply<Secret>>;
  /** Gets a new token, which proves the credential. */
  renew(): Promise<Reply<Secret>>;
}

const Words = Type.Union([Type.String(), Type.Array(Type.String())]);
/** The forms of an error: code and reason; fields; a message in `meta`; a reason or a message alone. */
const fault = Compile(
  Type.Object({
    code: Type.Optional(Type.Union([Type.Integer(), Type.String()])),
    reason: Type.Optional(Type.String()),
    message: Type.Optional(Type.String()),
    data: Type.Optional(Type.Union([Type.Array(Type.Unknown()), Type.Record(Type.String(), Words)])),
    meta: Type.Optional(Type.Object({ message: Type.Optional(Type.String()) })),
  }),
);

/** The codes that say for certain that nothing was done. 53 is not among them: its text does not say so. */
const definite: Readonly<Record<string, "plan" | "account">> = {
  ...{ 13: "plan", 23: "plan", 33: "plan", 34: "plan", 43: "plan", 73: "plan" },
  // A wrong checksum and an address that is not allowed are of the account's settings.
  ...{ 11: "account", 14: "account", 89: "account" },
};
/** Statuses that a request ends with before it gets to anything that could buy. */
const turnedAway = [401, 403, 404, 405];

const Seconds = Type.Union([Type.Number({ minimum: 1 }), Type.String({ pattern: "^[1-9]\\d{0,9}$" })]);
const Token = Type.Object({ access_token: Type.String({ minLength: 1 }), ...maybe(Seconds, "expires_in") });
const granted = Compile(Type.Object({ data: Token }));

/** The text says 24 hours, the example a year: the earlier holds. */
const LONGEST_LIFE_MS = 86_400_000;
/** A token is no longer used so long before its end. */
const MARGIN_MS = 5 * 60_000;

/** How long a token is used (ms). */
function usedFor({ expires_in }: Type.Static<typeof Token>): number {
  const life = Math.min(LONGEST_LIFE_MS, Number(expires_in ?? LONGEST_LIFE_MS) * 1_000);
  return life - Math.min(MARGIN_MS, life / 2);
}

function bodyOf(form: NonNullable<ApiCall["form"]>): FormData {
  const body = new FormData();
  for (const [name, value] of form) body.append(name, value);
  return body;
}

/** Makes the client of one account. */
export function createClient({ calls, secret, now }: Omit<ProviderParts, "url">): Client {
  /** Requests of this node at the same time share one token request: there are three a minute. */
  let asking: Promise<Reply<Secret>> | null = null;

  function renewed(way: ProviderCalls["send"]): Promise<Reply<Secret>> {
    asking ??= requested(way).finally(() => {
      asking = null;
    });
    return asking;
  }

  async function requested(way: ProviderCalls["send"]): Promise<Reply<Secret>> {
    const form = new URLSearchParams({ ...credentialOf(secret), grant_type: "client_credentials" });
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const limits = limitsOf({ bucket: "token", aMinute: 3 });
    const reply = replyOf(await way({ method: "POST", path: "/token", headers, body: form.toString(), limits }), read);
    // Another node may have got it meanwhile.
    if (reply.kind === "busy") return (await shared()) ?? reply;
    // Nothing but a token was asked for: what needs it was not sent.
    if (reply.kind === "unclear") return { kind: "unsent", reason: `no token (${reply.reason})` };
    if (reply.kind !== "done") return reply.kind === "refused" ? { ...reply, because: "account" } : reply;
    if (!granted.Check(reply.value)) return { kind: "unsent", reason: "no token in its answer" };
    const { access_token } = reply.value.data;
    await calls.keepToken(access_token, now() + usedFor(reply.value.data));
    return { ...reply, value: new Secret(access_token) };
  }

  async function shared(): Promise<Extract<Reply<Secret>, { kind: "done" }> | null> {
    const token = await calls.token();
    return token === null ? null : { kind: "done", value: token, at: null };
  }

  async function sent({ own, form, ...call }: ApiCall, way: ProviderCalls["send"]): Promise<Reply> {
    const by = async (token: Secret) => {
      const headers = { authorization: `Bearer ${token.reveal()}` };
      return replyOf(await way({ ...call, ...(form && { body: bodyOf(form) }), headers, limits: limitsOf(own) }), read);
    };
    const first = (await shared()) ?? (await renewed(way));
    if (first.kind !== "done") return first;
    const reply = await by(first.value);
    if (reply.kind !== "refused" || reply.code !== "401") return reply;
    // Another node may have replaced it already.
    const other = await shared();
    const isReplaced = other !== null && other.value.reveal() !== first.value.reveal();
    if (!isReplaced) await calls.dropToken();
    const second = isReplaced ? other : await renewed(way);
    return second.kind === "done" ? by(second.value) : second;
  }

  return {
    send: (call) => sent(call, calls.send),
    ask: (call) => sent(call, calls.sendInTurn),
    async ready() {
      const token = (await shared()) ?? (await renewed(calls.send));
      const waitMs = token.kind === "done" ? await calls.take(limitsOf(undefined)) : 0;
      return waitMs > 0 ? { kind: "busy", waitMs } : token;
    },
    renew: () => renewed(calls.sendInTurn),
  };
}

/** The id and the secret of an account's client. */
export function credentialOf(secret: Secret): { client_id: string; client_secret: string } {
  const [client_id = "", ...rest] = secret.reveal().split(":");
  return { client_id, client_secret: rest.join(":") };
}

/**
 * The sandbox allows five calls a second over all endpoints, and which mode an account is in does not show; production
 * has the same for usage, and nothing published for orders. A limit of the call's own comes first: it is the smaller
 * one, and a 429 then holds up its like, and not the account.
 */
function limitsOf(own: ApiCall["own"]): Call["limits"] {
  const account = { limit: { bucket: "account", most: 5, windowMs: 1_000 }, cost: 1 };
  if (own === undefined) return [account];
  return [{ limit: { bucket: own.bucket, most: own.aMinute, windowMs: 60_000 }, cost: 1 }, account];
}

/** What an answer says, as Airalo's pages read its statuses and codes. Without a code an unclear one has its status. */
function read({ status, body, at }: Whole): Reply {
  if (status >= 200 && status < 300) return { kind: "done", value: body, at };
  const said = fault.Check(body) ? body : {};
  const code = said.code === undefined ? null : String(said.code);
  const words = said.reason ?? said.message ?? said.meta?.message;
  const cut = (text: string) => withoutHidden(text).slice(0, 300);
  const shown = `status ${status}${code === null ? "" : `, code ${code}`}`;
  const refused = (as: string, because: "plan" | "account", message = words ?? shown): Reply => {
    return { kind: "refused", code: as, because, message: cut(message) };
  };
  if (status >= 400 && status < 500) {
    const because = definite[code ?? ""];
    const message = code === "43" ? `Our request is wrong: ${words ?? shown}` : undefined;
    if (code !== null && because !== undefined) return refused(code, because, message);
    if (turnedAway.includes(status)) return refused(String(status), "account");
    const faults = Object.entries(Array.isArray(said.data) ? {} : (said.data ?? {}));
    const sentences = faults.map(([field, words]) => `${field}: ${[words].flat().join(" ")}`).join("; ");
    // Faults of fields, without a code: other forms are not certain to be a refusal.
    const isOfFields = status === 422 && code === null && sentences !== "";
    if (isOfFields) return refused("validation", "plan", `Our request is wrong: ${sentences}`);
  }
  return unclear(cut(words === undefined ? shown : `${shown}: ${words}`), { code: code ?? String(status) });
}
