import type { Owner } from "../kernel/owner.ts";
import type { Lane } from "./schema/lanes.ts";
import type { Command, Topic, Tx } from "./store.ts";

/** A writing connection of an engine, as group commit needs it. */
export interface Writer {
  /** Batches have a context: what a command puts off saves round trips, also where it is alone; left out: none has. */
  hasContext?: boolean;
  /** For how long (ms) batches are made again whose locks others keep; left out: they fail at once. */
  lockWaitsMs?: number;
  /**
   * `careful`: each command can be taken back alone, also after it has written. `slots`: of the batch's writes (see
   * lanes.ts), in ascending order; a writer whose transactions have no other beside them ignores them.
   */
  begin(careful: boolean, slots: readonly number[]): Promise<void>;
  /** Before the first command of a batch; what it waits for may be asked for together with other look-ups. */
  ready?(): Promise<void>;
  /** Before each write of a batch of several. Those of one command that follow each other share a context. */
  savepoint(prefetching: Prefetching | null): Promise<void>;
  release(): Promise<void>;
  /** Takes back what the command has written since `savepoint`. False: only the whole batch can be taken back. */
  rollbackToSavepoint(): Promise<boolean>;
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

/** A command whose batches have a context. */
export type Prefetching = Required<Pick<Command<unknown, unknown>, "prefetch">>;

/** A write that waits for its transaction. */
export interface Waiting {
  owner: Owner | null;
  run: (tx: Tx) => Promise<unknown>;
  requestId: string | null;
  /** The command, where it shares a context; null: it writes at once. */
  prefetching: Prefetching | null;
  input: unknown;
  /** What the command keeps to; null: it runs with no other under way. */
  lane: Lane | null;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

/** Writes that share commits. */
export interface Commits {
  push(waiting: Waiting): void;
  /** Refuses what waits and all that comes; resolves once the batches under way have ended as any other. */
  close(): Promise<void>;
}
