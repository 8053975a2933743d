import { setImmediate as nextTurn } from "node:timers/promises";
import type { FastifyReply } from "fastify";
import { createLines } from "../../core/kernel/lines.ts";
import type { Owner } from "../../core/kernel/owner.ts";
import { Problem } from "../../core/kernel/problem.ts";
import type { App } from "../context/fastify.ts";

/** Aborted when the connection of a response is closed, or the daemon stops. */
export function endOf(app: App, reply: FastifyReply): AbortSignal {
  return AbortSignal.any([closing(reply), app.lifecycle.stopping.signal]);
}

/** Aborted when the connection of a response is closed. */
function closing(reply: FastifyReply): AbortSignal {
  const closed = new AbortController();
  if (reply.raw.destroyed) closed.abort();
  else reply.raw.once("close", () => closed.abort());
  return closed.signal;
}

/** Turns by name, so many at a time each, in the order they are asked for. */
export function createTurns(atOnce = 1) {
  const lines = new Map<string, { running: number; waiting: (() => void)[] }>();
  /** Resolves with what ends the turn. Throws `unavailable` when `ended` is aborted before it begins. */
  return async (name: string, ended: AbortSignal): Promise<() => void> => {
    const line = lines.get(name) ?? { running: 0, waiting: [] };
    lines.set(name, line);
    const endTurn = () => {
      const next = line.waiting.shift();
      if (next !== undefined) return next();
      line.running -= 1;
      if (line.running === 0) lines.delete(name);
    };
    if (line.running < atOnce) line.running += 1;
    else {
      const { promise: begins, resolve } = Promise.withResolvers<void>();
      line.waiting.push(resolve);
      await Promise.race([begins, abortOf(ended)]);
      const at = line.waiting.indexOf(resolve);
      if (at !== -1) {
        line.waiting.splice(at, 1);
        throw stops();
      }
    }
    if (!ended.aborted) return endTurn;
    endTurn();
    throw stops();
  };
}

function stops(): Problem {
  return new Problem("unavailable", "The service stops.");
}

function abortOf(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

// The event loop is one for the process, and so are its turns.
const lines = { production: createLines<() => void>(), sandbox: createLines<() => void>() };
let running = false;

async function run(): Promise<void> {
  running = true;
  while (lines.production.size() + lines.sandbox.size() > 0) {
    lines.production.take()?.();
    lines.sandbox.take()?.();
    await nextTurn();
  }
  running = false;
}

/**
 * Resolves when work of some milliseconds may begin: in each turn of the event loop one piece of production and one of
 * the sandbox, and within each the owners take turns. Requests that come meanwhile run between.
 */
export function loopTurn(owner: Owner | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  lines[owner?.environment ?? "production"].push(owner?.partnerId ?? "", resolve);
  if (!running) void run();
  return promise;
}
