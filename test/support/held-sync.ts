import type { SyncFile } from "../../src/core/store/engines/wal-sync.ts";

/** A disk whose syncs the test lets end. */
export interface HeldSync {
  sync: SyncFile;
  /** From now on each sync waits for `end`. */
  hold(): void;
  /** Resolves once a sync waits. */
  begun(): Promise<void>;
  /** Lets the sync under way end, by `error` where given; later ones wait again. */
  end(error?: Error): void;
  /** Lets the sync under way end, and all later ones. */
  free(): void;
  /** Syncs that have begun. */
  count(): number;
}

/** Syncs nothing: the page cache of a test's own process is enough. */
export function heldSync(): HeldSync {
  let held = false;
  let count = 0;
  let underway: PromiseWithResolvers<void> | null = null;
  let begun = Promise.withResolvers<void>();
  function end(error?: Error): void {
    const ended = underway;
    underway = null;
    begun = Promise.withResolvers();
    if (error === undefined) ended?.resolve();
    else ended?.reject(error);
  }
  return {
    async sync() {
      count += 1;
      if (!held) return;
      underway = Promise.withResolvers();
      begun.resolve();
      await underway.promise;
    },
    hold() {
      held = true;
    },
    begun: () => begun.promise,
    end,
    free() {
      held = false;
      end();
    },
    count: () => count,
  };
}
