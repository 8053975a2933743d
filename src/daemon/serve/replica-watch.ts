import type { Logger } from "pino";
import type { ReplicaLook, ReplicaReads } from "../../core/store/store.ts";
import { startWorker } from "../workers/loop.ts";

/** How often the replica is looked at (ms). */
const LOOK_MS = 2_000;

/** Knows how the replica of this node follows. */
export interface ReplicaWatch {
  /** What was seen last; null: it has not looked yet. */
  seen(): ReplicaLook | null;
  stop(): Promise<void>;
}

/** Watches until it is stopped, and logs when reads go to the primary in place of the replica, and when to it again. */
export function watchReplica(replica: ReplicaReads, log: Pick<Logger, "error" | "warn" | "info">): ReplicaWatch {
  let seen: ReplicaLook | null = null;

  async function look(): Promise<void> {
    const before = seen?.state;
    const { state, lagMs, detail } = await replica.look();
    seen = { state, lagMs, detail };
    if (state === before) return;
    if (state === "used") log.info({ event: "replica_used", lag_ms: lagMs }, "lists are read from the replica");
    else log.warn({ event: "replica_unused", state, lag_ms: lagMs, detail }, "lists are read from the primary");
  }

  const watching = startWorker({ name: "replica watch", pollMs: LOOK_MS, step: look, log });
  return { seen: () => seen, stop: watching.stop };
}
