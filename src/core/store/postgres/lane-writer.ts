import { batchContext, flush, RetryBatch } from "../batch-context.ts";
import type { TxMaker } from "../engine.ts";
import { isUnavailable } from "../problems.ts";
import type { BatchContext } from "../store.ts";
import type { Prefetching, Writer } from "../writer.ts";
import type { Transactions } from "./transactions.ts";
import { postgresWriter, repeatOf } from "./writer.ts";

/**
 * How long (ms) any write of a quick batch waits for rows before all of it is made again carefully (writer.ts): longer
 * than a turn of the worker has its rows, and shorter than the server takes to find that two wait for each other.
 */
const ROW_WAIT_MS = 250;

/**
 * The writes of a slot. A batch is quick at first: nothing is taken back by itself, rows of its commands are gathered
 * until its end, and whatever fails there has it made again, as `postgresWriter` makes it (docs/decisions/0049).
 */
export function laneWriter(transactions: Transactions, makeTx: TxMaker): Writer {
  const careful = postgresWriter(transactions, makeTx, { beside: true });
  let quick = false;
  /** The command under way, where it shares a context, and the context. */
  let [sharing, context]: [Prefetching | null, BatchContext | null] = [null, null];
  const { current, fault } = transactions;
  /** What changed something so far, or is to: statements, and rows that were put off. */
  const changes = () => current().sending.writes() + (context?.count ?? 0);
  let before = 0;

  /** Work on the whole batch. Throws `RetryBatch` where another batch of the same writes may not fail. */
  async function ofBatch(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      throw quick && maySucceed(fault(error)) ? new RetryBatch("it failed as a whole") : error;
    }
  }

  /** Begins a command, or the end of the batch (null); another one begins after all that was put off. */
  async function follow(following: Prefetching | null): Promise<void> {
    if (context !== null && following !== sharing) {
      transactions.waitForRows(null);
      await ofBatch(flush({ context }));
      context = null;
    }
    if (following !== null) context ??= batchContext();
    sharing = following;
  }

  return {
    ...careful,
    hasContext: true,
    async begin(isCareful, slots) {
      quick = !isCareful;
      [sharing, context] = [null, null];
      await careful.begin(isCareful, slots);
    },
    async savepoint(following) {
      if (!quick) return careful.savepoint(following);
      await follow(following);
      transactions.waitForRows(ROW_WAIT_MS);
      before = changes();
    },
    async release() {
      if (!quick) await careful.release();
    },
    async rollbackToSavepoint() {
      if (!quick) return careful.rollbackToSavepoint();
      return current().sending.failure() === null && changes() === before;
    },
    async commit() {
      await follow(null);
      await ofBatch(transactions.commit());
    },
    repeat: (found) => (quick ? repeatOf(found, true) : careful.repeat(found)),
    tx: (signal, requestId) => makeTx({ ...current().connection, context }, signal, requestId),
  };
}

/** Whether another batch of the same writes may not fail as this one did. */
function maySucceed(found: unknown): boolean {
  return !isUnavailable(found) || repeatOf(found, true) !== null;
}
