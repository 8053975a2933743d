import { setImmediate as nextTurn } from "node:timers/promises";
import type { Owner } from "../kernel/owner.ts";
import { isUnavailable, StoreError } from "./problems.ts";
import type { Command, Topic, Tx } from "./store.ts";
import { createWriteQueue, type Taken, type WriteQueue } from "./write-queue.ts";

/** A writing connection of an engine, as group commit needs it. */
export interface Writer {
  /** Its statements are answered in later turns of the event loop; left out: a batch may hold it from end to end. */
  awaits?: boolean;
  /** What a command puts off saves round trips, also where it is alone; left out: it does not. */
  gathers?: boolean;
  /** For how long (ms) batches are made again whose locks others keep; left out: they fail at once. */
  lockWaitsMs?: number;
  /** `careful`: each command can be taken back alone, also after it has written. */
  begin(careful: boolean): Promise<void>;
  /** Before the first command of a batch; what it waits for may be asked for together with other look-ups. */
  ready?(): Promise<void>;
  /** Before each write of a batch of several. `kind`: those of one kind may share a memory (run-memory.ts). */
  savepoint(kind: Kind | null): Promise<void>;
  release(): Promise<void>;
  /** Takes back what the command has written since `savepoint`. False: only the whole batch can be taken back. */
  rollbackToSavepoint(): Promise<boolean>;
  /** After how long (ms) a batch of half of the callers is worth its commit; left out: none is, all go into one. */
  enoughMs?(): number;
  /** Others see what it wrote once it is durable, and then this resolves. */
  commit(): Promise<void>;
  /** Undoes the whole batch; must not throw. */
  rollback(): Promise<void>;
  /** An error of the transaction under way, as `StoreUnavailable` where the database is the cause. */
  fault(error: unknown): unknown;
  /** How a write is repeated that failed by `fault` only since others were under way; null: it is not. */
  repeat(fault: unknown): Repeat | null;
  tx(signal: (topic: Topic) => void, requestId: string | null): Tx;
}

/** At the start of the next batch, or with no other write under way. */
export type Repeat = "first" | "alone";

/** A command whose runs share a memory. */
export type Kind = Pick<Command<unknown, unknown>, "lookAhead">;

/** A write that waits for its transaction. */
export interface Waiting {
  owner: Owner | null;
  run: (tx: Tx) => Promise<unknown>;
  requestId: string | null;
  /** The command where its runs share a memory; null: they do not. */
  kind: Kind | null;
  input: unknown;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

type Outcome = { ok: true; value: unknown } | { ok: false; error: unknown } | { ok: false; repeat: Repeat };

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

/** What a batch fails with that has to be made again carefully. A writer may throw it but from `begin`. */
export const SPOILED = new Error("a command failed after it had written");

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

/** The writes of a batch, each with its outcome; none for those after a write that is repeated first. */
interface Batch {
  writes: Waiting[];
  outcomes: Outcome[];
  topics: Set<Topic>;
  /** It was made twice. */
  repeated: boolean;
  /** It did not get its locks: it is made `again`, or failed with this. */
  locked?: "again" | StoreError;
}

type Take = () => Waiting | null;

type Source = Pick<WriteQueue<Waiting>, "size" | "next">;

interface Beginning {
  careful: boolean;
  /** Half of those who write. */
  half: number;
  /** Whether it is made again if it does not get its locks. */
  mayWait: () => boolean;
}

async function runBatch(writer: Writer, source: Source, { careful, half, mayWait }: Beginning): Promise<Batch> {
  const writes: Waiting[] = [];
  const take = takerOf(source, { batch: writes, half, enoughMs: writer.enoughMs?.() });
  try {
    await writer.begin(careful);
    if (source.size() === 1 && (careful || !writer.gathers))
      return { writes, ...(await runAlone(writer, take)), repeated: false };
    return { writes, ...(await runEach(writer, take)), repeated: false };
  } catch (error) {
    if (error === SPOILED) return repeatBatch(writer, writes, mayWait);
    return failBatch(writer, writes, { error, take, mayWait });
  }
}

/** Makes a batch again of which a command failed after it had written. */
async function repeatBatch(writer: Writer, writes: Waiting[], mayWait: () => boolean): Promise<Batch> {
  await writer.rollback();
  const rest = writes.values();
  try {
    await writer.begin(true);
    return { writes, ...(await runEach(writer, () => rest.next().value ?? null)), repeated: true };
  } catch (error) {
    return failBatch(writer, writes, { error, take: () => null, mayWait });
  }
}

interface Failed extends Pick<Beginning, "mayWait"> {
  error: unknown;
  take: Take;
}

async function failBatch(writer: Writer, writes: Waiting[], failed: Failed): Promise<Batch> {
  const fault = writer.fault(failed.error);
  await writer.rollback();
  // Without outcomes all of them are repeated first.
  const locked = writer.lockWaitsMs !== undefined && isUnavailable(fault) && fault.reason === "locked" ? fault : null;
  if (locked !== null && failed.mayWait())
    return { writes, outcomes: [], topics: new Set(), repeated: false, locked: "again" };
  // Where it could not even begin, those fail that it would have taken.
  if (writes.length === 0) while (failed.take() !== null);
  return {
    writes,
    outcomes: writes.map(() => ({ ok: false, error: fault })),
    topics: new Set(),
    repeated: false,
    ...(locked && { locked }),
  };
}

type Ran = Pick<Batch, "outcomes" | "topics">;

/** Runs the one write that waits: its failure takes the whole transaction back. */
async function runAlone(writer: Writer, take: Take): Promise<Ran> {
  const waiting = take();
  if (waiting === null) throw new Error("the queue had a write and gave none");
  const topics = new Set<Topic>();
  await writer.ready?.();
  const outcome = await runOne(writer, waiting, { topics, end: () => writer.commit() });
  if (!outcome.ok) await writer.rollback();
  return { outcomes: [outcome], topics };
}

/** Writes that are looked ahead for at once, beside the one that is next. */
const MOST_AHEAD = 31;

/** Writes that are taken and not run yet, and where more come from. */
interface Coming {
  taken: Waiting[];
  take: Take;
}

/**
 * Asks together for what a write of a run and those of its kind that follow will ask for. Resolves with how many
 * follow. Throws as `runOne` does, or `SPOILED`.
 */
async function lookAhead(writer: Writer, { kind, input }: Waiting, { taken, take }: Coming): Promise<number> {
  if (!writer.gathers || kind?.lookAhead === undefined) return 0;
  const tx = writer.tx(() => undefined, null);
  if (!tx.memory) return 0;
  while (taken.length < MOST_AHEAD) {
    const more = take();
    if (more === null) break;
    taken.push(more);
  }
  const other = taken.findIndex((waiting) => waiting.kind !== kind);
  const following = taken.slice(0, other === -1 ? undefined : other);
  try {
    await kind.lookAhead(tx, [input, ...following.map((waiting) => waiting.input)]);
  } catch (error) {
    const fault = writer.fault(error);
    throw writer.repeat(fault) === null && isUnavailable(fault) ? fault : SPOILED;
  }
  return following.length;
}

/** Runs one write after the other, each to be taken back alone. Throws `SPOILED` where one cannot. */
async function runEach(writer: Writer, take: Take): Promise<Ran> {
  const outcomes: Outcome[] = [];
  const topics = new Set<Topic>();
  const taken: Waiting[] = [];
  /** Of those taken, how many were looked ahead for. */
  let known = 0;
  for (let waiting = take(); waiting !== null; waiting = taken.shift() ?? take()) {
    await writer.savepoint(waiting.kind);
    known = known > 0 ? known - 1 : await lookAhead(writer, waiting, { taken, take });
    if (outcomes.length === 0) await writer.ready?.();
    const outcome = await runOne(writer, waiting, { topics, end: () => writer.release() });
    if (!outcome.ok && !(await writer.rollbackToSavepoint())) throw SPOILED;
    outcomes.push(outcome);
    // What it waits for may wait for this batch.
    if ("repeat" in outcome && outcome.repeat === "first") break;
  }
  await writer.commit();
  return { outcomes, topics };
}

function answer({ writes, outcomes, topics }: Batch, onSignal: (topic: Topic) => void): void {
  writes.forEach((waiting, index) => {
    const outcome = outcomes[index];
    if (outcome?.ok) waiting.resolve(outcome.value);
    else if (outcome !== undefined && "error" in outcome) waiting.reject(outcome.error);
  });
  for (const topic of topics) onSignal(topic);
}

interface Taking {
  batch: Waiting[];
  /** From this many writes on the batch ends after `enoughMs`, if that is not left out. */
  half: number;
  enoughMs: number | undefined;
}

/** Takes the batch's writes from the queue, one at a time, and keeps them in `batch`. */
function takerOf(source: Source, { batch, half, enoughMs }: Taking): Take {
  const taken = { production: 0, sandbox: 0 };
  let began: number | null = null;
  return () => {
    began ??= performance.now();
    const waiting = source.next(taken, performance.now() - began, batch.length < half ? undefined : enoughMs);
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
    const repeat = writer.repeat(fault);
    // The whole transaction is gone with it, or cannot be committed.
    if (repeat === null && isUnavailable(fault)) throw fault;
    return repeat === null ? { ok: false, error: fault } : { ok: false, repeat };
  }
}
