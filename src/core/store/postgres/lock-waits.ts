import { StoreError } from "../problems.ts";
import type { Batch } from "../write/run-batch.ts";

/** For how long batches of a slot have been made that did not get their locks. */
export interface LockWaits {
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
export function lockWaits(lockWaitsMs: number, isClosed: () => boolean): LockWaits {
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
