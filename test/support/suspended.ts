import type { Store } from "../../src/core/store/store.ts";

/** The same store as a process has it that is suspended after its first claim, until it is resumed. */
export function suspendedAfterClaim(store: Store) {
  const resumed = Promise.withResolvers<void>();
  const claimed = Promise.withResolvers<void>();
  let isSuspended = false;
  const suspended: Store = {
    ...store,
    async write(run, input, requestId, owner) {
      const result = await store.write(run, input, requestId, owner);
      isSuspended = true;
      claimed.resolve();
      return result;
    },
    async read(query, input) {
      if (isSuspended) await resumed.promise;
      return store.read(query, input);
    },
  };
  return { store: suspended, claimed: claimed.promise, resume: resumed.resolve };
}
