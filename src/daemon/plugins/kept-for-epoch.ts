import { LRUCache } from "lru-cache";
import type { Store } from "../../core/store/store.ts";

/** Values by key, made from what one epoch of reference data holds. */
export interface Kept<T> {
  readonly epoch: number;
  get(key: string): T | undefined;
  /** Keeps a value that was made after these were asked for; once their epoch has ended it is not kept. */
  set(key: string, value: T): void;
}

/** How much is kept: `bytes` in all, each value with its key counted by `sizeOf`. */
interface Bound<T> {
  bytes: number;
  sizeOf(value: T, key: string): number;
}

/**
 * Keeps values, those used last, and drops all of them once any process changes reference data: partners, keys, the
 * catalog, settings, and what names an erased person. The result asks for the epoch at each call.
 */
export function keptForEpoch<T extends object>(store: Store, { bytes, sizeOf }: Bound<T>): () => Promise<Kept<T>> {
  let kept = fresh(-1);

  function fresh(epoch: number): Kept<T> {
    const values = new LRUCache<string, T>({ maxSize: bytes, sizeCalculation: sizeOf });
    return { epoch, get: (key) => values.get(key), set: (key, value) => void values.set(key, value) };
  }

  return async () => {
    const now = await store.epoch();
    // Who still makes a value of the last epoch keeps it there, where no one finds it.
    if (now !== kept.epoch) kept = fresh(now);
    return kept;
  };
}
