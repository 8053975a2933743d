import { setImmediate as nextTurn } from "node:timers/promises";
import { StoreError } from "../problems.ts";
import type { Topic } from "../store.ts";
import type { Repeat, Waiting, Writer } from "../writer.ts";
import { type Joined, type JoinedLines, joinedLines, type LineWrites } from "./joined-lines.ts";
import { type LockWaits, lockWaits } from "./lock-waits.ts";
import { type Batch, runBatch, type Source } from "./run-batch.ts";
import { createWriteQueue } from "./write-queue.ts";

/** Writes of which one batch is under way at a time. */
export interface Line {
  push(waiting: Waiting): void;
  /** Refuses what waits and all that comes; resolves once the batches under way have ended as any other. */
  close(): Promise<void>;
}

interface LineOptions {
  onSignal: (topic: Topic) => void;
  /** Where writes are repeated with no other under way; left out: here none is. */
  repeat?: (waiting: Waiting) => void;
  /** How long a batch goes on taking writes (ms); left out: as the queue has it. */
  longestMs?: number;
  /** The slot of a line whose batches may be of several, and the lines with which it shares them. */
  shared?: { slot: number; lines: JoinedLines<OwnLine> };
}

/** What a line keeps, also while its writes are in the batch of another one. */
export interface OwnLine extends LineWrites {
  /** The writes that its next batch begins with. */
  first: Waiting[];
  /** Batches that are still to be made carefully. */
  careful: number;
  waits: LockWaits;
  /** Makes batches of what waits, unless it does. */
  wake(): void;
}

/** Batches that are made carefully after one that was made twice: a caller that fails on purpose delays few of them. */
const CAREFUL_BATCHES = 64;

/**
 * Writes that arrive together share one transaction and one fsync, and a failing one rolls back alone: one that has
 * written nothing leaves nothing behind; otherwise the batch is made again with a savepoint for each, which costs the
 * engine a copy of what it changes. So a command may run twice. Every caller gets its result once the commit is
 * durable: a refusal, too, may be due to what was just written. When the commit fails, all of them fail. A database
 * that cannot be used fails the batch with `StoreUnavailable`; the next batch begins afresh. Which writes a batch
 * takes, and how many, the queue decides (write-queue.ts); one that comes while a batch is under way may still join it.
 */
export function createLine(writer: Writer, { onSignal, repeat, longestMs, shared }: LineOptions): Line {
  const queue = createWriteQueue<Waiting>(longestMs);
  let draining: Promise<void> | null = null;
  let closed = false;
  const first: Waiting[] = [];
  const own: OwnLine = {
    slot: shared?.slot ?? 0,
    first,
    careful: 0,
    waits: lockWaits(writer.lockWaitsMs ?? 0, () => closed),
    size: () => queue.size() + first.length,
    next: (taken, elapsedMs) => first.shift() ?? queue.next(taken, elapsedMs),
    isSound: () => first.length === 0 && own.careful === 0 && !own.waits.areLong(),
    wake() {
      draining ??= drain();
    },
  };
  const lines = shared?.lines ?? joinedLines();
  lines.add(own);

  async function drain(): Promise<void> {
    try {
      for (let tookMs = 0; own.size() > 0; ) {
        await leaveLoop(writer.awaits ? 0 : tookMs);
        const joined = await lines.join(own);
        if (joined === null) continue;
        const began = performance.now();
        const { batch, refusals } = await runJoined(writer, joined);
        tookMs = performance.now() - began;
        for (const waiting of putBack(batch, joined)) repeat?.(waiting);
        joined.release();
        answer(batch, onSignal);
        for (const { line, error } of refusals) refuseAll(line, error);
      }
    } finally {
      // In the same breath as the last look at the queue: a write that comes later starts the next drain.
      draining = null;
    }
  }

  return {
    push(waiting) {
      if (closed) return waiting.reject(closedError());
      queue.push(waiting, waiting.owner);
      own.wake();
    },
    async close() {
      closed = true;
      refuseAll(own, closedError());
      while (draining !== null) await draining;
    },
  };
}

/** Makes a batch of lines. `refusals`: what all that wait in a line fail with. */
async function runJoined(writer: Writer, joined: Joined<OwnLine>) {
  const { lines } = joined;
  const may = lines.map(({ waits }) => waits.begin());
  const batch = await runBatch(writer, joined, {
    careful: lines.some(({ careful }) => careful > 0),
    slots: lines.map(({ slot }) => slot).toSorted((one, other) => one - other),
    mayWait: () => may.every((mayWait) => mayWait()),
  });
  const refusals = lines.flatMap((line) => {
    line.careful = batch.repeated ? CAREFUL_BATCHES : Math.max(line.careful - 1, 0);
    const error = line.waits.end(batch);
    return error === null ? [] : [{ line, error }];
  });
  return { batch, refusals };
}

/** Gives writes that are repeated first back to their lines; the others, which are repeated alone, are the result. */
function putBack(batch: Batch, { lineOf }: Joined<OwnLine>): Waiting[] {
  const again = new Map<OwnLine, Waiting[]>();
  const alone: Waiting[] = [];
  for (const [waiting, how] of repeatsOf(batch)) {
    const line = lineOf(waiting);
    const writes = how === "alone" ? alone : (again.get(line) ?? []);
    writes.push(waiting);
    if (how === "first") again.set(line, writes);
  }
  // Before those that the batch did not come to, either.
  for (const [line, writes] of again) {
    line.first.unshift(...writes);
    // It may have ended since another one's batch had taken all that waited.
    line.wake();
  }
  return alone;
}

function refuseAll(source: Source, error: StoreError): void {
  // Each as the first of a batch: the first one is always taken.
  const take = () => source.next({ production: 0, sandbox: 0 }, 0);
  for (let waiting = take(); waiting !== null; waiting = take()) waiting.reject(error);
}

/** The writes of a batch that are repeated, and how. What it took and did not come to follows the one it ended at. */
function repeatsOf({ writes, outcomes }: Batch): [Waiting, Repeat][] {
  return writes.flatMap((waiting, at): [Waiting, Repeat][] => {
    const outcome = outcomes[at];
    if (outcome === undefined) return [[waiting, "first"]];
    return "repeat" in outcome ? [[waiting, outcome.repeat]] : [];
  });
}

/** Turns of the event loop between two batches: what is answered by one is sent before the next begins. */
const LEAST_TURNS = 2;
/** However long the batch before held it. */
const MOST_TURNS = 64;

/**
 * Leaves the event loop to timers and sockets: for two turns, or for one a millisecond that the batch before held it,
 * and for as long as that. In each turn Node accepts one new connection: with a single turn after each batch of 100 ms,
 * the last of a hundred would be accepted after 10 s. Writes that come meanwhile join the next batch.
 */
async function leaveLoop(heldMs: number): Promise<void> {
  const began = performance.now();
  const turns = Math.min(Math.max(Math.ceil(heldMs), LEAST_TURNS), MOST_TURNS);
  for (let turn = 0; turn < turns; turn++) {
    if (turn >= LEAST_TURNS && performance.now() - began >= heldMs) break;
    await nextTurn();
  }
}

/** What a write of a closed store fails with. */
export function closedError(): StoreError {
  return new StoreError("The store was closed.", "The program ends: start it again.", undefined, { reason: "closed" });
}

function answer({ writes, outcomes, topics }: Batch, onSignal: (topic: Topic) => void): void {
  writes.forEach((waiting, index) => {
    const outcome = outcomes[index];
    if (outcome?.ok) waiting.resolve(outcome.value);
    else if (outcome !== undefined && "error" in outcome) waiting.reject(outcome.error);
  });
  for (const topic of topics) onSignal(topic);
}
