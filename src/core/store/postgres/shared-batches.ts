import { within } from "../../kernel/within.ts";
import type { Taken } from "../write/write-queue.ts";
import type { Waiting } from "../writer.ts";

// Slots of one kind of lanes whose writes share batches (docs/decisions/0049).

/** Writes that wait in a slot, as other slots see them. */
export interface SlotWrites {
  slot: number;
  size(): number;
  next(taken: Taken, elapsedMs: number): Waiting | null;
  /** Whether its writes may share a batch with those of other slots: none is known to fail. */
  isSound(): boolean;
}

/** Slots that one batch is made of. No other batch of this process takes writes of theirs until `release`. */
export interface Shared<L extends SlotWrites> {
  slots: readonly L[];
  /** The writes of all of them: their slots take turns. */
  size(): number;
  next(taken: Taken, elapsedMs: number): Waiting | null;
  /** The slot that a write of the batch was taken from. */
  slotOf(write: Waiting): L;
  release(): void;
}

/** Slots of a kind of lanes. */
export interface SharedBatches<L extends SlotWrites> {
  add(slot: L): void;
  /**
   * Waits for the turn of a slot, and takes it for a batch together with others. Null: another batch has taken all that
   * waited in it.
   */
  join(own: L): Promise<Shared<L> | null>;
}

/** Writes that are worth a batch beside those under way: its statements cost as much as some ten orders. */
const ENOUGH = 16;
/** For how long (ms) fewer wait for a batch under way at most. */
const MOST_WAIT_MS = 10;

/**
 * A batch takes slots until it has enough writes, and begins at once when none is under way; otherwise it waits for
 * enough of them, for the end of one under way, or for a moment.
 */
export function sharedBatches<L extends SlotWrites>(): SharedBatches<L> {
  const slots: L[] = [];
  const held = new Set<L>();
  let underWay = 0;
  let ended = Promise.withResolvers<void>();

  const free = (own: L) => slots.filter((slot) => slot !== own && !held.has(slot) && slot.size() > 0 && slot.isSound());

  function mayBegin(own: L, waitedMs: number): boolean {
    if (underWay === 0 || waitedMs >= MOST_WAIT_MS || !own.isSound()) return true;
    return free(own).reduce((sum, slot) => sum + slot.size(), own.size()) >= ENOUGH;
  }

  function hold(own: L): Shared<L> {
    const taken = [own];
    let size = own.size();
    for (const mate of own.isSound() ? free(own) : []) {
      if (size >= ENOUGH) break;
      taken.push(mate);
      size += mate.size();
    }
    for (const slot of taken) held.add(slot);
    underWay += 1;
    return shared(taken, () => {
      for (const slot of taken) held.delete(slot);
      underWay -= 1;
      ended.resolve();
      ended = Promise.withResolvers();
    });
  }

  return {
    add: (slot) => void slots.push(slot),
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

function shared<L extends SlotWrites>(slots: readonly L[], release: () => void): Shared<L> {
  const from = new Map<Waiting, L>();
  let turn = 0;
  return {
    slots,
    release,
    size: () => slots.reduce((sum, slot) => sum + slot.size(), 0),
    next(taken, elapsedMs) {
      for (const _ of slots) {
        const slot = slots[turn++ % slots.length];
        const write = slot?.next(taken, elapsedMs);
        if (slot === undefined || write === undefined || write === null) continue;
        from.set(write, slot);
        return write;
      }
      return null;
    },
    slotOf(write) {
      const slot = from.get(write);
      if (slot === undefined) throw new Error("a batch has a write that it has not taken");
      return slot;
    },
  };
}
