import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { Problem } from "../../../../core/kernel/problem.ts";
import type { Secret } from "../../../../core/kernel/secret.ts";
import type { Step } from "../../../../core/supply/provider.ts";
import type { Answer, Call, ProviderCalls } from "../calls.ts";

/** An answer as its status and form say it; `at`: the provider's clock (ms), to the second. */
export type Reply<T> = { kind: "done"; value: T; at: number | null } | Failed;

/** No answer to work on. Only `unclear` may have been done; `refused` is definite. */
export type Failed =
  | { kind: "refused"; code: string; reason: string }
  | { kind: "unsent"; reason: string }
  | { kind: "busy"; reason: string; waitMs: number }
  | { kind: "unclear"; reason: string; waitMs: number | null };

/** Sends once; `cost`: what the provider counts it as, 1 where it is left out. */
type Ask = <T>(
  call: Pick<Call, "method" | "path"> & { body?: unknown; cost?: number },
  shape: { Check(value: unknown): value is T },
) => Promise<Reply<T>>;

/** Calls of eSIM Go with the account's key; `askPeople` waits for limits. */
export interface EsimgoClient {
  ask: Ask;
  askPeople: Ask;
}

const account = { bucket: "account", most: 10, windowMs: 1_000 };
/** Statuses after which nothing was done: three that the pages name; 401 and 404 reach nothing that buys. */
const definite = ["400", "401", "403", "404", "410"];
const refusal = Compile(Type.Object({ message: Type.String() }));

/** Makes the client. The key goes out in a header only. */
export function createEsimgoClient({ send, sendInTurn }: ProviderCalls, secret: Secret): EsimgoClient {
  const by =
    (sent: ProviderCalls["send"]): Ask =>
    async ({ method, path, body, cost = 1 }, shape) => {
      const key = { "x-api-key": secret.reveal() };
      const headers = body === undefined ? key : { ...key, "content-type": "application/json" };
      const content = body === undefined ? {} : { body: JSON.stringify(body) };
      const answer = await sent({ method, path, headers, ...content, limits: [{ limit: account, cost }] });
      const reply = answerOf(answer);
      if (reply.kind !== "done") return { ...reply, reason: reply.reason.replaceAll(secret.reveal(), "[redacted]") };
      if (shape.Check(reply.value)) return { ...reply, value: reply.value };
      return { kind: "unclear", reason: "an answer in another form than expected", waitMs: null };
    };
  return { ask: by(send), askPeople: by(sendInTurn) };
}

/** What a reply has. Throws `supplier_unreachable` where that is nothing. */
export function usable<T>(reply: Reply<T>): T {
  if (reply.kind === "done") return reply.value;
  throw new Problem("supplier_unreachable", `eSIM Go gave no usable answer: ${reply.reason}.`);
}

/** The end of a purchase that was not sent, or was refused. What is not the plan's fault is the account's. */
export function notBought(reply: Failed, because = isOfPlan(reply) ? ("plan" as const) : ("account" as const)): Step {
  if (reply.kind === "busy") return { kind: "busy", waitMs: reply.waitMs };
  if (reply.kind !== "refused") return { kind: "unsent", reason: reply.reason };
  return { kind: "refused", code: reply.code, message: reply.reason, because };
}

function isOfPlan(reply: Failed): boolean {
  return reply.kind === "refused" && (reply.code === "400" || reply.code === "410");
}

function answerOf(answer: Answer): Reply<unknown> {
  if (!answer.sent && "waitMs" in answer)
    return { kind: "busy", reason: "its limit is reached", waitMs: answer.waitMs };
  if (!answer.sent) return { kind: "unsent", reason: answer.reason };
  if (answer.status === null) return { kind: "unclear", reason: answer.reason, waitMs: null };
  const { status, headers, body } = answer;
  const at = Date.parse(headers.date ?? "");
  if (status >= 200 && status < 300) return { kind: "done", value: body, at: Number.isNaN(at) ? null : at };
  const code = String(status);
  const reason = refusal.Check(body) ? `${code}, ${body.message.slice(0, 300)}` : code;
  if (refusal.Check(body) && definite.includes(code)) return { kind: "refused", code, reason };
  // 503: it is still worked on.
  const seconds = Number(headers["retry-after"]);
  return { kind: "unclear", reason, waitMs: seconds > 0 && seconds <= 600 ? Math.ceil(seconds * 1_000) : null };
}
