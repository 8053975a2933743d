import { LRUCache } from "lru-cache";
import type { Store } from "../../core/store/store.ts";

/** An answer and its serialised form. */
export interface Kept<T> {
  page: T;
  text: string;
}

/** Answers that depend on reference data alone, ready to be sent: good for one epoch of it. */
export interface PageCache<T> {
  /** The answer for `key`; made, and kept, when there is none of this epoch yet. */
  get(key: string, make: () => Promise<Kept<T>>): Promise<Kept<T>>;
}

/** Answers of `characters` together at most, all forgotten as soon as any process changes reference data. */
export function createPageCache<T>(store: Store, characters: number): PageCache<T> {
  const kept = new LRUCache<string, Kept<T>>({ maxSize: characters, sizeCalculation: ({ text }) => text.length });
  let epoch = -1;
  return {
    async get(key, make) {
      const now = await store.epoch();
      if (now !== epoch) {
        kept.clear();
        epoch = now;
      }
      const known = kept.get(key);
      if (known !== undefined) return known;
      const made = await make();
      // Made under an epoch that has passed meanwhile: good for this request, not for the next.
      if (now === epoch) kept.set(key, made);
      return made;
    },
  };
}
