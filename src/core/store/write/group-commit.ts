import { setImmediate as nextTurn } from "node:timers/promises";
import { closedError, type StoreError } from "../problems.ts";
import type { Topic } from "../store.ts";
import type { Commits, Waiting, Writer } from "../writer.ts";
import { type Batch, runBatch, type Source } from "./run-batch.ts";
import { createWriteQueue } from "./write-queue.ts";

// How a write is made. The words of it:
// - command: a core function that runs as one transaction (store.ts). It waits in a queue (write-queue.ts).
// - batch: commands that share one transaction and one commit (run-batch.ts). It is taken from the queue while it runs;
//   then it is committed, or made again carefully, each command behind a savepoint; or taken back as a whole.
// - batch context: what commands of a batch look up once and write at its end (batch-context.ts), where the engine
//   gains by it. Look-ups that a command declares are prefetched for those that follow; flush writes what was put off.
// - writer: the connection of an engine that makes batches (writer.ts). commit: the outcome is durable, and answered.
// - lane, slot, scheduler: what may be written side by side on PostgreSQL (schema/lanes.ts, postgres/scheduler.ts).
//   SQLite has one writer, and this file is all of it.

/** Batches that are made carefully after one that was made twice: a caller that fails on purpose delays few of them. */
export const CAREFUL_BATCHES = 64;

/**
 * Writes that arrive together share one transaction and one fsync, and a failing one rolls back alone: one that has
 * written nothing leaves nothing behind; otherwise the batch is made again with a savepoint for each, which costs the
 * engine a copy of what it changes. So a command may run twice. Every caller gets its result once the commit is
 * durable: a refusal, too, may be due to what was just written. When the commit fails, all of them fail. A database
 * that cannot be used fails the batch with `StoreUnavailable`; the next batch begins afresh. Which writes a batch
 * takes, and how many, the queue decides; one that comes while a batch is under way may still join it.
 */
export function groupCommit(writer: Writer, onSignal: (topic: Topic) => void): Commits {
  const queue = createWriteQueue<Waiting>();
  let careful = 0;
  return draining(queue, async () => {
    const batch = await runBatch(writer, queue, { careful: careful > 0 });
    careful = batch.repeated ? CAREFUL_BATCHES : Math.max(careful - 1, 0);
    answerBatch(batch, onSignal);
  });
}

/** A queue, and what wakes those who make its batches. */
type Drained = Source & { push(waiting: Waiting, owner: Waiting["owner"]): void };

/** Makes batches by `next`, one after the other, while anything waits. */
export function draining(
  queue: Drained,
  next: () => Promise<void>,
  { leaves = true } = {},
): Commits & { wake(): void } {
  let underWay: Promise<void> | null = null;
  let closed = false;

  async function drain(): Promise<void> {
    try {
      for (let tookMs = 0; queue.size() > 0; ) {
        await leaveLoop(leaves ? tookMs : 0);
        const began = performance.now();
        await next();
        tookMs = performance.now() - began;
      }
    } finally {
      // In the same breath as the last look at the queue: a write that comes later starts the next drain.
      underWay = null;
    }
  }

  const wake = () => {
    underWay ??= drain();
  };
  return {
    wake,
    push(waiting) {
      if (closed) return waiting.reject(closedError());
      queue.push(waiting, waiting.owner);
      wake();
    },
    async close() {
      closed = true;
      refuseAll(queue, closedError());
      while (underWay !== null) await underWay;
    },
  };
}

/** Refuses all that waits. */
export function refuseAll(source: Source, error: StoreError): void {
  // Each as the first of a batch: the first one is always taken.
  const take = () => source.next({ production: 0, sandbox: 0 }, 0);
  for (let waiting = take(); waiting !== null; waiting = take()) waiting.reject(error);
}

/** Turns of the event loop between two batches: what is answered by one is sent before the next begins. */
const LEAST_TURNS = 2;
/** However long the batch before held it. */
const MOST_TURNS = 64;

/**
 * Leaves the event loop to timers and sockets: for two turns at least, and beyond them for one a millisecond that the
 * batch before held it, at most as long as that. In each turn Node accepts one new connection: with a single turn after
 * each batch of 100 ms, the last of a hundred would be accepted after 10 s. Writes that come meanwhile join the next
 * batch.
 */
async function leaveLoop(heldMs: number): Promise<void> {
  const began = performance.now();
  const turns = Math.min(Math.max(Math.ceil(heldMs), LEAST_TURNS), MOST_TURNS);
  for (let turn = 0; turn < turns; turn++) {
    if (turn >= LEAST_TURNS && performance.now() - began >= heldMs) break;
    await nextTurn();
  }
}

/** Answers the writes of a batch, but for those that are repeated. */
export function answerBatch({ writes, outcomes, topics }: Batch, onSignal: (topic: Topic) => void): void {
  writes.forEach((waiting, index) => {
    const outcome = outcomes[index];
    if (outcome?.ok) waiting.resolve(outcome.value);
    else if (outcome !== undefined && "error" in outcome) waiting.reject(outcome.error);
  });
  for (const topic of topics) onSignal(topic);
}
