import { isUnavailable, type StoreUnavailable } from "./problems.ts";
import type { Store } from "./store.ts";

/** The same store; `onFault` is called with each `StoreUnavailable` that a read or write of it throws. */
export function reportingFaults(store: Store, onFault: (fault: StoreUnavailable) => void): Store {
  async function reporting<T>(outcome: Promise<T>): Promise<T> {
    try {
      return await outcome;
    } catch (error) {
      if (isUnavailable(error)) onFault(error);
      throw error;
    }
  }
  return {
    ...store,
    read: (query, input) => reporting(store.read(query, input)),
    list: (query, input) => reporting(store.list(query, input)),
    look: (query, input) => reporting(store.look(query, input)),
    write: (command, input, requestId, owner) => reporting(store.write(command, input, requestId, owner)),
    rehearse: (command, input) => reporting(store.rehearse(command, input)),
    epoch: () => reporting(store.epoch()),
  };
}
