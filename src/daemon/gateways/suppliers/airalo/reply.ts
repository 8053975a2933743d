import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import { withoutHidden } from "../../../../core/kernel/hidden-characters.ts";
import { Problem } from "../../../../core/kernel/problem.ts";
import type { Answer } from "../calls.ts";

/** What a call came to. */
export type Reply =
  /** A 2xx. `date` is the provider's clock; undefined: not shown. */
  | { kind: "done"; body: unknown; date: string | undefined }
  /** Definitely refused: nothing was done. */
  | { kind: "refused"; code: string; message: string; because: "plan" | "account" }
  | { kind: "unsent"; reason: string }
  | { kind: "busy"; waitMs: number }
  /** Whether it was done does not show. `status` of null: no whole answer. */
  | { kind: "unclear"; reason: string; status: number | null };

const Words = Type.Union([Type.String(), Type.Array(Type.String())]);

/** The forms of an error: code and reason; fields; a message in `meta`; a reason or a message alone. */
const Fault = Type.Object({
  code: Type.Optional(Type.Union([Type.Integer(), Type.String()])),
  reason: Type.Optional(Type.String()),
  message: Type.Optional(Type.String()),
  data: Type.Optional(Type.Union([Type.Array(Type.Unknown()), Type.Record(Type.String(), Words)])),
  meta: Type.Optional(Type.Object({ message: Type.Optional(Type.String()) })),
});
type Fault = Static<typeof Fault>;
const fault = Compile(Fault);

/**
 * The codes that say for certain that nothing was done. 53 is not among them: its text does not say so. 14 (a wrong
 * checksum) and 89 (an address that is not allowed) are of the account's settings.
 */
const definite: Readonly<Record<string, "plan" | "account">> = {
  11: "account",
  13: "plan",
  14: "account",
  23: "plan",
  33: "plan",
  34: "plan",
  43: "plan",
  73: "plan",
  89: "account",
};

/** Statuses that a request ends with before it gets to anything that could buy. */
const turnedAway = [401, 403, 404, 405];
/** A text of theirs is cut off here. */
const LONGEST = 300;

/** What an answer says, as Airalo's pages read its statuses and codes. */
export function readReply(answer: Answer): Reply {
  if (!answer.sent) {
    return "waitMs" in answer ? { kind: "busy", waitMs: answer.waitMs } : { kind: "unsent", reason: answer.reason };
  }
  const { status } = answer;
  if (status === null) return { kind: "unclear", reason: answer.reason, status };
  if (status >= 200 && status < 300) return { kind: "done", body: answer.body, date: answer.headers.date };
  const said = fault.Check(answer.body) ? answer.body : {};
  return (status >= 400 && status < 500 ? refusalOf(status, said) : null) ?? unclear(status, said);
}

function refusalOf(status: number, said: Fault): Reply | null {
  const code = said.code === undefined ? null : String(said.code);
  const because = definite[code ?? ""];
  if (code !== null && because !== undefined) {
    const ours = code === "43" || code === "14" ? "Our request is wrong: " : "";
    return { kind: "refused", code, message: cut(`${ours}${wordsOf(said) ?? `code ${code}`}`), because };
  }
  if (turnedAway.includes(status)) {
    return {
      kind: "refused",
      code: String(status),
      message: cut(wordsOf(said) ?? `status ${status}`),
      because: "account",
    };
  }
  const fields = Array.isArray(said.data) ? [] : Object.entries(said.data ?? {});
  if (status !== 422 || code !== null || fields.length === 0) return null;
  const sentences = fields.map(([field, words]) => `${field}: ${[words].flat().join(" ")}`);
  return {
    kind: "refused",
    code: "validation",
    message: cut(`Our request is wrong: ${sentences.join("; ")}`),
    because: "plan",
  };
}

function unclear(status: number, said: Fault): Reply {
  const code = said.code === undefined ? "" : `, code ${said.code}`;
  const words = wordsOf(said);
  return { kind: "unclear", reason: cut(`status ${status}${code}${words === null ? "" : `: ${words}`}`), status };
}

function wordsOf({ reason, message, meta }: Fault): string | null {
  return reason ?? message ?? meta?.message ?? null;
}

function cut(text: string): string {
  return withoutHidden(text).slice(0, LONGEST);
}

/** Why there is no usable answer, in words for people. */
export function faultWords(reply: Exclude<Reply, { kind: "done" }>): string {
  switch (reply.kind) {
    case "refused":
      return `Airalo refuses it: ${reply.message}`;
    case "busy":
      return `Airalo's limits are used up for ${Math.ceil(reply.waitMs / 1_000)} s.`;
    case "unsent":
      return `Airalo cannot be reached: ${reply.reason}.`;
    case "unclear":
      return `Airalo gave no usable answer: ${reply.reason}.`;
  }
}

/** What `Problem` is thrown where there is no usable answer. */
export function unreachable(words: string): Problem {
  return new Problem("supplier_unreachable", words);
}

/** The body of a 2xx. Throws `supplier_unreachable` for anything else. */
export function bodyOf(reply: Reply): unknown {
  if (reply.kind !== "done") throw unreachable(faultWords(reply));
  return reply.body;
}
