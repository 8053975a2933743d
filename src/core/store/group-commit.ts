import { setImmediate as nextTurn } from "node:timers/promises";
import { StoreError } from "./problems.ts";
import { type Batch, runBatch, type Source } from "./run-batch.ts";
import type { Topic } from "./store.ts";
import { createWriteQueue, type Taken } from "./write-queue.ts";
import type { Repeat, Waiting, Writer } from "./writer.ts";

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
export function createLine(writer: Writer, { onSignal, repeat, longestMs }: LineOptions): Line {
  const queue = createWriteQueue<Waiting>(longestMs);
  /** The writes that the next batch begins with. */
  const first: Waiting[] = [];
  let draining: Promise<void> | null = null;
  let closed = false;
  /** Batches that are still to be made carefully. */
  let careful = 0;
  const waits = lockWaits(writer, () => closed);

  const source = { size: () => queue.size() + first.length, next };

  function next(taken: Taken, elapsedMs: number, enoughMs?: number): Waiting | null {
    return first.shift() ?? queue.next(taken, elapsedMs, enoughMs);
  }

  async function drain(): Promise<void> {
    try {
      /** Writes of the batch before whose callers have not come back: it left others waiting. */
      let away = 0;
      for (let tookMs = 0; source.size() > 0; ) {
        await leaveLoop(writer.awaits ? 0 : tookMs);
        const began = performance.now();
        const half = Math.ceil((away + source.size()) / 2);
        const batch = await runBatch(writer, source, { careful: careful > 0, half, mayWait: waits.begin() });
        const refusal = waits.end(batch);
        away = source.size() > 0 ? batch.writes.length : 0;
        careful = batch.repeated ? CAREFUL_BATCHES : Math.max(careful - 1, 0);
        tookMs = performance.now() - began;
        again(batch);
        answer(batch, onSignal);
        if (refusal !== null) refuseAll(source, refusal);
      }
    } finally {
      // In the same breath as the last look at the queue: a write that comes later starts the next drain.
      draining = null;
    }
  }

  function again(batch: Batch): void {
    const repeats = repeatsOf(batch);
    // Before those that it did not come to, either.
    first.unshift(...repeats.flatMap(([waiting, how]) => (how === "first" ? [waiting] : [])));
    for (const [waiting, how] of repeats) if (how === "alone") repeat?.(waiting);
  }

  return {
    push(waiting) {
      if (closed) return waiting.reject(closedError());
      queue.push(waiting, waiting.owner);
      draining ??= drain();
    },
    async close() {
      closed = true;
      refuseAll(source, closedError());
      while (draining !== null) await draining;
    },
  };
}

function refuseAll(source: Source, error: StoreError): void {
  // Each as the first of a batch: the first one is always taken.
  const take = () => source.next({ production: 0, sandbox: 0 }, 0);
  for (let waiting = take(); waiting !== null; waiting = take()) waiting.reject(error);
}

/** For how long batches have been made that did not get their locks. */
function lockWaits({ lockWaitsMs = 0 }: Writer, isClosed: () => boolean) {
  /** The start of the first of them; null: the last one got its locks. */
  let since: number | null = null;
  let hasFailed = false;
  return {
    /** Whether the batch that begins now is made again if it does not get its locks. */
    begin(): () => boolean {
      since ??= performance.now();
      const until = since + lockWaitsMs;
      return () => !isClosed() && performance.now() < until;
    },
    /**
     * What all that wait fail with, once the batch after one that failed fails too: in turn, each would wait for as
     * long. The first one may have waited for a row of its own.
     */
    end({ locked }: Batch): StoreError | null {
      const fault = locked instanceof StoreError ? locked : null;
      const refusal = hasFailed ? fault : null;
      hasFailed = fault !== null && refusal === null;
      if (locked === undefined || refusal !== null) since = null;
      return refusal;
    },
  };
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
