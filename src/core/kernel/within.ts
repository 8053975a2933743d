import { setTimeout as pause } from "node:timers/promises";

/** Whether `done` came about within `ms`. Rejects as it does until then; what it does later is not noticed. */
export async function within(done: Promise<unknown>, ms: number): Promise<boolean> {
  const cut = new AbortController();
  const late = pause(ms, false, { signal: cut.signal }).catch(() => false);
  try {
    return await Promise.race([done.then(() => true), late]);
  } finally {
    cut.abort();
  }
}
