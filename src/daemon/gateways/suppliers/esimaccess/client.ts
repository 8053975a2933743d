import { createHmac, randomUUID } from "node:crypto";
import { type TSchema, Type } from "typebox";
import { Compile } from "typebox/compile";
import { Problem } from "../../../../core/kernel/problem.ts";
import type { Answer } from "../calls.ts";
import type { ProviderParts } from "../provider.ts";

/** What an answer of eSIM Access comes down to. `date` is its clock (ms) in the answer's headers, if it is there. */
export type Reply =
  | { kind: "done"; obj: unknown; date: number | null }
  /** It says no, or not yet; `code` says which. */
  | { kind: "code"; code: string; obj: unknown; date: number | null }
  /** No byte went out. */
  | { kind: "unsent"; reason: string }
  | { kind: "busy"; waitMs: number }
  /** It may have been done. */
  | { kind: "unclear"; reason: string };

/** Makes signed calls of one account; `waitMs`: so long one may wait for the limit. */
export type Client = (path: string, body: object, waitMs?: number, timeoutMs?: number) => Promise<Reply>;

/** How long people wait for the limit (ms). */
export const PEOPLE_WAIT_MS = 15_000;

/** What may be left out, which the provider does by null as well. */
export const Text = Type.Optional(Type.Union([Type.String(), Type.Null()]));
export const Count = Type.Optional(Type.Union([Type.Number({ minimum: 0 }), Type.Null()]));

/** A list that may be left out as well. */
export function listOf<T extends TSchema>(row: T) {
  return Type.Optional(Type.Union([Type.Array(row), Type.Null()]));
}

// Whether it counts by account or by address is not stated: one limit for all that this supplier is asked.
const limits = [{ limit: { bucket: "account", most: 8, windowMs: 1_000 }, cost: 1 }] as const;

// `success` is documented as a text and seen as a boolean.
const Success = Type.Union([Type.Boolean(), Type.String()]);
const ErrorCode = Type.Optional(Type.Union([Type.String(), Type.Number(), Type.Null()]));
const envelope = Compile(Type.Object({ success: Success, errorCode: ErrorCode, obj: Type.Optional(Type.Unknown()) }));

/** The signature of timestamp, request id, access code and body: lower-case hex, as the provider's sample makes it. */
export function signatureOf(signed: readonly [string, string, string, string], secretKey: string): string {
  return createHmac("sha256", secretKey).update(signed.join("")).digest("hex");
}

/** Makes the calls of an account whose secret is `ACCESSCODE:SECRETKEY`. */
export function createClient({ calls, secret, now }: Omit<ProviderParts, "url">): Client {
  return async (path, content, waitMs = 0, timeoutMs = 30_000) => {
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
    return replyOf(await calls.sendInTurn({ method: "POST", path, headers, body, limits, timeoutMs }, waitMs));
  };
}

function replyOf(answer: Answer): Reply {
  if ("waitMs" in answer) return { kind: "busy", waitMs: answer.waitMs };
  if (!answer.sent) return { kind: "unsent", reason: answer.reason };
  if (answer.status === null) return { kind: "unclear", reason: answer.reason };
  const { status, headers, body } = answer;
  // Which status failures have is not documented: their code counts, except where the server itself failed.
  if (status >= 500 || !envelope.Check(body)) return { kind: "unclear", reason: `it answered ${status}` };
  const code = String(body.errorCode ?? "0");
  const isDone = body.success === true || body.success === "true";
  const date = Date.parse(headers.date ?? "") || null;
  if (isDone && (code === "0" || code === "") && status < 300) return { kind: "done", obj: body.obj, date };
  if (!isDone && code !== "0" && code !== "") return { kind: "code", code, obj: body.obj, date };
  return { kind: "unclear", reason: `it answered ${status}, and neither yes nor no` };
}

/** Why a reply is of no use, in words. */
export function replyWords(reply: Reply): string {
  if (reply.kind === "done") return "its answer has another form than its reference says";
  if (reply.kind === "code") return `it answered with code ${reply.code}`;
  return reply.kind === "busy" ? "its limit is used up" : reply.reason;
}

/** What is thrown where people asked for something and no usable answer came. */
export function unreachable(reply: Reply): Problem {
  return new Problem("supplier_unreachable", `eSIM Access gave no usable answer: ${replyWords(reply)}.`);
}
