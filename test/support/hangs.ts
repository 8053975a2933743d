import { setTimeout as pause } from "node:timers/promises";

/** How long a wait may take before it counts as a hang. No limit of speed: the suite has to pass on a busy machine. */
export const HANG_MS = 120_000;

/** Resolves as `work` does; rejects with what `describe` returns once the wait counts as a hang. */
export async function orHang<T>(work: Promise<T>, describe: () => string): Promise<T> {
  const over = new AbortController();
  const hang = pause(HANG_MS, undefined, { signal: over.signal, ref: false }).then(() => {
    throw new Error(`${describe()} (after ${HANG_MS / 1000} s)`);
  });
  // Ending the wait rejects it.
  hang.catch(() => undefined);
  try {
    return await Promise.race([work, hang]);
  } finally {
    over.abort();
  }
}

/** Repeats until `holds` accepts the result, and returns it. What is many things after another may take longer. */
export async function eventually<T>(
  ask: () => T | Promise<T>,
  holds: (answer: T) => boolean,
  hangMs = HANG_MS,
): Promise<T> {
  const until = performance.now() + hangMs;
  for (let wait = 10; ; wait = Math.min(wait * 2, 200)) {
    const answer = await ask();
    if (holds(answer)) return answer;
    if (performance.now() > until) throw new Error(`it did not happen; the last answer: ${JSON.stringify(answer)}`);
    await pause(wait);
  }
}

/** A count of answers down to the one that something is to happen at: `due` resolves with it, or rejects as a hang. */
export function answerCount(left: number): { answered: () => void; due: () => Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const answered = () => {
    left -= 1;
    if (left === 0) resolve();
  };
  return { answered, due: () => orHang(promise, () => `${left} answers are missing`) };
}
