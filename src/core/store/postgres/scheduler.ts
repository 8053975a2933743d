import { within } from "../../kernel/within.ts";
import { StoreError } from "../problems.ts";
import { type LaneKind, slotOf } from "../schema/lanes.ts";
import type { Topic } from "../store.ts";
import { answerBatch, CAREFUL_BATCHES, draining, refuseAll } from "../write/group-commit.ts";
import { type Batch, runBatch } from "../write/run-batch.ts";
import { createWriteQueue, type Taken } from "../write/write-queue.ts";
import type { Commits, Repeat, Waiting, Writer } from "../writer.ts";

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

interface SlotOptions {
  onSignal: (topic: Topic) => void;
  /** Where writes are repeated with no other under way; left out: here none is. */
  repeat?: (waiting: Waiting) => void;
  /** How long a batch goes on taking writes (ms); left out: as the queue has it. */
  longestMs?: number;
  /** The slot, and the batches that it shares with others; left out: all writes are kept out while a batch is made. */
  of?: { slot: number; batches: SharedBatches<OwnSlot> };
}

/** What a slot keeps, also while its writes are in the batch of another one. */
interface OwnSlot extends SlotWrites {
  /** The writes that its next batch begins with. */
  first: Waiting[];
  /** Batches that are still to be made carefully. */
  careful: number;
  waits: LockWaits;
  /** Makes batches of what waits, unless it does. */
  wake(): void;
}

/**
 * Group commit of the writes of one slot, in batches that slots of one kind share, or of all writes that run alone. A
 * batch that does not get its locks is made again for a while; a write that failed since others were under way is
 * repeated, at the start of the next batch or alone.
 */
function slotCommits(writer: Writer, { onSignal, repeat, longestMs, of }: SlotOptions): Commits {
  const queue = createWriteQueue<Waiting>(longestMs);
  const first: Waiting[] = [];
  let closed = false;
  const own: OwnSlot = {
    slot: of?.slot ?? 0,
    first,
    careful: 0,
    waits: lockWaits(writer.lockWaitsMs ?? 0, () => closed),
    size: () => queue.size() + first.length,
    next(taken, elapsedMs) {
      const again = first.shift();
      if (again === undefined) return queue.next(taken, elapsedMs);
      taken[again.owner?.environment ?? "production"] += 1;
      return again;
    },
    isSound: () => first.length === 0 && own.careful === 0 && !own.waits.areLong(),
    wake: () => commits.wake(),
  };
  const batches = of?.batches ?? sharedBatches();
  batches.add(own);

  async function next(): Promise<void> {
    const shared = await batches.join(own);
    if (shared === null) return;
    const { batch, refusals } = await runShared(writer, shared);
    for (const waiting of putBack(batch, shared)) repeat?.(waiting);
    shared.release();
    answerBatch(batch, onSignal);
    for (const { slot, error } of refusals) refuseAll(slot, error);
  }

  // Its statements are answered in later turns of the event loop, which no batch holds from end to end.
  const commits = draining({ ...own, push: queue.push }, next, { leaves: false });
  return {
    push: commits.push,
    close() {
      closed = true;
      return commits.close();
    },
  };
}

/** Makes a batch of several slots. `refusals`: what all that wait in a slot fail with. */
async function runShared(writer: Writer, shared: Shared<OwnSlot>) {
  const { slots } = shared;
  const may = slots.map(({ waits }) => waits.begin());
  const batch = await runBatch(writer, shared, {
    careful: slots.some(({ careful }) => careful > 0),
    slots: slots.map(({ slot }) => slot).toSorted((one, other) => one - other),
    mayWait: () => may.every((mayWait) => mayWait()),
  });
  const refusals = slots.flatMap((slot) => {
    slot.careful = batch.repeated ? CAREFUL_BATCHES : Math.max(slot.careful - 1, 0);
    const error = slot.waits.end(batch);
    return error === null ? [] : [{ slot, error }];
  });
  return { batch, refusals };
}

/** Gives writes that are repeated first back to their slots; the others, which are repeated alone, are the result. */
function putBack(batch: Batch, { slotOf }: Shared<OwnSlot>): Waiting[] {
  const again = new Map<OwnSlot, Waiting[]>();
  const alone: Waiting[] = [];
  for (const [waiting, how] of repeatsOf(batch)) {
    const slot = slotOf(waiting);
    const writes = how === "alone" ? alone : (again.get(slot) ?? []);
    writes.push(waiting);
    if (how === "first") again.set(slot, writes);
  }
  // Before those that the batch did not come to, either.
  for (const [slot, writes] of again) {
    slot.first.unshift(...writes);
    // It may have ended since another one's batch had taken all that waited.
    slot.wake();
  }
  return alone;
}

/** The writes of a batch that are repeated, and how. What it took and did not come to follows the one it ended at. */
function repeatsOf({ writes, outcomes }: Batch): [Waiting, Repeat][] {
  return writes.flatMap((waiting, at): [Waiting, Repeat][] => {
    const outcome = outcomes[at];
    if (outcome === undefined) return [[waiting, "first"]];
    return "repeat" in outcome ? [[waiting, outcome.repeat]] : [];
  });
}

/** For how long batches of a slot have been made that did not get their locks. */
interface LockWaits {
  /** Whether the batch that begins now is made again if it does not get its locks. */
  begin(): () => boolean;
  /**
   * What all that wait fail with, once the batch after one that failed fails too: in turn, each would wait for as
   * long. The first one may have waited for a row of its own.
   */
  end(batch: Batch): StoreError | null;
  /** Between two batches: the last one did not get its locks. */
  areLong(): boolean;
}

/** Batches are made again for `lockWaitsMs`, unless their slot is closed. */
function lockWaits(lockWaitsMs: number, isClosed: () => boolean): LockWaits {
  /** The start of the first of them; null: the last one got its locks. */
  let since: number | null = null;
  let hasFailed = false;
  return {
    begin() {
      since ??= performance.now();
      const until = since + lockWaitsMs;
      return () => !isClosed() && performance.now() < until;
    },
    end({ locked }) {
      const fault = locked instanceof StoreError ? locked : null;
      const refusal = hasFailed ? fault : null;
      hasFailed = fault !== null && refusal === null;
      if (locked === undefined || refusal !== null) since = null;
      return refusal;
    },
    areLong: () => since !== null,
  };
}

// Slots of one kind of lanes whose writes share batches (docs/decisions/0049).

/** Writes that wait in a slot, as other slots see them. */
interface SlotWrites {
  slot: number;
  size(): number;
  next(taken: Taken, elapsedMs: number): Waiting | null;
  /** Whether its writes may share a batch with those of other slots: none is known to fail. */
  isSound(): boolean;
}

/** Slots that one batch is made of. No other batch of this process takes writes of theirs until `release`. */
interface Shared<L extends SlotWrites> {
  slots: readonly L[];
  /** The writes of all of them: their slots take turns. */
  size(): number;
  next(taken: Taken, elapsedMs: number): Waiting | null;
  /** The slot that a write of the batch was taken from. */
  slotOf(write: Waiting): L;
  release(): void;
}

/** Slots of a kind of lanes. */
interface SharedBatches<L extends SlotWrites> {
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
function sharedBatches<L extends SlotWrites>(): SharedBatches<L> {
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
