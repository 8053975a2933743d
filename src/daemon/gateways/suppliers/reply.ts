import { withoutHidden } from "../../../core/kernel/hidden-characters.ts";
import { Problem } from "../../../core/kernel/problem.ts";
import type { Returned, Step } from "../../../core/supply/provider.ts";
import type { Answer } from "./calls.ts";

/** What a call came to. `at` is the provider's clock (ms), to the second; null: the answer does not show it. */
export type Reply<T = unknown> = { kind: "done"; value: T; at: number | null } | Failed;

/** No answer to work on. All but `unclear` are steps of a purchase as they are. */
export type Failed = Extract<Step, { kind: "refused" | "unsent" | "busy" }> | Unclear;

/** It may have been done. */
export interface Unclear {
  kind: "unclear";
  reason: string;
  /** What the provider calls it, by which an adapter may know better; null: it does not say. */
  code: string | null;
  value?: unknown;
  at: number | null;
  /** After what time (ms) to look, where the provider says so. */
  waitMs: number | null;
}

/** An answer that came whole, with the provider's clock. */
export type Whole = Extract<Answer, { status: number }> & { at: number | null };

/** What an answer comes to; `read` says it of one that came whole. */
export function replyOf(answer: Answer, read: (whole: Whole) => Reply): Reply {
  if ("waitMs" in answer) return { kind: "busy", waitMs: answer.waitMs };
  if (!answer.sent) return { kind: "unsent", reason: answer.reason };
  if (answer.status === null) return unclear(answer.reason);
  return read({ ...answer, at: Date.parse(answer.headers.date ?? "") || null });
}

/** A reply with what needs no answer, or is not in it. */
export function done<T>(value: T): Reply<T> {
  return { kind: "done", value, at: null };
}

/** A reply from which nothing shows but `more`. */
export function unclear(reason: string, more: Partial<Unclear> = {}): Unclear {
  return { code: null, at: null, waitMs: null, ...more, kind: "unclear", reason };
}

/** What an answer is that came whole, and has another form than it should. */
export const otherForm = unclear("its answer has another form than its reference says");

/** A reply whose value has this form. */
export function shaped<T>(reply: Reply, shape: { Check(value: unknown): value is T }): Reply<T> {
  if (reply.kind !== "done") return reply;
  const { value } = reply;
  return shape.Check(value) ? { ...reply, value } : otherForm;
}

/** A reply with what follows from its value. */
export function mapped<T, U>(reply: Reply<T>, to: (value: T) => U): Reply<U> {
  return reply.kind === "done" ? { ...reply, value: to(reply.value) } : reply;
}

/** What a provider says, as people may read it: bounded, on one line. */
export function boundedWords(text: string): string {
  return withoutHidden(text).slice(0, 300);
}

/** Why there is no answer to work on, in words behind a colon. */
export function reasonOf(reply: Failed): string {
  if (reply.kind === "refused") return reply.message;
  return reply.kind === "busy" ? "its limit is used up" : reply.reason;
}

/** The same as a sentence. */
function faultWords(provider: string, reply: Failed): string {
  if (reply.kind === "refused") return `${provider} refuses it: ${reply.message}`;
  if (reply.kind === "busy") return `${provider}'s limits are used up for ${Math.ceil(reply.waitMs / 1_000)} s.`;
  const what = reply.kind === "unsent" ? "cannot be reached" : "gave no usable answer";
  return `${provider} ${what}: ${reply.reason}.`;
}

/** How giving an eSIM back ended that was refused, or had no usable answer. */
export function notReturned(provider: string, reply: Failed): Returned {
  const isRefused = reply.kind === "refused" && reply.because === "plan";
  return { outcome: isRefused ? "not_available" : "unknown", detail: faultWords(provider, reply) };
}

/** What a reply has. Throws `supplier_unreachable` where that is nothing. */
export function usable<T>(provider: string, reply: Reply<T>): T {
  if (reply.kind === "done") return reply.value;
  throw new Problem("supplier_unreachable", faultWords(provider, reply));
}
