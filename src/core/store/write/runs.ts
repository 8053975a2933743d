import { runMemory, writeDue } from "../run-memory.ts";
import type { RunMemory } from "../store.ts";

/** The runs of a transaction, one after the other. */
export function runsOf() {
  let kind: object | null = null;
  let memory: RunMemory | null = null;
  /** Writes that were put off before the command under way. */
  let before = 0;
  return {
    memory: () => memory,
    /** Whether a command of this kind ends a run, or the commit does (null). */
    endsBefore: (following: object | null) => memory !== null && following !== kind,
    /** Begins a command; where it is of another kind the run before ends, with all that it has put off. */
    async next(following: object | null): Promise<void> {
      if (memory !== null && following !== kind) {
        await writeDue(memory);
        memory = null;
      }
      if (following !== null) memory ??= runMemory();
      kind = following;
      before = memory?.count ?? 0;
    },
    /** Whether the command under way has put off a write. */
    hasPutOff: () => (memory?.count ?? 0) !== before,
    forget(): void {
      [kind, memory] = [null, null];
    },
  };
}
