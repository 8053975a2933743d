import { within } from "../../kernel/within.ts";
import type { Waiting } from "../writer.ts";
import type { Taken } from "./write-queue.ts";

// Lines of one kind of lanes whose writes share batches (docs/decisions/0049).

/** Writes that wait in a line, as other lines see them. */
export interface LineWrites {
  /** The slot of the line. */
  slot: number;
  size(): number;
  next(taken: Taken, elapsedMs: number): Waiting | null;
  /** Whether its writes may share a batch with those of other lines: none is known to fail. */
  isSound(): boolean;
}

/** Lines that one batch is made of. No other batch of this process takes writes of theirs until `release`. */
export interface Joined<L extends LineWrites> {
  lines: readonly L[];
  /** The writes of all of them: their lines take turns. */
  size(): number;
  next(taken: Taken, elapsedMs: number): Waiting | null;
  /** The line that a write of the batch was taken from. */
  lineOf(write: Waiting): L;
  release(): void;
}

/** Lines of a kind of lanes. */
export interface JoinedLines<L extends LineWrites> {
  add(line: L): void;
  /**
   * Waits for the turn of a line, and takes it for a batch together with others. Null: another batch has taken all that
   * waited in it.
   */
  join(own: L): Promise<Joined<L> | null>;
}

/** Writes that are worth a batch beside those under way: its statements cost as much as some ten orders. */
const ENOUGH = 16;
/** For how long (ms) fewer wait for a batch under way at most. */
const MOST_WAIT_MS = 10;

/**
 * A batch takes lines until it has enough writes, and begins at once when none is under way; otherwise it waits for
 * enough of them, for the end of one under way, or for a moment.
 */
export function joinedLines<L extends LineWrites>(): JoinedLines<L> {
  const lines: L[] = [];
  const held = new Set<L>();
  let underWay = 0;
  let ended = Promise.withResolvers<void>();

  const free = (own: L) => lines.filter((line) => line !== own && !held.has(line) && line.size() > 0 && line.isSound());

  function mayBegin(own: L, waitedMs: number): boolean {
    if (underWay === 0 || waitedMs >= MOST_WAIT_MS || !own.isSound()) return true;
    return free(own).reduce((sum, line) => sum + line.size(), own.size()) >= ENOUGH;
  }

  function hold(own: L): Joined<L> {
    const taken = [own];
    let size = own.size();
    for (const mate of own.isSound() ? free(own) : []) {
      if (size >= ENOUGH) break;
      taken.push(mate);
      size += mate.size();
    }
    for (const line of taken) held.add(line);
    underWay += 1;
    return joined(taken, () => {
      for (const line of taken) held.delete(line);
      underWay -= 1;
      ended.resolve();
      ended = Promise.withResolvers();
    });
  }

  return {
    add: (line) => void lines.push(line),
    async join(own) {
      const since = performance.now();
      while (own.size() > 0) {
        const waitedMs = performance.now() - since;
        if (held.has(own)) await ended.promise;
        else if (mayBegin(own, waitedMs)) return hold(own);
        else await within(ended.promise, MOST_WAIT_MS - waitedMs);
      }
      return null;
    },
  };
}

function joined<L extends LineWrites>(lines: readonly L[], release: () => void): Joined<L> {
  const from = new Map<Waiting, L>();
  let turn = 0;
  return {
    lines,
    release,
    size: () => lines.reduce((sum, line) => sum + line.size(), 0),
    next(taken, elapsedMs) {
      for (const _ of lines) {
        const line = lines[turn++ % lines.length];
        const write = line?.next(taken, elapsedMs);
        if (line === undefined || write === undefined || write === null) continue;
        from.set(write, line);
        return write;
      }
      return null;
    },
    lineOf(write) {
      const line = from.get(write);
      if (line === undefined) throw new Error("a batch has a write that it has not taken");
      return line;
    },
  };
}
