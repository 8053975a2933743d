import type { Worker } from "node:cluster";
import { topics } from "../../core/store/store.ts";
import { watchOutages } from "../log/outages.ts";
import { lendMetrics } from "../metrics/metrics.ts";
import type { Counters, Standing, Windows } from "../plugins/rate-windows.ts";
import { startFront } from "./front.ts";
import { type FromFront, type FrontFailure, isOurs, type ToFront } from "./front-messages.ts";
import type { ServeDependencies, ServeOptions } from "./options.ts";

/**
 * Runs one front in this process, `self`, at the word of the main process, until that says stop. It counts requests at
 * the main process, so that a limit holds over all fronts, and tells it of work that commits have made. Throws
 * `ListenError`.
 */
export async function runFrontProcess(self: Worker, given: ServeDependencies, options: ServeOptions): Promise<void> {
  const channel = openChannel(self);
  const watched = watchOutages(given.store, given.log.child({ pid: self.process.pid }));
  const deps = { ...given, store: watched.store };
  const silence = topics.map((topic) => deps.store.onSignal(topic, () => channel.tell({ kind: "wake", topic })));
  channel.tell({ kind: "ready" });
  const { port, addresses } = await channel.started;
  try {
    const front = await startFront({ ...deps, addresses }, options, { port, counters: channel.counters });
    lendMetrics(front.registry);
    channel.tell({ kind: "listening", url: front.url });
    await channel.stopped;
    await front.stop();
  } finally {
    for (const end of silence) end();
    watched.stop();
  }
}

/** Reports to the main process that this front cannot start. Resolves once that is sent. */
export async function reportFailure(self: Worker, { code, message, hint }: FrontFailure): Promise<void> {
  if (!self.isConnected()) return;
  const failed: FromFront = { kind: "failed", code, message, hint };
  await new Promise<void>((resolve) => self.process.send?.(failed, undefined, undefined, () => resolve()) ?? resolve());
}

/** Where a front's log goes beside its output: to the main process, which keeps the one file. */
export function linesToMain(self: Worker): { write(line: string): void } {
  return {
    write(line) {
      if (self.isConnected()) self.send({ kind: "line", line } satisfies FromFront);
    },
  };
}

function openChannel(self: Worker) {
  const waiting = new Map<number, (standing: Standing) => void>();
  const started = Promise.withResolvers<ToFront & { kind: "start" }>();
  const stopped = Promise.withResolvers<void>();
  let asked = 0;

  self.on("message", (message: unknown) => {
    if (!isOurs<ToFront>(message, ["start", "standing", "stop"])) return;
    if (message.kind === "start") started.resolve(message);
    else if (message.kind === "stop") stopped.resolve();
    else {
      waiting.get(message.id)?.(message.standing);
      waiting.delete(message.id);
    }
  });

  function tell(message: FromFront): void {
    // A main process that is gone takes its fronts with it; nobody is left to tell.
    if (self.isConnected()) self.send(message);
  }

  function windows(tally: keyof Counters): Windows {
    const ask = (way: "count" | "look") => (key: string, limit: number) =>
      new Promise<Standing>((resolve) => {
        waiting.set(++asked, resolve);
        tell({ kind: "tally", id: asked, tally, way, key, limit });
      });
    return { count: ask("count"), look: ask("look") };
  }

  const counters: Counters = {
    clients: windows("clients"),
    addresses: windows("addresses"),
    tokenClients: windows("tokenClients"),
    tokenAddresses: windows("tokenAddresses"),
  };
  return { tell, counters, started: started.promise, stopped: stopped.promise };
}
