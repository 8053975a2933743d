import { together } from "../../kernel/together.ts";
import { RetryBatch } from "../batch-context.ts";
import { isUnavailable, type StoreError } from "../problems.ts";
import type { Topic } from "../store.ts";
import type { Repeat, Waiting, Writer } from "../writer.ts";
import type { WriteQueue } from "./write-queue.ts";

type Outcome = { ok: true; value: unknown } | { ok: false; error: unknown } | { ok: false; repeat: Repeat };

/** The writes of a batch, each with its outcome; none for those after a write that is repeated first. */
export interface Batch {
  writes: Waiting[];
  outcomes: Outcome[];
  topics: Set<Topic>;
  /** It was made twice, or is to be. */
  repeated: boolean;
  /** It did not get its locks: it is made `again`, or failed with this. */
  locked?: "again" | StoreError;
}

type Take = () => Waiting | null;

/** Where a batch takes its writes from. */
export type Source = Pick<WriteQueue<Waiting>, "size" | "next">;

/** How a batch is made. */
interface Beginning {
  careful: boolean;
  /** The slots of its writes, in their order; left out: it has none. */
  slots?: readonly number[];
  /** Whether it is made again if it does not get its locks; left out: it is not. */
  mayWait?: () => boolean;
}

/**
 * Makes one batch of the writes that wait. What fails is in the outcomes, a commit that fails in all of them: it does
 * not throw.
 */
export async function runBatch(writer: Writer, source: Source, beginning: Beginning): Promise<Batch> {
  const { careful, slots = [] } = beginning;
  const writes: Waiting[] = [];
  const take = takerOf(source, writes);
  try {
    await writer.begin(careful, slots);
    if (source.size() === 1 && (careful || !writer.hasContext))
      return { writes, ...(await runAlone(writer, take)), repeated: false };
    return { writes, ...(await runEach(writer, take)), repeated: false };
  } catch (error) {
    if (error instanceof RetryBatch)
      return slots.length > 1 ? splitBatch(writer, writes) : repeatBatch(writer, writes, beginning);
    return failBatch(writer, writes, { ...beginning, error, take, repeated: false });
  }
}

/** Makes a batch again of which a command failed after it had written. */
async function repeatBatch(writer: Writer, writes: Waiting[], beginning: Beginning): Promise<Batch> {
  await writer.rollback();
  const rest = writes.values();
  try {
    await writer.begin(true, beginning.slots ?? []);
    return { writes, ...(await runEach(writer, () => rest.next().value ?? null)), repeated: true };
  } catch (error) {
    return failBatch(writer, writes, { ...beginning, error, take: () => null, repeated: true });
  }
}

/** Takes back a batch of several slots of which a command failed after it had written: each slot makes its own. */
async function splitBatch(writer: Writer, writes: Waiting[]): Promise<Batch> {
  await writer.rollback();
  return { writes, outcomes: [], topics: new Set(), repeated: true };
}

interface Failed extends Pick<Beginning, "mayWait"> {
  error: unknown;
  take: Take;
  /** It was made before. */
  repeated: boolean;
}

async function failBatch(writer: Writer, writes: Waiting[], failed: Failed): Promise<Batch> {
  const batch = { writes, topics: new Set<Topic>(), repeated: failed.repeated };
  const fault = writer.fault(failed.error);
  await writer.rollback();
  // Without outcomes all of them are repeated first.
  const locked = writer.lockWaitsMs !== undefined && isUnavailable(fault) && fault.reason === "locked" ? fault : null;
  if (locked !== null && failed.mayWait?.()) return { ...batch, outcomes: [], locked: "again" };
  // Where it could not even begin, those fail that it would have taken.
  if (writes.length === 0) while (failed.take() !== null);
  return { ...batch, outcomes: writes.map(() => ({ ok: false, error: fault })), ...(locked && { locked }) };
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

/** Writes whose look-ups are prefetched at once, beside the one that is next. */
const MOST_AHEAD = 31;

/** Writes that are taken and not run yet, and where more come from. */
interface Coming {
  taken: Waiting[];
  take: Take;
}

/**
 * Prefetches what a write and those of its command that follow will look up. Resolves with how many follow. Throws as
 * `runOne` does, or `RetryBatch`.
 */
async function prefetch(writer: Writer, { prefetching, input }: Waiting, { taken, take }: Coming): Promise<number> {
  if (prefetching === null) return 0;
  const tx = writer.tx(() => undefined, null);
  if (tx.context === null) return 0;
  while (taken.length < MOST_AHEAD) {
    const more = take();
    if (more === null) break;
    taken.push(more);
  }
  const other = taken.findIndex((waiting) => waiting.prefetching !== prefetching);
  const following = taken.slice(0, other === -1 ? undefined : other);
  const inputs = [input, ...following.map((waiting) => waiting.input)];
  try {
    await together(...prefetching.prefetch.map((load) => load(tx, inputs)));
  } catch (error) {
    const fault = writer.fault(error);
    throw writer.repeat(fault) === null && isUnavailable(fault) ? fault : new RetryBatch("a look-up failed");
  }
  return following.length;
}

/** Runs one write after the other, each to be taken back alone. Throws `RetryBatch` where one cannot. */
async function runEach(writer: Writer, take: Take): Promise<Ran> {
  const outcomes: Outcome[] = [];
  const topics = new Set<Topic>();
  const taken: Waiting[] = [];
  /** For how many of those taken the look-ups were prefetched. */
  let known = 0;
  for (let waiting = take(); waiting !== null; waiting = taken.shift() ?? take()) {
    await writer.savepoint(waiting.prefetching);
    known = known > 0 ? known - 1 : await prefetch(writer, waiting, { taken, take });
    if (outcomes.length === 0) await writer.ready?.();
    const outcome = await runOne(writer, waiting, { topics, end: () => writer.release() });
    if (!outcome.ok && !(await writer.rollbackToSavepoint()))
      throw new RetryBatch("a command failed after it had written");
    outcomes.push(outcome);
    // What it waits for may wait for this batch.
    if ("repeat" in outcome && outcome.repeat === "first") break;
  }
  await writer.commit();
  return { outcomes, topics };
}

/** Takes the batch's writes from the queue, one at a time, and keeps them in `batch`. */
function takerOf(source: Source, batch: Waiting[]): Take {
  const taken = { production: 0, sandbox: 0 };
  let began: number | null = null;
  return () => {
    began ??= performance.now();
    const waiting = source.next(taken, performance.now() - began);
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
