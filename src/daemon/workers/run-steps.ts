import type { Memory } from "../../core/store/schema/values.ts";
import type { Ask, Step } from "../../core/supply/provider.ts";

type Note = Extract<Step, { kind: "note" }>;

/** How a run at a provider ended. */
export interface RunEnd {
  step: Exclude<Step, { kind: "note" }>;
  /** What was kept before the last note: what it announced is forgotten where nothing was sent. */
  before: Memory | null;
  /** Whether anything was noted: what looks for an earlier purchase and finds none shows no fault. */
  noted: boolean;
}

/** What a run is made of. */
interface Run {
  /** What earlier runs kept. */
  memory: Memory | null;
  /** Asks the adapter for its next step; null: this worker may make none any more. */
  ask(state: Pick<Ask, "memory" | "fresh">): Promise<Step | null>;
  /** Keeps a note before what it announces is done; false: nothing may be sent. */
  note(step: Note): Promise<boolean>;
}

/** Steps of one run at most: no purchase has as many, so that an adapter that goes in a circle ends. */
const MOST_STEPS = 12;

/** Makes one step after the other, each note kept before the next; null: it was given up in between. */
export async function runSteps({ memory: kept, ask, note }: Run): Promise<RunEnd | null> {
  let before = kept;
  let memory = kept;
  let noted = false;
  for (let steps = 0; steps < MOST_STEPS; steps++) {
    const step = await ask({ memory, fresh: noted });
    if (step === null) return null;
    if (step.kind !== "note") return { step, before, noted };
    if (!(await note(step))) return null;
    before = memory;
    memory = step.memory;
    noted = true;
  }
  throw new Error("a purchase at a provider does not end");
}
