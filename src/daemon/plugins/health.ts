import { setTimeout as pause } from "node:timers/promises";
import { Type } from "typebox";
import { writeHeartbeat } from "../../core/store/heartbeat.ts";
import type { DaemonContext } from "../context/context.ts";
import type { App } from "../context/fastify.ts";
import { named, OneOf } from "../schemas/common.ts";

const READ_LIMIT_MS = 2_000;

const Alive = Type.Object({ status: OneOf(["ok"]) }, named("Health"));
const Ready = Type.Object({ status: OneOf(["ready"]) }, named("Readiness"));
const Unavailable = Type.Object(
  { status: OneOf(["unavailable"]), reason: OneOf(["draining", "store"]) },
  named("Unreadiness"),
);

/** Callers share a heartbeat for this long (ms). */
const HEARTBEAT_MS = 1_000;

const succeeds = (outcome: Promise<unknown>): Promise<boolean> =>
  outcome.then(
    () => true,
    () => false,
  );

/**
 * Whether the store answers a read within 2 s and takes writes. A write may wait longer for its turn: until it
 * is settled, the one before it counts.
 */
function readiness({ store, clock }: DaemonContext): () => Promise<boolean> {
  let beating = Promise.resolve(true);
  let pending = false;
  let beganAt = Number.NEGATIVE_INFINITY;
  let takesWrites = true;

  function beat(): Promise<boolean> {
    const now = clock.now();
    if (pending || Math.abs(now - beganAt) < HEARTBEAT_MS) return beating;
    beganAt = now;
    pending = true;
    beating = succeeds(store.write(writeHeartbeat, null)).then((written) => {
      pending = false;
      takesWrites = written;
      return written;
    });
    return beating;
  }

  return async () => {
    const late = <T>(value: () => T) => pause(READ_LIMIT_MS, undefined, { ref: false }).then(value);
    const answers = Promise.race([succeeds(store.ping()), late(() => false)]);
    const writes = Promise.race([beat(), late(() => takesWrites)]);
    return (await answers) && (await writes);
  };
}

/** /healthz: the process runs. /readyz: the store answers and takes writes, and the process is not being stopped. */
export function registerHealth(app: App, context: DaemonContext): void {
  const isReady = readiness(context);
  const config = { public: true, rateLimit: "exempt" } as const;
  const tags = ["Operations"];
  app.get(
    "/healthz",
    {
      config,
      schema: {
        operationId: "getHealth",
        summary: "Whether the process runs",
        description: "Always 200 while the process serves requests.",
        tags,
        response: { 200: Alive },
      },
    },
    async () => ({ status: "ok" as const }),
  );
  app.get(
    "/readyz",
    {
      config,
      schema: {
        operationId: "getReadiness",
        summary: "Whether requests can be served",
        description: "503 while the daemon stops or its database does not respond.",
        tags,
        response: { 200: Ready, 503: Unavailable },
      },
    },
    async (_request, reply) => {
      const draining = app.lifecycle.draining;
      if (!draining && (await isReady())) return reply.send({ status: "ready" });
      return reply.code(503).send({ status: "unavailable", reason: draining ? "draining" : "store" });
    },
  );
}
