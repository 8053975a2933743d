import { setTimeout as pause } from "node:timers/promises";
import { Type } from "typebox";
import { heldUpMs, isStuck } from "../../core/platform/blocked-writes.ts";
import { writeHeartbeat } from "../../core/platform/heartbeat.ts";
import type { DaemonContext } from "../context/context.ts";
import type { App } from "../context/fastify.ts";
import { named, OneOf } from "../schemas/common.ts";

const READ_LIMIT_MS = 2_000;

const Alive = Type.Object({ status: OneOf(["ok"]) }, named("Health"));
const Ready = Type.Object({ status: OneOf(["ready"]), writes: Type.Optional(OneOf(["held"])) }, named("Readiness"));
const Unavailable = Type.Object(
  { status: OneOf(["unavailable"]), reason: OneOf(["draining", "store", "writes_held", "clock"]) },
  named("Unreadiness"),
);

/** Callers share a heartbeat for this long (ms). */
const HEARTBEAT_MS = 1_000;

type Reason = "store" | "writes_held" | "clock";

/** Why requests cannot be served, or that they can; `held`: writes wait for another node's session meanwhile. */
type State = { reason: Reason } | { reason: null; held: boolean };

const succeeds = (outcome: Promise<unknown>): Promise<boolean> =>
  outcome.then(
    () => true,
    () => false,
  );

const late = <T>(value: () => T) => pause(READ_LIMIT_MS, undefined, { ref: false }).then(value);

/**
 * Whether the store takes writes. A write may wait longer for its turn: until it is settled, the one before it counts.
 */
function heartbeat({ store, clock }: DaemonContext): () => Promise<boolean> {
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

  return () => Promise.race([beat(), late(() => takesWrites)]);
}

/**
 * The store answers a read within 2 s and takes writes. While a suspended node holds up writes, for 10 s at most, this
 * one counts as ready: all nodes are in the same state, and a proxy that took them all out would refuse reads too.
 */
function readiness(context: DaemonContext): () => Promise<State> {
  const { store, isClockOff } = context;
  const takesWrites = heartbeat(context);
  return async () => {
    if (isClockOff?.() === true) return { reason: "clock" };
    const writing = takesWrites();
    const pulse = await Promise.race([store.ping().catch(() => null), late(() => null)]);
    if (pulse === null) return { reason: "store" };
    if (isStuck(pulse.heldMs)) return { reason: "writes_held" };
    return (await writing) ? { reason: null, held: heldUpMs(pulse) !== null } : { reason: "store" };
  };
}

/** /healthz: the process runs. /readyz: the store answers and takes writes, and the process is not being stopped. */
export function registerHealth(app: App, context: DaemonContext): void {
  const stateNow = readiness(context);
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
        description:
          "503 while the daemon stops (`draining`), its database does not respond within 2 s, also for want of a " +
          "free connection, or takes no writes (`store`), another node's session has held up writes for more than " +
          "15 s (`writes_held`), or the clock of the node differs from the database's by more than 2 s, or was not " +
          "compared with it yet (`clock`). " +
          "Writes that such a session holds up for less time only wait: then it is 200 with `writes: held`.",
        tags,
        response: { 200: Ready, 503: Unavailable },
      },
    },
    async (_request, reply) => {
      const { draining } = app.lifecycle;
      const state = draining ? ({ reason: "draining" } as const) : await stateNow();
      if (state.reason !== null) return reply.code(503).send({ status: "unavailable", reason: state.reason });
      return reply.send({ status: "ready", ...(state.held ? { writes: "held" } : {}) });
    },
  );
}
