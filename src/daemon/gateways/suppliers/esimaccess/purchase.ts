import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Ask, Step } from "../../../../core/supply/provider.ts";
import { lookLater, notUnderstood, waitAfter } from "../look-ups.ts";
import { type Failed, otherForm, type Reply, reasonOf } from "../reply.ts";
import { ALLOCATING, FOR_REVIEW, refusalOf, USED_ALREADY } from "./codes.ts";

const Noted = Type.Object({
  /**
   * `send`: it is about to be sent, or was. `exists`: it was taken, and is looked for. `refused`: a repeat was refused
   * with `code`, and the first request is looked for. `allocating`: it is `order` there, and made ready.
   */
  stage: Type.Enum(["send", "exists", "refused", "allocating"]),
  /** When the purchase, or its allocation, began (ms). */
  since: Type.Integer(),
  /** The price guard lets no other price pass: a repeat carries what the first request had. */
  price: Type.Union([Type.Integer(), Type.Null()]),
  looks: Type.Integer(),
  code: Type.Optional(Type.String()),
  order: Type.Optional(Type.String()),
  /** Every look-up was made: from now on nothing is sent, also where people ask for another look. */
  lost: Type.Optional(Type.Boolean()),
});
const noted = Compile(Noted);

/** What a purchase remembers between its steps. */
export type Notes = Type.Static<typeof Noted>;

/** How something is bought: the same `transactionId` makes a repeat the same request. */
export interface Way {
  send(notes: Notes, waitMs: number): Promise<Reply>;
  /** What follows where the provider took it; null: the answer does not show that it did. */
  taken(notes: Notes, obj: unknown): Step | null;
  /** Whether the next look-up is to send it again. */
  repeats(looks: number): boolean;
  /** Looks for it; null: it is not there. */
  find(notes: Notes): Promise<Step | null>;
}

/** How long a request may be sent again (ms): how long the provider remembers a transactionId is not stated. */
const REPEAT_MS = 3_600_000;
/** With the waits of look-ups the last one is made after 49 minutes, while a repeat is still allowed. */
const MOST_LOOKS = 15;
/** After a repeat was refused, so many (47 s) find nothing: what is bought is shown within 30 s. */
const LOOKS_OF_REFUSED = 4;

/** The next step of a purchase. */
export async function purchaseStep(way: Way, { memory, fresh, cost }: Ask, now: number): Promise<Step> {
  if (memory === null) return { kind: "note", memory: { stage: "send", since: now, price: cost, looks: 0 } };
  if (!noted.Check(memory)) return notUnderstood(memory);
  const mayRepeat = !memory.lost && now - memory.since < REPEAT_MS;
  if (memory.stage === "send" && (fresh || (mayRepeat && way.repeats(memory.looks)))) {
    return afterSend(way, memory, await way.send(memory, 0), fresh);
  }
  const found = await way.find(memory);
  if (found !== null) return found;
  if (memory.stage === "refused" && memory.looks >= LOOKS_OF_REFUSED) return refusedStep(memory);
  const isTooLate = memory.stage === "send" && !mayRepeat;
  return isTooLate ? lost(memory, "not found, and too late to send it again") : lookAgain(memory, "it is not listed");
}

function afterSend(way: Way, notes: Notes, reply: Reply, first: boolean): Step {
  if (reply.kind === "busy" || (reply.kind === "unsent" && first)) return reply;
  if (reply.kind === "done") return way.taken(notes, reply.value) ?? noAnswer(notes, otherForm);
  const code = reply.kind === "unclear" ? reply.code : null;
  if (code === USED_ALREADY || code === ALLOCATING) {
    const exists = { kind: "note", memory: { ...notes, stage: "exists", looks: 0 } } as const;
    return way.taken(notes, "value" in reply ? reply.value : null) ?? exists;
  }
  if (code === null || refusalOf(code) === null) return noAnswer(notes, reply);
  const refused: Notes = { ...notes, stage: "refused", code, looks: 0 };
  // A repeat that is refused says nothing of the first request.
  return first ? refusedStep(refused) : { kind: "note", memory: refused };
}

function refusedStep(notes: Notes): Step {
  const refused = refusalOf(notes.code ?? "");
  return refused === null || notes.lost ? lost(notes, "a repeat was refused") : { kind: "refused", ...refused };
}

/** What follows a reply that does not say what became of the purchase. */
export function noAnswer(notes: Notes, reply: Failed): Step {
  // It is bought: what is noted must not be forgotten, as it is where nothing happened.
  const isBought = notes.stage === "exists" || notes.stage === "allocating";
  if (reply.kind === "busy") return isBought ? { kind: "wait", memory: notes, waitMs: reply.waitMs } : reply;
  const isOpen = reply.kind === "unclear" && FOR_REVIEW.includes(reply.code ?? "");
  return isOpen ? lost(notes, reasonOf(reply)) : lookAgain(notes, reasonOf(reply));
}

/** The next look-up; people decide where each was made. */
function lookAgain(notes: Notes, reason: string): Step {
  if (notes.lost || notes.looks >= MOST_LOOKS) return lost(notes, reason);
  return lookLater({ ...notes, looks: notes.looks + 1 }, reason, waitAfter(notes.looks));
}

/** People decide; what is noted serves another look. */
export function lost(notes: Notes, reason: string): Step {
  return { kind: "lost", reason, memory: { ...notes, lost: true } };
}
