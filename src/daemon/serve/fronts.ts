import cluster, { type Worker } from "node:cluster";
import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import type { Topic } from "../../core/store/store.ts";
import type { Addresses } from "../context/context.ts";
import type { Counters, RateUsage } from "../plugins/rate-windows.ts";
import { type FromFront, type FrontFailure, isOneOf, type ToFront } from "./front-messages.ts";

/** Fronts in processes of their own. */
export interface Fronts {
  url: string;
  /** Wakes what waits for a topic in them, where another node has made it. */
  signal(topic: Topic): void;
  /** Lets each finish what is in flight, and waits until all are gone. */
  stop(): Promise<void>;
}

interface FrontsOptions {
  /** How many processes. */
  count: number;
  port: number;
  addresses: Addresses;
  /** Where all of them count requests. */
  counters: Counters;
  log: Pick<Logger, "error" | "info">;
  /** Called when a front's commit made work. */
  wake(topic: Topic): void;
  /** Called with each line that a front logs. */
  keepLine(line: string): void;
  /** Added to the environment of each. */
  env: Readonly<Record<string, string | undefined>>;
}

/** A front that ends by itself is replaced after this long; one that cannot start, after twice as long each time. */
const REST_MS = 1_000;
const LONGEST_REST_MS = 30_000;
/** Longer than a front takes to finish what is in flight, and less than the daemon takes to stop. */
const STOP_LIMIT_MS = 26_250;

/** A process that answers HTTP could not start. */
class FrontError extends Error {
  readonly code: string;
  readonly hint: string;

  constructor({ code, message, hint }: FrontFailure) {
    super(message);
    this.name = "FrontError";
    this.code = code;
    this.hint = hint;
  }
}

const diedEarly: FrontFailure = {
  code: "front",
  message: "A process that answers HTTP ended before it listened.",
  hint: "Its own output says why.",
};

/**
 * Starts `count` processes of this program, with its arguments: each is a front on the same port. Resolves once all of
 * them listen; from then on one that ends is replaced, however often. Throws `FrontError` when one cannot
 * start.
 */
export async function startFronts(options: FrontsOptions): Promise<Fronts> {
  const { count, log } = options;
  const stopping = new AbortController();
  /** Those that receive the stop message. */
  const ready = new WeakSet<Worker>();
  let started = false;

  /** Starts one and replaces it after `rest` (ms) when it ends. Resolves with its address once it listens. */
  function start(rest: number): Promise<string> {
    const front = cluster.fork(options.env);
    const { pid } = front.process;
    // A message to one that has just ended: its exit follows.
    front.on("error", () => undefined);
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    let listens = false;
    let failure: FrontFailure | null = null;
    converse(front, options, {
      ready: () => void ready.add(front),
      listening(url) {
        listens = true;
        resolve(url);
      },
      failed(why) {
        failure = why;
        // It serves nothing: there is nothing to finish.
        front.process.kill("SIGKILL");
      },
    });
    front.on("exit", (code, signal) => {
      if (!listens) reject(new FrontError(failure ?? diedEarly));
      // The first ones start together or not at all.
      if (stopping.signal.aborted || !(started || listens)) return;
      if (listens) log.error({ pid, code, signal }, "a front ended by itself");
      else log.error({ pid, ...(failure ?? diedEarly), retry_in_ms: rest }, "a front could not start");
      replace(listens ? REST_MS : rest);
    });
    return promise;
  }

  function replace(rest: number): void {
    pause(rest, undefined, { signal: stopping.signal })
      .then(() => start(Math.min(rest * 2, LONGEST_REST_MS)))
      // It was stopped, or its exit is logged and it is replaced again.
      .catch(() => undefined);
  }

  async function stop(): Promise<void> {
    stopping.abort();
    await Promise.all(living().map((front) => end(front, ready.has(front))));
  }

  try {
    const [url = ""] = await Promise.all(Array.from({ length: count }, () => start(REST_MS)));
    started = true;
    return { url, signal: (topic) => postAll({ kind: "signal", topic }), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const living = () => Object.values(cluster.workers ?? {}).filter((front) => front !== undefined);

function postAll(message: ToFront): void {
  for (const front of living()) post(front, message);
}

function post(front: Worker, message: ToFront): void {
  if (front.isConnected()) front.send(message);
}

interface FrontEvents {
  /** It receives the stop message from now on. */
  ready(): void;
  listening(url: string): void;
  failed(why: FrontFailure): void;
}

/** Responds to the messages of a front. */
function converse(front: Worker, options: FrontsOptions, on: FrontEvents): void {
  const send = (message: ToFront) => post(front, message);
  front.on("message", (message: unknown) => {
    if (!isOneOf<FromFront>(message, ["ready", "listening", "failed", "tally", "wake", "line"])) return;
    switch (message.kind) {
      case "ready":
        on.ready();
        return send({ kind: "start", port: options.port, addresses: options.addresses });
      case "listening":
        return on.listening(message.url);
      case "failed":
        return on.failed({ code: message.code, message: message.message, hint: message.hint });
      case "wake":
        return options.wake(message.topic);
      case "line":
        return options.keepLine(message.line);
      case "tally": {
        const { id, tally, way, key, limit } = message;
        const answer = (usage: RateUsage) => send({ kind: "usage", id, usage });
        const usage = options.counters[tally][way](key, limit);
        return "then" in usage ? void usage.then(answer) : answer(usage);
      }
    }
  });
}

/** Lets a front finish what is in flight; one that is not `ready` serves nothing yet and is ended at once. */
async function end(front: Worker, ready: boolean): Promise<void> {
  if (front.isDead()) return;
  // Not `once` of node:events, which fails with a message that comes too late for it.
  const gone = new Promise<void>((resolve) => void front.once("exit", () => resolve()));
  if (!ready) front.process.kill("SIGKILL");
  else if (front.isConnected()) front.send({ kind: "stop" } satisfies ToFront);
  const cut = setTimeout(() => front.process.kill("SIGKILL"), STOP_LIMIT_MS);
  await gone;
  clearTimeout(cut);
}
