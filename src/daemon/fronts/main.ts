import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import type { Clock } from "../../core/kernel/clock.ts";
import type { Topic } from "../../core/store/store.ts";
import type { Addresses } from "../context.ts";
import { ListenError } from "../listen.ts";
import { memoryCounters } from "../windows.ts";
import { type FromFront, isOurs, type ToFront } from "./messages.ts";

/** Fronts in processes of their own. */
export interface Fronts {
  url: string;
  /** Lets each finish what is in flight, and waits until all are gone. */
  stop(): Promise<void>;
}

interface FrontsOptions {
  /** How many processes. */
  count: number;
  port: number;
  addresses: Addresses;
  clock: Clock;
  log: Pick<Logger, "error" | "info">;
  /** Called when a front's commit made work. */
  wake(topic: Topic): void;
  /** Called with each line that a front logs. */
  keepLine(line: string): void;
}

/** A front that ends by itself is replaced after this long. */
const REST_MS = 1_000;
/** Longer than a front takes to finish what is in flight. */
const PATIENCE_MS = 35_000;

const diedEarly = ["A process that answers HTTP ended before it listened.", "What it said stands above."] as const;

/**
 * Starts `count` processes of this very program, with its arguments: each is a front on the one port. Resolves once all
 * of them listen; one that dies later is replaced. Throws `ListenError` when the address cannot be had.
 */
export async function startFronts(options: FrontsOptions): Promise<Fronts> {
  const { count, log } = options;
  const counters = memoryCounters(options.clock);
  let stopping = false;

  /** Starts one and looks after it; resolves with its address once it listens. */
  function start(): Promise<string> {
    const front = cluster.fork();
    front.on("exit", (code, signal) => {
      if (stopping) return;
      log.error({ pid: front.process.pid, code, signal }, "a front ended by itself");
      void pause(REST_MS).then(() => {
        if (!stopping) start().catch((error: unknown) => log.error({ err: error }, "no front could be started"));
      });
    });
    return listening(front);
  }

  function listening(front: Worker): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const tell = (message: ToFront) => void (front.isConnected() && front.send(message));
    front.on("message", (message: unknown) => {
      if (!isOurs<FromFront>(message, ["ready", "listening", "failed", "tally", "wake", "line"])) return;
      switch (message.kind) {
        case "ready":
          return tell({ kind: "start", port: options.port, addresses: options.addresses });
        case "listening":
          return resolve(message.url);
        case "failed":
          return reject(new ListenError(message.message, message.hint, undefined));
        case "wake":
          return options.wake(message.topic);
        case "line":
          return options.keepLine(message.line);
        case "tally": {
          const { id, tally, way, key, limit } = message;
          return tell({ kind: "standing", id, standing: counters[tally][way](key, limit) });
        }
      }
    });
    front.on("exit", () => reject(new ListenError(...diedEarly, undefined)));
    return promise;
  }

  async function stop(): Promise<void> {
    stopping = true;
    await Promise.all(
      Object.values(cluster.workers ?? {}).flatMap((front) => (front === undefined ? [] : [end(front)])),
    );
  }

  try {
    const [url = ""] = await Promise.all(Array.from({ length: count }, start));
    return { url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function end(front: Worker): Promise<void> {
  if (front.isDead()) return;
  const gone = once(front, "exit");
  if (front.isConnected()) front.send({ kind: "stop" } satisfies ToFront);
  const cut = setTimeout(() => front.process.kill("SIGKILL"), PATIENCE_MS);
  await gone;
  clearTimeout(cut);
}
