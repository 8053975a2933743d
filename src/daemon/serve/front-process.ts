import type { Worker } from "node:cluster";
import { type Topic, topics } from "../../core/store/store.ts";
import { watchOutages } from "../log/watch-outages.ts";
import { lendMetrics } from "../metrics/metrics.ts";
import type { Counters, RateUsage, Windows } from "../plugins/rate-windows.ts";
import { watchClock } from "./clock-watch.ts";
import { startFront } from "./front.ts";
import { type FromFront, type FrontFailure, isOneOf, type ToFront } from "./front-messages.ts";
import type { ServeDependencies, ServeOptions } from "./options.ts";

/**
 * Runs one front in this process, `self`, from the main process's start message to its stop message. It counts requests
 * at the main process, so that a limit holds over all fronts, and signals new work to it. Throws `ListenError`.
 */
export async function runFrontProcess(self: Worker, given: ServeDependencies, options: ServeOptions): Promise<void> {
  const channel = openChannel(self, given.store.signal);
  const watched = watchOutages(given.store, given.log.child({ pid: self.process.pid }));
  const deps = { ...given, store: watched.store };
  const silence = topics.map((topic) => deps.store.onSignal(topic, () => channel.send({ kind: "wake", topic })));
  const clocks = await watchClock(deps);
  channel.send({ kind: "ready" });
  const { port, addresses } = await channel.started;
  try {
    const front = await startFront({ ...deps, addresses, isClockOff: clocks.isOff }, options, {
      port,
      counters: channel.counters,
    });
    lendMetrics(front.registry);
    channel.send({ kind: "listening", url: front.url });
    await channel.stopped;
    await front.stop();
  } finally {
    for (const end of silence) end();
    await clocks.stop();
    watched.stop();
  }
}

/** Reports to the main process that this front cannot start. Resolves once that is sent. */
export async function reportFailure(self: Worker, { code, message, hint }: FrontFailure): Promise<void> {
  if (!self.isConnected()) return;
  const failed: FromFront = { kind: "failed", code, message, hint };
  await new Promise<void>((resolve) => self.process.send?.(failed, undefined, undefined, () => resolve()) ?? resolve());
}

/** Sends a front's log lines to the main process too, which writes the one file. */
export function linesToMain(self: Worker): { write(line: string): void } {
  return {
    write(line) {
      if (self.isConnected()) self.send({ kind: "line", line } satisfies FromFront);
    },
  };
}

/** The main process's messages; `signal` is called when another node has made what waits for a topic here. */
function openChannel(self: Worker, signal: (topic: Topic) => void) {
  const waiting = new Map<number, (usage: RateUsage) => void>();
  const started = Promise.withResolvers<ToFront & { kind: "start" }>();
  const stopped = Promise.withResolvers<void>();
  let asked = 0;

  self.on("message", (message: unknown) => {
    if (!isOneOf<ToFront>(message, ["start", "usage", "signal", "stop"])) return;
    if (message.kind === "start") started.resolve(message);
    else if (message.kind === "stop") stopped.resolve();
    else if (message.kind === "signal") signal(message.topic);
    else {
      waiting.get(message.id)?.(message.usage);
      waiting.delete(message.id);
    }
  });

  function send(message: FromFront): void {
    // When the main process ends, its fronts end too.
    if (self.isConnected()) self.send(message);
  }

  function windows(tally: keyof Counters): Windows {
    const ask = (way: "count" | "look") => (key: string, limit: number) =>
      new Promise<RateUsage>((resolve) => {
        waiting.set(++asked, resolve);
        send({ kind: "tally", id: asked, tally, way, key, limit });
      });
    return { count: ask("count"), look: ask("look") };
  }

  const counters: Counters = {
    clients: windows("clients"),
    partners: windows("partners"),
    addresses: windows("addresses"),
    tokenClients: windows("tokenClients"),
    tokenAddresses: windows("tokenAddresses"),
  };
  return { send, counters, started: started.promise, stopped: stopped.promise };
}
