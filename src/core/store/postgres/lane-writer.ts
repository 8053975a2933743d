import type { TxMaker } from "../engine.ts";
import { isUnavailable } from "../problems.ts";
import { runsOf } from "../write/runs.ts";
import { type Kind, SPOILED, type Writer } from "../writer.ts";
import type { Transactions } from "./transactions.ts";
import { postgresWriter, repeatOf } from "./writer.ts";

/**
 * How long (ms) a write of a quick batch waits for rows before the batch is made again: longer than a turn of the
 * worker has its rows, and shorter than the server takes to find that two wait for each other.
 */
const ROW_WAIT_MS = 250;

/**
 * The writes of a slot. A batch is quick at first: nothing is taken back by itself, rows of its commands are gathered
 * until its end, and whatever fails there has it made again, as `postgresWriter` makes it (docs/decisions/0049).
 */
export function laneWriter(transactions: Transactions, makeTx: TxMaker): Writer {
  const careful = postgresWriter(transactions, makeTx, { beside: true });
  let quick = false;
  /** Statements before the command under way that changed something. */
  let before = 0;
  const run = runsOf();
  const { current, fault } = transactions;

  /** Work on the whole batch. Throws `SPOILED` where another batch of the same writes may not fail. */
  async function ofBatch(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      const found = fault(error);
      throw quick && (!isUnavailable(found) || repeatOf(found, true) !== null) ? SPOILED : error;
    }
  }

  /** Begins a command; where a run ends before it, all that the run has put off is written. */
  function follow(kind: Kind | null): Promise<void> {
    if (run.endsBefore(kind)) transactions.waitForRows(null);
    return ofBatch(run.next(kind));
  }

  return {
    ...careful,
    gathers: true,
    async begin(isCareful, slots) {
      quick = !isCareful;
      run.forget();
      await careful.begin(isCareful, slots);
    },
    async savepoint(kind) {
      if (!quick) return careful.savepoint(kind);
      await follow(kind);
      transactions.waitForRows(ROW_WAIT_MS);
      before = current().sending.writes();
    },
    async release() {
      if (!quick) await careful.release();
    },
    async rollbackToSavepoint() {
      if (!quick) return careful.rollbackToSavepoint();
      const { sending } = current();
      return sending.failure() === null && sending.writes() === before && !run.hasPutOff();
    },
    async commit() {
      await follow(null);
      await ofBatch(transactions.commit());
    },
    repeat: (found) => (quick ? repeatOf(found, true) : careful.repeat(found)),
    tx: (signal, requestId) => makeTx({ ...current().connection, memory: run.memory() }, signal, requestId),
  };
}
