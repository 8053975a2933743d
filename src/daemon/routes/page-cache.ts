import { LRUCache } from "lru-cache";
import type { Store } from "../../core/store/store.ts";

/** A response and its serialized form. */
export interface Kept<T> {
  page: T;
  text: string;
}

/** Responses that depend on reference data alone, ready to be sent: valid for one epoch of it. */
export interface PageCache<T> {
  /** The response for `key`; made and kept when this epoch has none yet. */
  get(key: string, make: () => Promise<Kept<T>>): Promise<Kept<T>>;
}

/** Keeps `characters` of responses at most, and drops all of them once any process changes reference data. */
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
      // Made in an epoch that has ended since: valid for this request, not for the next.
      if (now === epoch) kept.set(key, made);
      return made;
    },
  };
}
