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
  /** Whether it was done does not show. `status` of null: no whole answer; `code` of null: it names none. */
  | { kind: "unclear"; reason: string; status: number | null; code: string | null };

const Words = Type.Union([Type.String(), Type.Array(Type.String())]);
/** The forms of an error: code and reason; fields; a message in `meta`; a reason or a message alone. */
const Fault = Type.Object({
  code: Type.Optional(Type.Union([Type.Integer(), Type.String()])),
  reason: Type.Optional(Type.String()),
  message: Type.Optional(Type.String()),
  data: Type.Optional(Type.Union([Type.Array(Type.Unknown()), Type.Record(Type.String(), Words)])),
  meta: Type.Optional(Type.Object({ message: Type.Optional(Type.String()) })),
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
/** A text of theirs is cut off here. */
const LONGEST = 300;

/** What an answer says, as Airalo's pages read its statuses and codes. */
export function readReply(answer: Answer): Reply {
  if (!answer.sent && "waitMs" in answer) return { kind: "busy", waitMs: answer.waitMs };
  if (!answer.sent) return { kind: "unsent", reason: answer.reason };
  const { status } = answer;
  if (status === null) return { kind: "unclear", reason: answer.reason, status, code: null };
  if (status >= 200 && status < 300) return { kind: "done", body: answer.body, date: answer.headers.date };
  const said = fault.Check(answer.body) ? answer.body : {};
  const code = said.code === undefined ? null : String(said.code);
  const words = said.reason ?? said.message ?? said.meta?.message;
  const shown = `status ${status}${code === null ? "" : `, code ${code}`}`;
  return (
    (status >= 400 && status < 500 ? refusalOf({ status, code, words: words ?? shown, data: said.data }) : null) ?? {
      kind: "unclear",
      reason: cut(words === undefined ? shown : `${shown}: ${words}`),
      ...{ status, code },
    }
  );
}

type Said = { status: number; code: string | null; words: string; data: Static<typeof Fault>["data"] };

/** Null: it is not certain to be one. */
function refusalOf({ status, code, words, data = [] }: Said): Reply | null {
  const because = definite[code ?? ""];
  if (code !== null && because !== undefined) {
    return { kind: "refused", code, because, message: cut(code === "43" ? `Our request is wrong: ${words}` : words) };
  }
  if (turnedAway.includes(status)) {
    return { kind: "refused", code: String(status), because: "account", message: cut(words) };
  }
  const fields = Array.isArray(data) ? [] : Object.entries(data);
  if (status !== 422 || code !== null || fields.length === 0) return null;
  const sentences = fields.map(([field, faults]) => `${field}: ${[faults].flat().join(" ")}`).join("; ");
  return { kind: "refused", code: "validation", because: "plan", message: cut(`Our request is wrong: ${sentences}`) };
}

function cut(text: string): string {
  return withoutHidden(text).slice(0, LONGEST);
}

/** Why there is no usable answer, in words for people. */
export function faultWords(reply: Exclude<Reply, { kind: "done" }>): string {
  if (reply.kind === "refused") return `Airalo refuses it: ${reply.message}`;
  if (reply.kind === "busy") return `Airalo's limits are used up for ${Math.ceil(reply.waitMs / 1_000)} s.`;
  const what = reply.kind === "unsent" ? "cannot be reached" : "gave no usable answer";
  return `Airalo ${what}: ${reply.reason}.`;
}

/** What is thrown where there is no usable answer. */
export function unreachable(words: string): Problem {
  return new Problem("supplier_unreachable", words);
}

/** The body of a 2xx. Throws `supplier_unreachable` for anything else. */
export function bodyOf(reply: Reply): unknown {
  if (reply.kind !== "done") throw unreachable(faultWords(reply));
  return reply.body;
}
