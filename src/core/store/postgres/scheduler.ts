import { type LaneKind, slotOf } from "../schema/lanes.ts";
import type { Topic } from "../store.ts";
import type { Commits, Waiting, Writer } from "../writer.ts";
import { type SharedBatches, sharedBatches } from "./shared-batches.ts";
import { type OwnSlot, slotCommits } from "./slot-commits.ts";

/** The writers of a process. */
interface Writers {
  /** Writes with no other under way. */
  alone: Writer;
  /** Writes of slots, beside those of others; null: there are too few connections. */
  ofSlots: (() => Writer) | null;
}

/**
 * How long a batch of a slot goes on taking writes (ms). Less than one that is alone: who wants to be waits for all
 * batches of slots, and these may wait for each other's stock.
 */
const LONGEST_OF_SLOT_MS = 20;

/**
 * Schedules writes by their lanes: group commit for each slot side by side, and for writes that run alone, where one is
 * repeated that failed since others were under way.
 */
export function scheduler({ alone: writer, ofSlots }: Writers, onSignal: (topic: Topic) => void): Commits {
  const alone = slotCommits(writer, { onSignal });
  const slots = new Map<number, Commits>();
  const kinds = new Map<LaneKind, SharedBatches<OwnSlot>>();
  let closed = false;

  function batchesOf(kind: LaneKind): SharedBatches<OwnSlot> {
    const batches = kinds.get(kind) ?? sharedBatches();
    kinds.set(kind, batches);
    return batches;
  }

  function commitsOf({ lane }: Waiting): Commits {
    if (lane === null || ofSlots === null) return alone;
    const slot = slotOf(lane);
    const known = slots.get(slot);
    if (known !== undefined) return known;
    const of = { slot, batches: batchesOf(lane.kind) };
    const made = slotCommits(ofSlots(), { onSignal, repeat: alone.push, longestMs: LONGEST_OF_SLOT_MS, of });
    slots.set(slot, made);
    return made;
  }

  return {
    // A slot that had no write so far is not opened any more.
    push: (waiting) => (closed ? alone : commitsOf(waiting)).push(waiting),
    async close() {
      closed = true;
      const all = [...slots.values(), alone];
      const end = () => Promise.all(all.map((commits) => commits.close()));
      await end();
      // The last batches may have given writes back to slots that had ended.
      await end();
    },
  };
}
