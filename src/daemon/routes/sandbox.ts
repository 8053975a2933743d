import { advanceClock, resetClock, sandboxClock } from "../../core/sandbox/clock.ts";
import { reportSandboxEsim } from "../../core/sandbox/report.ts";
import type { DaemonContext } from "../context/context.ts";
import type { App, RoutePlugin } from "../context/fastify.ts";
import { callerOf, principalOf } from "../plugins/access.ts";
import { requireSandbox } from "../plugins/sandbox-only.ts";
import { EsimStatus, IccidParams } from "../schemas/esim.ts";
import { Advance, SandboxClock, SandboxEsimReport } from "../schemas/sandbox.ts";

/** The sandbox kit: a clock to advance, and reports on sandbox eSIMs. Beyond the contract. */
export const sandboxRoutes: RoutePlugin = (app, context) => {
  clockRoutes(app, context);
  esimRoute(app, context);
};

const WHAT_MOVES =
  "The clock is the partner's: all its sandbox credentials share it. It moves the times of sandbox orders, eSIMs and " +
  "their events, the dates that activation requests of orders are checked against, and what expires. Tokens, limits, " +
  "retries, signatures and retention keep the system's time, and so do physical-SIM activations, which are real.";

function clockRoutes(app: App, { store }: DaemonContext): void {
  const url = "/api/v1/sandbox/clock";

  app.route({
    method: "GET",
    url,
    config: { scope: "read:orders", problems: ["sandbox_only"] },
    schema: {
      operationId: "getSandboxClock",
      tags: ["Sandbox"],
      summary: "Read the sandbox clock",
      description: "`status` is `advancing` while what an advance made due is still being done.",
      response: { 200: SandboxClock },
    },
    async handler(request) {
      const { partnerId } = requireSandbox(principalOf(request));
      return store.read(sandboxClock, partnerId);
    },
  });

  app.route({
    method: "POST",
    url,
    config: { scope: "write:orders", problems: ["sandbox_only"] },
    schema: {
      operationId: "advanceSandboxClock",
      tags: ["Sandbox"],
      summary: "Advance the sandbox clock",
      description:
        "Forward only, at most 400 days ahead in all. What becomes due is done within seconds, in the order of the " +
        `moments at which it came due. ${WHAT_MOVES}`,
      body: Advance,
      response: { 200: SandboxClock },
    },
    async handler(request) {
      const { owner, actor } = callerOf(request);
      const { partnerId } = requireSandbox(owner);
      return store.write(advanceClock, { partnerId, actor, advance: request.body.advance }, request.id, owner);
    },
  });

  app.route({
    method: "DELETE",
    url,
    config: { scope: "write:orders", problems: ["sandbox_only"] },
    schema: {
      operationId: "resetSandboxClock",
      tags: ["Sandbox"],
      summary: "Set the sandbox clock back to the system's time",
      description: "Records keep the times that they have; what lies ahead then waits until its time comes.",
      response: { 200: SandboxClock },
    },
    async handler(request) {
      const { owner, actor } = callerOf(request);
      const { partnerId } = requireSandbox(owner);
      return store.write(resetClock, { partnerId, actor }, request.id, owner);
    },
  });
}

function esimRoute(app: App, { store }: DaemonContext): void {
  app.route({
    method: "POST",
    url: "/api/v1/sandbox/esims/:iccid",
    config: {
      scope: "write:orders",
      problems: ["sandbox_only", "invalid_iccid", "esim_forbidden", "not_found", "conflict"],
    },
    schema: {
      operationId: "reportSandboxEsim",
      tags: ["Sandbox"],
      summary: "Report what happened to a sandbox eSIM",
      description:
        "Applied as a supplier's report on a real eSIM is: the same states and the same events, at the time of the " +
        "sandbox clock. An eSIM that is in that state already stays as it is. 409 `conflict` for a move that the " +
        "table of states does not have.",
      params: IccidParams,
      body: SandboxEsimReport,
      response: { 200: EsimStatus },
    },
    async handler(request) {
      const { owner, actor } = callerOf(request);
      const { partnerId, environment } = requireSandbox(owner);
      const { event, used_mb: usedMb = null } = request.body;
      const report = { partnerId, environment, iccid: request.params.iccid, event, usedMb, actor };
      return store.write(reportSandboxEsim, report, request.id, owner);
    },
  });
}
