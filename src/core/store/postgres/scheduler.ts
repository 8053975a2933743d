import { StoreError } from "../problems.ts";
import { type LaneKind, slotOf } from "../schema/lanes.ts";
import type { Topic } from "../store.ts";
import { answerBatch, CAREFUL_BATCHES, draining, refuseAll } from "../write/group-commit.ts";
import { type Batch, runBatch } from "../write/run-batch.ts";
import { createWriteQueue } from "../write/write-queue.ts";
import type { Commits, Repeat, Waiting, Writer } from "../writer.ts";
import { type Shared, type SharedBatches, type SlotWrites, sharedBatches } from "./shared-batches.ts";

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
