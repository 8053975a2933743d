import { setImmediate as nextTurn } from "node:timers/promises";
import type { Owner } from "../kernel/owner.ts";
import { isUnavailable, StoreError } from "./problems.ts";
import type { Command, Topic, Tx } from "./store.ts";
import { createWriteQueue, type WriteQueue } from "./write-queue.ts";

/** The one writing connection of an engine, as group commit needs it. */
export interface Writer {
  /** `careful`: each command can be taken back alone, also after it has written. */
  begin(careful: boolean): Promise<void>;
  savepoint(): Promise<void>;
  release(): Promise<void>;
  /** Takes back what the command has written since `savepoint`. False: only the whole batch can be taken back. */
  rollbackToSavepoint(): Promise<boolean>;
  /** Later transactions see what this one wrote, and readers only once it is durable. */
  commit(): Promise<void>;
  /** Resolves once all commits so far are durable and reads see them. Rejects when that failed. */
  durable(): Promise<void>;
  /** Undoes the whole batch; must not throw. */
  rollback(): Promise<void>;
  /** An error of the transaction under way, as `StoreUnavailable` where the database is the cause. */
  fault(error: unknown): unknown;
  tx(signal: (topic: Topic) => void, requestId: string | null): Tx;
}

interface Waiting {
  run: (tx: Tx) => Promise<unknown>;
  requestId: string | null;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

type Outcome = { ok: true; value: unknown } | { ok: false; error: unknown };

/** What a command throws in place of its error where its batch has to be made again. */
const SPOILED = new Error("a command failed after it had written");

/** Batches that are made carefully after one that was made twice: a caller that fails on purpose delays few of them. */
const CAREFUL_BATCHES = 64;

/**
 * Writes that arrive together share one transaction and one fsync, and a failing one rolls back alone: one that has
 * written nothing leaves nothing behind; otherwise the batch is made again with a savepoint for each, which costs the
 * engine a copy of what it changes. So a command may run twice. Every caller gets its result once the commit is
 * durable; when the commit fails, all of them fail. While a batch waits for the disk the next one is made, and no
 * third. A database that cannot be used fails the batch with `StoreUnavailable`; the next batch begins afresh. Which
 * writes a batch takes, and how many, the queue decides (write-queue.ts); one that comes while a batch is under way may
 * still join it.
 */
export function groupCommit(writer: Writer, onSignal: (topic: Topic) => void) {
  const queue = createWriteQueue<Waiting>();
  let draining: Promise<void> | null = null;
  /** Ends once the last batch is answered. */
  let answered: Promise<void> = Promise.resolve();
  let closed = false;
  /** Batches that are still to be made carefully. */
  let careful = 0;

  async function drain(): Promise<void> {
    try {
      for (let tookMs = 0; queue.size() > 0; ) {
        await leaveLoop(tookMs);
        const began = performance.now();
        const before = answered;
        const batch = await runBatch(writer, queue, careful > 0);
        careful = batch.repeated ? CAREFUL_BATCHES : Math.max(careful - 1, 0);
        tookMs = performance.now() - began;
        answered = answer(writer, batch, onSignal);
        await before;
      }
    } finally {
      // In the same breath as the last look at the queue: a write that comes later starts the next drain.
      draining = null;
    }
  }

  return {
    write<I, O>(
      command: Command<I, O>,
      input: I,
      { requestId, owner }: { requestId: string | null; owner: Owner | null } = { requestId: null, owner: null },
    ): Promise<O> {
      const result = new Promise<O>((resolve, reject) => {
        // `value` is what `command` answered for this very entry.
        if (closed) return reject(closedError());
        const settle = { resolve: (value: unknown) => resolve(value as O), reject };
        queue.push({ run: (tx) => command(tx, input), requestId, ...settle }, owner);
      });
      draining ??= drain();
      return result;
    },
    /**
     * Refuses the writes that wait and all that come, with `StoreUnavailable`: none of them was answered. Resolves once
     * the batches under way have ended as any other.
     */
    async close(): Promise<void> {
      closed = true;
      // Each as the first of a batch: the first one is always taken.
      const take = () => queue.next({ production: 0, sandbox: 0 }, 0);
      for (let waiting = take(); waiting !== null; waiting = take()) waiting.reject(closedError());
      while (draining !== null) await draining;
      await answered;
    },
  };
}

/** Turns of the event loop between two batches at most. */
const MOST_TURNS = 64;

/**
 * Leaves the event loop to timers and sockets: for a turn, or for one a millisecond that the batch before took, and for
 * as long as that. In each turn Node accepts one new connection: with a single turn after each batch of 100 ms, the
 * last of a hundred would be accepted after 10 s. Writes that come meanwhile join the next batch.
 */
async function leaveLoop(tookMs: number): Promise<void> {
  const began = performance.now();
  const turns = Math.min(Math.max(Math.ceil(tookMs), 1), MOST_TURNS);
  for (let turn = 0; turn < turns; turn++) {
    if (turn > 0 && performance.now() - began >= tookMs) break;
    await nextTurn();
  }
}

function closedError(): StoreError {
  return new StoreError("The store was closed.", "The program ends: start it again.", undefined, { reason: "closed" });
}

/** The writes of a batch, each with its outcome. */
interface Batch {
  writes: Waiting[];
  outcomes: Outcome[];
  topics: Set<Topic>;
  /** It was made twice. */
  repeated: boolean;
}

type Take = () => Waiting | null;

async function runBatch(writer: Writer, queue: WriteQueue<Waiting>, careful: boolean): Promise<Batch> {
  const writes: Waiting[] = [];
  const take = takerOf(queue, writes);
  try {
    await writer.begin(careful);
    if (queue.size() === 1) return { writes, ...(await runAlone(writer, take)), repeated: false };
    return { writes, ...(await runEach(writer, take)), repeated: false };
  } catch (error) {
    if (error === SPOILED) return repeatBatch(writer, writes);
    return failBatch(writer, writes, { error, take });
  }
}

/** Makes a batch again of which a command failed after it had written. */
async function repeatBatch(writer: Writer, writes: Waiting[]): Promise<Batch> {
  await writer.rollback();
  const rest = writes.values();
  try {
    await writer.begin(true);
    return { writes, ...(await runEach(writer, () => rest.next().value ?? null)), repeated: true };
  } catch (error) {
    return failBatch(writer, writes, { error, take: () => null });
  }
}

async function failBatch(writer: Writer, writes: Waiting[], failed: { error: unknown; take: Take }): Promise<Batch> {
  const fault = writer.fault(failed.error);
  await writer.rollback();
  // Where it could not even begin, those fail that it would have taken.
  if (writes.length === 0) while (failed.take() !== null);
  return { writes, outcomes: writes.map(() => ({ ok: false, error: fault })), topics: new Set(), repeated: false };
}

type Ran = Pick<Batch, "outcomes" | "topics">;

/** Runs the one write that waits: its failure takes the whole transaction back. */
async function runAlone(writer: Writer, take: Take): Promise<Ran> {
  const waiting = take();
  if (waiting === null) throw new Error("the queue had a write and gave none");
  const topics = new Set<Topic>();
  const outcome = await runOne(writer, waiting, { topics, end: () => writer.commit() });
  if (!outcome.ok) await writer.rollback();
  return { outcomes: [outcome], topics };
}

/** Runs one write after the other, each to be taken back alone. Throws `SPOILED` where one cannot. */
async function runEach(writer: Writer, take: Take): Promise<Ran> {
  const outcomes: Outcome[] = [];
  const topics = new Set<Topic>();
  for (let waiting = take(); waiting !== null; waiting = take()) {
    await writer.savepoint();
    const outcome = await runOne(writer, waiting, { topics, end: () => writer.release() });
    if (!outcome.ok && !(await writer.rollbackToSavepoint())) throw SPOILED;
    outcomes.push(outcome);
  }
  await writer.commit();
  return { outcomes, topics };
}

/**
 * Answers a batch once it is durable, and with it what its commands saw of batches before it: a refusal, too, may be
 * due to what was just written.
 */
async function answer(writer: Writer, batch: Batch, onSignal: (topic: Topic) => void): Promise<void> {
  const { writes, outcomes, topics } = batch;
  try {
    await writer.durable();
  } catch (error) {
    const fault = writer.fault(error);
    for (const waiting of writes) waiting.reject(fault);
    return;
  }
  writes.forEach((waiting, index) => {
    const outcome = outcomes[index];
    if (outcome?.ok) waiting.resolve(outcome.value);
    else waiting.reject(outcome?.error);
  });
  for (const topic of topics) onSignal(topic);
}

/** Takes the batch's writes from the queue, one at a time, and keeps them in `batch`. */
function takerOf(queue: WriteQueue<Waiting>, batch: Waiting[]): Take {
  const taken = { production: 0, sandbox: 0 };
  let began: number | null = null;
  return () => {
    began ??= performance.now();
    const waiting = queue.next(taken, performance.now() - began);
    if (waiting !== null) batch.push(waiting);
    return waiting;
  };
}

interface Running {
  topics: Set<Topic>;
  /** Ends what the command has begun: only then it is known that all of its statements succeeded. */
  end: () => Promise<void>;
}

/** Runs one command. Throws `StoreUnavailable` where no command of its batch can succeed. */
async function runOne(writer: Writer, waiting: Waiting, { topics, end }: Running): Promise<Outcome> {
  const own: Topic[] = [];
  try {
    const value = await waiting.run(writer.tx((topic) => own.push(topic), waiting.requestId));
    await end();
    for (const topic of own) topics.add(topic);
    return { ok: true, value };
  } catch (error) {
    const fault = writer.fault(error);
    // The whole transaction is gone with it, or cannot be committed.
    if (isUnavailable(fault)) throw fault;
    return { ok: false, error: fault };
  }
}
