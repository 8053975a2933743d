import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { Secret } from "../../../../core/kernel/secret.ts";
import type { Call } from "../calls.ts";
import type { ProviderParts } from "../provider.ts";
import { type Reply, readReply } from "./reply.ts";
import { Maybe } from "./values.ts";

/** A call below the base address. */
export interface ApiCall extends Pick<Call, "path" | "body" | "timeoutMs"> {
  method: "GET" | "POST";
  /** A limit of its own beside that of the account: so many a minute. */
  own?: { bucket: string; aMinute: number };
}

/** Calls with the token that all nodes share. */
export interface Client {
  /** Sends it once; a 401 gets one new token, and it is sent with that. */
  send(call: ApiCall): Promise<Reply>;
  /** The same for what people wait for: limits are waited for. */
  ask(call: ApiCall): Promise<Reply>;
  /** Gets a new token, which proves the credential; null: it did. */
  renew(): Promise<Failed | null>;
}

type Failed = Exclude<Reply, { kind: "done" }>;
type Access = { token: Secret } | { failed: Failed };
/** How requests go out: at once, or when limits allow. */
type Way = ProviderParts["calls"]["send"];

const Seconds = Type.Union([Type.Number({ minimum: 1 }), Type.String({ pattern: "^[1-9]\\d{0,9}$" })]);
const granted = Compile(
  Type.Object({ data: Type.Object({ access_token: Type.String({ minLength: 1 }), expires_in: Maybe(Seconds) }) }),
);

/** The text says 24 hours, the example a year: the earlier holds. */
const LONGEST_LIFE_MS = 86_400_000;
/** A token is no longer used so long before its end. */
const MARGIN_MS = 5 * 60_000;

/** Makes the client of one account. */
export function createClient({ calls, secret, now }: ProviderParts): Client {
  const inTurn: Way = (call) => calls.sendInTurn(call);
  /** Requests of this node at the same time share one token request: there are three a minute. */
  let asking: Promise<Access> | null = null;

  function renewed(way: Way): Promise<Access> {
    asking ??= requested(way).finally(() => {
      asking = null;
    });
    return asking;
  }

  async function requested(way: Way): Promise<Access> {
    const reply = readReply(await way(tokenRequest(secret)));
    if (reply.kind === "busy") {
      // Another node may have got it meanwhile.
      const shared = await calls.token();
      return shared === null ? { failed: reply } : { token: shared };
    }
    if (reply.kind === "refused") return { failed: { ...reply, because: "account" } };
    if (reply.kind === "unsent") return { failed: reply };
    // Nothing but a token was asked for: what needs it was not sent.
    if (reply.kind === "unclear") return { failed: { kind: "unsent", reason: `no token (${reply.reason})` } };
    if (!granted.Check(reply.body)) return { failed: { kind: "unsent", reason: "no token in its answer" } };
    const { access_token, expires_in } = reply.body.data;
    const life = Math.min(LONGEST_LIFE_MS, Number(expires_in ?? LONGEST_LIFE_MS) * 1_000);
    await calls.keepToken(access_token, now() + life - Math.min(MARGIN_MS, life / 2));
    return { token: new Secret(access_token) };
  }

  /** A token in the place of one that was refused. */
  async function replaced(refused: Secret, way: Way): Promise<Access> {
    const shared = await calls.token();
    // Another node has replaced it already.
    if (shared !== null && shared.reveal() !== refused.reveal()) return { token: shared };
    await calls.dropToken();
    return renewed(way);
  }

  async function sent(call: ApiCall, way: Way): Promise<Reply> {
    const shared = await calls.token();
    const first = shared === null ? await renewed(way) : { token: shared };
    if ("failed" in first) return first.failed;
    const reply = readReply(await way(authorized(call, first.token)));
    if (reply.kind !== "refused" || reply.code !== "401") return reply;
    const second = await replaced(first.token, way);
    return "failed" in second ? second.failed : readReply(await way(authorized(call, second.token)));
  }

  return {
    send: (call) => sent(call, calls.send),
    ask: (call) => sent(call, inTurn),
    async renew() {
      const access = await renewed(inTurn);
      return "failed" in access ? access.failed : null;
    },
  };
}

/** The id and the secret of an account's client. */
export function credentialOf(secret: Secret): { client_id: string; client_secret: string } {
  const [client_id = "", ...rest] = secret.reveal().split(":");
  return { client_id, client_secret: rest.join(":") };
}

function tokenRequest(secret: Secret): Call {
  const form = new URLSearchParams({ ...credentialOf(secret), grant_type: "client_credentials" });
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const limits = limitsOf({ bucket: "token", aMinute: 3 });
  return { method: "POST", path: "/token", headers, body: form.toString(), limits };
}

function authorized({ own, ...call }: ApiCall, token: Secret): Call {
  return { ...call, limits: limitsOf(own), headers: { authorization: `Bearer ${token.reveal()}` } };
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
