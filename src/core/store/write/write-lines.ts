import type { Owner } from "../../kernel/owner.ts";
import { type LaneKind, slotOf } from "../schema/lanes.ts";
import type { Command, Topic } from "../store.ts";
import type { Kind, Writer } from "../writer.ts";
import { createLine, type Line, type OwnLine } from "./group-commit.ts";
import { type JoinedLines, joinedLines } from "./joined-lines.ts";

/** The writers of an engine. */
export interface Writers {
  /** Writes with no other under way. */
  alone: Writer;
  /** Writes of slots, beside those of others; null: this engine has one writer. */
  ofSlots: (() => Writer) | null;
}

/**
 * How long a batch of a slot goes on taking writes (ms). Less than one that is alone: who wants to be waits for all
 * batches of slots, and these may wait for each other's stock.
 */
const LONGEST_OF_SLOT_MS = 20;

/** A command as what its batches have in common: its inputs are those of its own writes. */
function kindOf<I>(command: Command<I, unknown>): Kind | null {
  return command.prefetch === undefined ? null : (command as Kind);
}

/**
 * Group commit in lines side by side: one for each slot of the lanes, and one for writes that run alone. In the latter
 * a write is repeated that failed since others were under way. Lines of one kind share batches.
 */
export function writeLines({ alone: writer, ofSlots }: Writers, onSignal: (topic: Topic) => void) {
  const alone = createLine(writer, { onSignal });
  const slots = new Map<number, Line>();
  const kinds = new Map<LaneKind, JoinedLines<OwnLine>>();

  function linesOf(kind: LaneKind): JoinedLines<OwnLine> {
    const lines = kinds.get(kind) ?? joinedLines();
    kinds.set(kind, lines);
    return lines;
  }

  function lineOf<I>(command: Command<I, unknown>, input: I): Line {
    const lane = ofSlots === null ? null : (command.lane?.(input) ?? null);
    if (lane === null || ofSlots === null) return alone;
    const slot = slotOf(lane);
    const known = slots.get(slot);
    if (known !== undefined) return known;
    const line = createLine(ofSlots(), {
      onSignal,
      repeat: alone.push,
      longestMs: LONGEST_OF_SLOT_MS,
      shared: { slot, lines: linesOf(lane.kind) },
    });
    slots.set(slot, line);
    return line;
  }

  return {
    write<I, O>(
      command: Command<I, O>,
      input: I,
      { requestId, owner }: { requestId: string | null; owner: Owner | null } = { requestId: null, owner: null },
    ): Promise<O> {
      return new Promise<O>((resolve, reject) => {
        // `value` is what `command` answered for this very entry.
        const settle = { resolve: (value: unknown) => resolve(value as O), reject };
        const kind = kindOf(command);
        lineOf(command, input).push({ run: (tx) => command(tx, input), input, requestId, owner, kind, ...settle });
      });
    },
    /**
     * Refuses the writes that wait and all that come, with `StoreUnavailable`: none of them was answered. Resolves once
     * the batches under way have ended as any other.
     */
    async close(): Promise<void> {
      const lines = [...slots.values(), alone];
      const end = () => Promise.all(lines.map((line) => line.close()));
      await end();
      // The last batches may have given writes back to lines that had ended.
      await end();
    },
  };
}
