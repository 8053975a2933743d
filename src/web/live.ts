import { setTimeout as pause } from "node:timers/promises";
import { fastifySSE } from "@fastify/sse";
import type { FastifyReply, FastifyRequest } from "fastify";
import { lastNumbers } from "../core/feed/last-numbers.ts";
import { queueDepths } from "../core/insight/queues.ts";
import type { Read } from "../core/store/store.ts";
import type { DaemonContext } from "../daemon/context/context.ts";
import type { App } from "../daemon/context/fastify.ts";
import { createLongPolls, type LongPolls } from "../daemon/feed/long-polls.ts";
import { endOf } from "../daemon/plugins/turns.ts";
import type { ConsoleVisit, Face, PortalVisit } from "./session/visit.ts";

/** A stream ends after this long (ms), and the browser asks for another one: that a session ends shows by then. */
const LONGEST_MS = 5 * 60 * 1000;
/** Changes that follow each other are said once in this time (ms). */
const GATHER_MS = 2_000;
/** How often the console's queues are looked at (ms). */
const LOOK_MS = 10_000;

/** The path of a face's stream, under its base. */
const LIVE = "/live";

const needs = { portal: "overview", console: "today" } as const;

/**
 * A stream of `changed`: the portal's, as the partner has an event; the console's, as a queue grows or shrinks. The
 * page then asks for itself again. A visitor who may not see the overview gets 204, which ends it for good.
 */
export function registerLive(
  app: App,
  context: DaemonContext,
  face: Face,
  insideOf: (request: FastifyRequest) => PortalVisit | ConsoleVisit | null,
): void {
  const polls = createLongPolls(context.store);
  // Browsers ask again by themselves: a comment every now and then shows proxies that the stream is used.
  app.register(fastifySSE, { heartbeatInterval: 20_000 });
  app.register(async (scope: App) => {
    const config = { public: true, rateLimit: "exempt", page: needs[face] } as const;
    const options = { sse: "only" as const, compress: false as const, config, schema: { hide: true } };
    scope.get(LIVE, options, async (request: FastifyRequest, reply: FastifyReply) => {
      const inside = insideOf(request);
      if (inside === null) return reply.code(204).send();
      const ended = AbortSignal.any([endOf(app, reply), AbortSignal.timeout(LONGEST_MS)]);
      const changes = inside.face === "portal" ? ofPartner(inside, polls, ended) : ofQueues(inside, ended);
      // nginx would keep what is small until there is more.
      reply.header("x-accel-buffering", "no");
      return reply.sse.send(changes);
    });
  });
}

const CHANGED = { event: "changed", data: "" };

async function wait(ms: number, ended: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal: ended, ref: false }).catch(() => undefined);
}

async function* ofPartner({ owner, store, session }: PortalVisit, polls: LongPolls, ended: AbortSignal) {
  const leave = polls.enter({ ...owner, clientId: session.id });
  try {
    while (!ended.aborted) {
      const feeds = await store.read(lastNumbers, [owner.partnerId]);
      const position = feeds.find(({ environment }) => environment === owner.environment)?.last ?? 0;
      await polls.grown(owner, position, ended);
      if (ended.aborted) return;
      yield CHANGED;
      await wait(GATHER_MS, ended);
    }
  } finally {
    leave();
  }
}

/** What the queues look like, as one text. */
async function depths(q: Read): Promise<string> {
  return (await queueDepths(q)).map(({ waiting }) => waiting).join(",");
}

async function* ofQueues({ store }: ConsoleVisit, ended: AbortSignal) {
  let before = await store.read(depths, null);
  while (!ended.aborted) {
    await wait(LOOK_MS, ended);
    if (ended.aborted) return;
    const now = await store.read(depths, null);
    if (now !== before) yield CHANGED;
    before = now;
  }
}
