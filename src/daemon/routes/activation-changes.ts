import type { FastifyRequest } from "fastify";
import type { Target } from "../../core/activations/activation.ts";
import { cancelActivation } from "../../core/activations/cancel.ts";
import { type Edit, rescheduleActivation } from "../../core/activations/reschedule.ts";
import { invalid } from "../../core/kernel/problem.ts";
import { actorOf } from "../context/actor.ts";
import type { DaemonContext } from "../context/context.ts";
import type { App, RoutePlugin } from "../context/fastify.ts";
import { principalOf } from "../plugins/access.ts";
import { Activation, ActivationEdit, ActivationParams, Cancellation, IccidParams } from "../schemas/activation.ts";

const editProblems = ["validation", "invalid_activation_date", "not_found", "not_editable"] as const;
const cancelProblems = ["validation", "not_found", "not_cancellable"] as const;

/** Contract: Physical SIM activations: edit and cancel, by id and by ICCID. */
export const activationChangeRoutes: RoutePlugin = (app, context) => {
  editRoutes(app, context);
  cancelRoutes(app, context);
};

function editRoutes(app: App, context: DaemonContext): void {
  app.route({
    method: "PATCH",
    url: "/api/v1/activations/:id",
    config: { scope: "write:orders", problems: editProblems },
    schema: {
      operationId: "editActivation",
      tags: ["Activations"],
      summary: "Change the date or the note of a pending request",
      description: "Only while its status is pending; otherwise 409 with the current status.",
      params: ActivationParams,
      body: ActivationEdit,
      response: { 200: Activation },
    },
    handler: (request) => edit(context, request, { id: request.params.id }, request.body),
  });

  app.route({
    method: "PATCH",
    url: "/api/v1/activations/by-iccid/:iccid",
    config: { scope: "write:orders", problems: editProblems },
    schema: {
      operationId: "editActivationByIccid",
      tags: ["Activations"],
      summary: "Change the date or the note of the pending request for an ICCID",
      description: "Finds your open request for the ICCID. Only while its status is pending; otherwise 409.",
      params: IccidParams,
      body: ActivationEdit,
      response: { 200: Activation },
    },
    handler: (request) => edit(context, request, { iccid: request.params.iccid }, request.body),
  });
}

function cancelRoutes(app: App, context: DaemonContext): void {
  app.route({
    method: "POST",
    url: "/api/v1/activations/:id/cancel",
    config: { scope: "write:orders", problems: cancelProblems },
    schema: {
      operationId: "cancelActivation",
      tags: ["Activations"],
      summary: "Cancel a pending request",
      description: "Only while its status is pending. Releases a drawn passport; the ICCID can be submitted again.",
      params: ActivationParams,
      body: Cancellation,
      response: { 200: Activation },
    },
    handler: (request) => cancel(context, request, { id: request.params.id }, request.body),
  });

  app.route({
    method: "POST",
    url: "/api/v1/activations/by-iccid/:iccid/cancel",
    config: { scope: "write:orders", problems: cancelProblems },
    schema: {
      operationId: "cancelActivationByIccid",
      tags: ["Activations"],
      summary: "Cancel the pending request for an ICCID",
      description: "Finds your open request for the ICCID. Only while its status is pending; otherwise 409.",
      params: IccidParams,
      body: Cancellation,
      response: { 200: Activation },
    },
    handler: (request) => cancel(context, request, { iccid: request.params.iccid }, request.body),
  });
}

async function edit({ store }: DaemonContext, request: FastifyRequest, target: Target, change: Edit) {
  if (!hasEdit(change)) throw invalid({ body: [NOTHING_TO_EDIT] });
  const owner = principalOf(request);
  return store.write(rescheduleActivation, { owner, target, edit: change, actor: actorOf(owner) }, request.id);
}

/** What a body without any editable field is told. */
export const NOTHING_TO_EDIT = "must have requested_activation_date, note or both";

/** Whether there is a field that may be edited. */
export function hasEdit({ requested_activation_date, note }: Edit): boolean {
  return requested_activation_date !== undefined || note !== undefined;
}

function cancel(
  { store }: DaemonContext,
  request: FastifyRequest,
  target: Target,
  body: { reason?: string } | undefined,
) {
  const owner = principalOf(request);
  const input = { owner, target, reason: body?.reason || null, actor: actorOf(owner) };
  return store.write(cancelActivation, input, request.id);
}
