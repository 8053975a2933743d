import type { Memory } from "../../../src/core/store/schema/values.ts";
import type { Ask, Step } from "../../../src/core/supply/provider.ts";

/** Ours, of the purchase that a test makes. */
export const REFERENCE = "0199a0b1-2222-7000-8000-0000000000aa";

/** A purchase as the worker asks for it. */
export function askFor(given: Partial<Ask> & Pick<Ask, "plan">): Ask {
  const known = async () => new Set<string>();
  return { days: null, reference: REFERENCE, cost: null, memory: null, fresh: false, known, ...given };
}

/** How a run ended, and what is kept of it. */
export interface Ran {
  last: Step;
  memory: Memory | null;
}

/**
 * Makes steps as the worker does: after a note the next one at once; what was announced and not sent is forgotten. The
 * process ends right after the stage of `crash` was noted; `hold`: its plan alone is held.
 */
export async function run<A extends Ask>(step: (ask: A) => Promise<Step>, ask: A, crash?: string): Promise<Ran> {
  let before = ask.memory;
  let memory = before;
  let last = await step(ask);
  for (let steps = 0; last.kind === "note" && steps < 12; steps++) {
    before = memory;
    memory = last.memory;
    if (crash !== undefined && (memory?.stage ?? "hold") === crash) return { last, memory };
    last = await step({ ...ask, memory, fresh: true });
  }
  const isUndone = last.kind === "busy" || last.kind === "unsent";
  return { last, memory: "memory" in last ? last.memory : isUndone ? before : memory };
}
