import { afterAll, beforeAll, onTestFinished } from "vitest";

/** Registers a cleanup, and runs it when its user has ended. */
export type Owner = (cleanup: () => unknown) => void;

/** The test that is running. */
export const thisTest: Owner = (cleanup) => onTestFinished(async () => void (await cleanup()));

/**
 * What `start` makes once for all tests of a file (or of a `describe`), which removes it after the last one, in reverse
 * order. Called outside of tests; returns how a test reaches it.
 */
export function forAllTests<T>(start: (owner: Owner) => Promise<T>): () => T {
  const cleanups: (() => unknown)[] = [];
  let started: { value: T } | null = null;
  beforeAll(async () => {
    started = { value: await start((cleanup) => cleanups.push(cleanup)) };
  });
  afterAll(async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  });
  return () => {
    if (started === null) throw new Error("it is started before the first test, and not while tests are collected");
    return started.value;
  };
}
