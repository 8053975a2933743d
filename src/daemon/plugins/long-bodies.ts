import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "../../core/kernel/problem.ts";
import type { App } from "../context/fastify.ts";
import { principalOf } from "./access.ts";

/** Makes a JSON body piece by piece; what it throws before its first piece is the response. */
export type Pieces = () => AsyncGenerator<string>;

declare module "fastify" {
  interface FastifyInstance {
    /**
     * Sends a body that is too large to be held in memory, as its reader takes it. Each credential has one such body at
     * a time, and others wait for it. It is cut off when the caller may no longer read it, hangs up, takes nothing for
     * a minute, or the daemon stops.
     */
    sendLongBody(request: FastifyRequest, reply: FastifyReply, pieces: Pieces): Promise<void>;
  }
}

/** A reader that takes nothing for this long (ms) is gone. */
const STALL_MS = 60_000;

/** Adds `app.sendLongBody`. */
export function registerLongBodies(app: App): void {
  const takeTurn = createTurns();
  app.decorate("sendLongBody", async (request, reply, pieces) => {
    reply.type("application/json; charset=utf-8");
    // The length of a body that was not made is unknown.
    if (request.method === "HEAD") return reply.send(Readable.from([]));
    const ended = AbortSignal.any([closing(reply), app.lifecycle.stopping.signal]);
    const endTurn = await takeTurn(principalOf(request).clientId, ended);
    try {
      // It may have waited for long.
      await request.confirmAccess();
      const rest = pieces();
      const first = await rest.next();
      const stall = () => body.destroy(new Error("the reader of a long body took nothing for a minute"));
      const body: Readable = Readable.from(pacedPieces(request, first, { rest, stall }), {
        objectMode: false,
        signal: ended,
      });
      body.once("close", endTurn);
      return reply.send(body);
    } catch (error) {
      endTurn();
      throw error;
    }
  });
}

/** Aborted when the connection of a response is closed. */
function closing(reply: FastifyReply): AbortSignal {
  const closed = new AbortController();
  if (reply.raw.destroyed) closed.abort();
  else reply.raw.once("close", () => closed.abort());
  return closed.signal;
}

async function* pacedPieces(
  request: FastifyRequest,
  first: IteratorResult<string>,
  { rest, stall }: { rest: AsyncGenerator<string>; stall: () => void },
): AsyncGenerator<Buffer> {
  for (let piece = first; piece.done !== true; piece = await rest.next()) {
    const stalled = setTimeout(stall, STALL_MS).unref();
    try {
      yield Buffer.from(piece.value);
    } finally {
      clearTimeout(stalled);
    }
    // A read on SQLite awaits nothing that lets others run.
    await nextTurn();
    await request.confirmAccess();
  }
}

/** Turns by name, one at a time each, in the order they are asked for. */
function createTurns() {
  const last = new Map<string, Promise<void>>();
  /** Resolves with what ends the turn. Throws `unavailable` when `ended` is aborted before it begins. */
  return async (name: string, ended: AbortSignal): Promise<() => void> => {
    const before = last.get(name) ?? Promise.resolve();
    const { promise: own, resolve: endTurn } = Promise.withResolvers<void>();
    const done = before.then(() => own);
    last.set(name, done);
    void done.then(() => {
      if (last.get(name) === done) last.delete(name);
    });
    await Promise.race([before, abortOf(ended)]);
    if (!ended.aborted) return endTurn;
    endTurn();
    throw new Problem("unavailable", "The service stops.");
  };
}

function abortOf(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
