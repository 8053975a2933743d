import { createHmac, randomUUID } from "node:crypto";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { ProviderParts } from "../provider.ts";
import { type Reply, replyOf, unclear, type Whole } from "../reply.ts";
import { maybe } from "../values.ts";

/**
 * Makes signed calls of one account; `waitMs`: so long one may wait for the limit, if it is not as people wait. Where
 * it says no, or not yet, the reply is unclear, and its code says which.
 */
export type Client = (path: string, body: object, waitMs?: number, timeoutMs?: number) => Promise<Reply>;

/** Its name, for people. */
export const NAME = "eSIM Access";

// Whether it counts by account or by address is not stated: one limit for all that this supplier is asked.
const limits = [{ limit: { bucket: "account", most: 8, windowMs: 1_000 }, cost: 1 }] as const;

// `success` is documented as a text and seen as a boolean.
const success = Type.Union([Type.Boolean(), Type.String()]);
const Code = Type.Union([Type.String(), Type.Number()]);
const envelope = Compile(Type.Object({ success, ...maybe(Code, "errorCode"), obj: Type.Optional(Type.Unknown()) }));

/** The signature of timestamp, request id, access code and body: lower-case hex, as the provider's sample makes it. */
export function signatureOf(signed: readonly [string, string, string, string], secretKey: string): string {
  return createHmac("sha256", secretKey).update(signed.join("")).digest("hex");
}

/** Makes the calls of an account whose secret is `ACCESSCODE:SECRETKEY`. */
export function createClient({ calls, secret, now }: Omit<ProviderParts, "url">): Client {
  return async (path, content, waitMs, timeoutMs = 30_000) => {
    const [, accessCode = "", secretKey = ""] = /^([^:\s]+):(\S+)$/.exec(secret.reveal()) ?? [];
    if (secretKey === "") return { kind: "unsent", reason: "its secret is not ACCESSCODE:SECRETKEY" };
    const [timestamp, requestId, body] = [String(now()), randomUUID(), JSON.stringify(content)];
    const headers = {
      "content-type": "application/json",
      "rt-accesscode": accessCode,
      "rt-requestid": requestId,
      "rt-timestamp": timestamp,
      "rt-signature": signatureOf([timestamp, requestId, accessCode, body], secretKey),
    };
    return replyOf(await calls.sendInTurn({ method: "POST", path, headers, body, limits, timeoutMs }, waitMs), opened);
  };
}

function opened({ status, body, at }: Whole): Reply {
  // Which status failures have is not documented: their code counts, except where the server itself failed.
  if (status >= 500 || !envelope.Check(body)) return unclear(`it answered ${status}`);
  const { obj: value } = body;
  const code = String(body.errorCode || "0");
  const isDone = body.success === true || body.success === "true";
  if (isDone && code === "0" && status < 300) return { kind: "done", value, at };
  if (!isDone && code !== "0") return unclear(`it answered with code ${code}`, { code, value, at });
  return unclear(`it answered ${status}, and neither yes nor no`);
}
