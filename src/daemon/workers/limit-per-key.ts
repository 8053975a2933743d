import { createPermits, type Permits } from "../../core/kernel/permits.ts";

/** Runs work of a key once it may begin. */
export type LimitPerKey = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Lets at most `most` works of each key run at a time; the others of that key wait in their order. */
export function limitPerKey(most: number): LimitPerKey {
  const keys = new Map<string, { permits: Permits; users: number }>();
  return async (key, work) => {
    const used = keys.get(key) ?? { permits: createPermits(most), users: 0 };
    keys.set(key, used);
    used.users += 1;
    const give = await used.permits.take();
    try {
      return await work();
    } finally {
      give();
      used.users -= 1;
      if (used.users === 0) keys.delete(key);
    }
  };
}
