import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { FastifyRequest } from "fastify";
import type { App } from "../context/fastify.ts";
import { principalOf } from "./access.ts";
import { createTurns, endOf } from "./turns.ts";

/** Makes a body piece by piece; what it throws before its first piece is the response. */
export type Pieces = () => AsyncGenerator<string | Buffer>;

declare module "fastify" {
  interface FastifyInstance {
    /**
     * Sends a body that is too large to be held in memory, as its reader takes it: JSON where no other media `type` is
     * given. Each credential has one such body at a time, and all of a partner five together; others wait. It is cut
     * off when the caller may no longer read it, hangs up, takes nothing for a minute, or the daemon stops.
     */
    sendLongBody(request: FastifyRequest, reply: FastifyReply, pieces: Pieces, type?: string): Promise<void>;
  }
}

/** Bodies at a time of all credentials of a partner in one environment. */
const MOST_OF_PARTNER = 5;

/** A reader that takes nothing for this long (ms) is gone. */
const STALL_MS = 60_000;

/** Adds `app.sendLongBody`. */
export function registerLongBodies(app: App): void {
  const recordAndClaim = createTurns();
  const takePartnerTurn = createTurns(MOST_OF_PARTNER);
  app.decorate("sendLongBody", async (request, reply, pieces, type = "application/json; charset=utf-8") => {
    reply.type(type);
    // The length of a body that was not made is unknown.
    if (request.method === "HEAD") return reply.send(Readable.from([]));
    const ended = endOf(app, reply);
    const { clientId, partnerId, environment } = principalOf(request);
    const endOwn = await recordAndClaim(clientId, ended);
    const endShared = await takePartnerTurn(`${partnerId} ${environment}`, ended).catch((error: unknown) => {
      endOwn();
      throw error;
    });
    const endTurn = () => {
      endOwn();
      endShared();
    };
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

async function* pacedPieces(
  request: FastifyRequest,
  first: IteratorResult<string | Buffer>,
  { rest, stall }: { rest: AsyncGenerator<string | Buffer>; stall: () => void },
): AsyncGenerator<Buffer> {
  for (let piece = first; piece.done !== true; piece = await rest.next()) {
    const stalled = setTimeout(stall, STALL_MS).unref();
    try {
      yield typeof piece.value === "string" ? Buffer.from(piece.value) : piece.value;
    } finally {
      clearTimeout(stalled);
    }
    // A read on SQLite awaits nothing that lets others run.
    await nextTurn();
    await request.confirmAccess();
  }
}
