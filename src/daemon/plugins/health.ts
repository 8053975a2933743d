import { setTimeout as pause } from "node:timers/promises";
import { Type } from "typebox";
import type { DaemonContext } from "../context.ts";
import type { App } from "../http.ts";

const PATIENCE = 2_000;

const Alive = Type.Object({ status: Type.Literal("ok") });
const Ready = Type.Object({ status: Type.Literal("ready") });
const Unavailable = Type.Object({ status: Type.Literal("unavailable"), reason: Type.Enum(["draining", "store"]) });

async function storeAnswers(context: DaemonContext): Promise<boolean> {
  const late = pause(PATIENCE, false, { ref: false });
  const answer = context.store.ping().then(
    () => true,
    () => false,
  );
  return Promise.race([answer, late]);
}

/** /healthz: the process runs. /readyz: it can serve, that is the store answers and it is not being stopped. */
export function registerHealth(app: App, context: DaemonContext): void {
  const config = { public: true, rateLimit: "exempt" } as const;
  const tags = ["Operations"];
  app.get(
    "/healthz",
    {
      config,
      schema: { operationId: "getHealth", summary: "Whether the process runs", tags, response: { 200: Alive } },
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
        tags,
        response: { 200: Ready, 503: Unavailable },
      },
    },
    async (_request, reply) => {
      const draining = app.lifecycle.draining;
      if (!draining && (await storeAnswers(context))) return reply.send({ status: "ready" });
      return reply.code(503).send({ status: "unavailable", reason: draining ? "draining" : "store" });
    },
  );
}
