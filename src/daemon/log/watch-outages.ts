import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import { writeHeartbeat } from "../../core/platform/heartbeat.ts";
import type { StoreUnavailable } from "../../core/store/problems.ts";
import { reportingFaults } from "../../core/store/problems.ts";
import type { Store } from "../../core/store/store.ts";

/** How often an unavailable database is asked whether it takes writes again. */
const PROBE_MS = 1_000;

/** A store whose outages are logged. */
export interface Watched {
  store: Store;
  /** Watches no more. The store stays open. */
  stop(): void;
}

/**
 * Logs an outage of the database once when it starts and once when it ends, however many calls it fails: it ends when
 * the database takes a write. The log leaves out the lines of the calls themselves (logger.ts). Each sealed value that
 * a list shows as unreadable is logged once, too.
 */
export function watchOutages(store: Store, log: Pick<Logger, "error" | "info">): Watched {
  const stopping = new AbortController();
  const { signal } = stopping;
  let out = false;
  store.onUnreadable(({ cell, message, hint }) => {
    log.error({ event: "value_unreadable", ...cell, detail: message, hint }, "a sealed value cannot be read");
  });

  async function takesWrites(): Promise<void> {
    while (!signal.aborted) {
      await pause(PROBE_MS, undefined, { signal, ref: false }).catch(() => undefined);
      const written = await store.write(writeHeartbeat, null).then(
        () => true,
        () => false,
      );
      if (written) return;
    }
  }

  async function follow({ reason, message, hint }: StoreUnavailable): Promise<void> {
    const began = performance.now();
    out = true;
    log.error({ event: "store_unavailable", reason, detail: message, hint }, "the database is unavailable");
    await takesWrites();
    out = false;
    if (signal.aborted) return;
    const ms = Math.round(performance.now() - began);
    log.info({ event: "store_available", reason, ms }, "the database is available again");
  }

  return {
    store: reportingFaults(store, (fault) => {
      if (!out && !signal.aborted) void follow(fault);
    }),
    stop: () => stopping.abort(),
  };
}
