import { BEAT_MS, type BeatingDaemon, recordBeat, recordStop } from "../../core/platform/serving.ts";
import { isUnavailable } from "../../core/store/problems.ts";
import { startWorker } from "../workers/loop.ts";
import type { MainDependencies } from "./options.ts";

/** Whose heart it is, and how it does at each beat. */
interface HeartOf {
  node: string;
  url: string;
  state: () => Pick<BeatingDaemon, "clockAheadMs" | "runsCron" | "replica">;
}

/**
 * Records every 10 s that this daemon serves at `url`, and at its end that it was stopped. Resolves once the first
 * record is written, or cannot be.
 */
export async function startHeart(
  { store, clock, log, alone }: MainDependencies,
  { node, url, state }: HeartOf,
): Promise<{ stop(): Promise<void> }> {
  const since = clock.now();
  const daemon = { node, url, since, alone };
  const first = Promise.withResolvers<void>();
  const beating = startWorker({
    name: "heartbeat",
    pollMs: BEAT_MS,
    log,
    step: () => store.write(recordBeat, { ...daemon, ...state() }).finally(first.resolve),
  });
  await first.promise;
  return {
    async stop() {
      await beating.stop();
      await store.write(recordStop, daemon).catch((error: unknown) => {
        // Later it is found to be lost.
        if (!isUnavailable(error)) throw error;
      });
    },
  };
}
