import type { Target } from "../../core/activations/activation.ts";
import { cancelActivation } from "../../core/activations/cancel.ts";
import { type Edit, rescheduleActivation } from "../../core/activations/reschedule.ts";
import { invalid } from "../../core/kernel/problem.ts";
import { actorOf } from "../context/actor.ts";
import type { DaemonContext } from "../context/context.ts";
import type { App, RoutePlugin } from "../context/fastify.ts";
import { principalOf } from "../plugins/access.ts";
import { Activation, ActivationEdit, ActivationParams, Cancellation, IccidParams } from "../schemas/activation.ts";

/** A way to name the request that changes: the path up to it, and what differs in the API reference. */
interface Address {
  path: string;
  /** Its parameters are the target of the change. */
  params: typeof ActivationParams | typeof IccidParams;
  suffix: "" | "ByIccid";
  edit: { summary: string; description: string };
  cancel: { summary: string; description: string };
}

const byIccid = "Finds your open request for the ICCID. Only while its status is pending; otherwise 409.";

const addresses: readonly Address[] = [
  {
    path: "/api/v1/activations/:id",
    params: ActivationParams,
    suffix: "",
    edit: {
      summary: "Change the date or the note of a pending request",
      description: "Only while its status is pending; otherwise 409 with the current status.",
    },
    cancel: {
      summary: "Cancel a pending request",
      description: "Only while its status is pending. Releases a drawn passport; the ICCID can be submitted again.",
    },
  },
  {
    path: "/api/v1/activations/by-iccid/:iccid",
    params: IccidParams,
    suffix: "ByIccid",
    edit: { summary: "Change the date or the note of the pending request for an ICCID", description: byIccid },
    cancel: { summary: "Cancel the pending request for an ICCID", description: byIccid },
  },
];

/** Contract: Physical SIM activations: edit and cancel, by ID and by ICCID. */
export const activationChangeRoutes: RoutePlugin = (app, context) => {
  for (const address of addresses) editRoute(app, context, address);
  for (const address of addresses) cancelRoute(app, context, address);
};

function editRoute(app: App, { store }: DaemonContext, { path, params, suffix, edit: words }: Address): void {
  app.route({
    method: "PATCH",
    url: path,
    config: { scope: "write:orders", problems: ["validation", "invalid_activation_date", "not_found", "not_editable"] },
    schema: {
      operationId: `editActivation${suffix}`,
      tags: ["Activations"],
      ...words,
      params,
      body: ActivationEdit,
      response: { 200: Activation },
    },
    async handler(request) {
      if (!hasEdit(request.body)) throw invalid({ body: [NOTHING_TO_EDIT] });
      const owner = principalOf(request);
      const target: Target = request.params;
      const input = { owner, target, edit: request.body, actor: actorOf(owner) };
      return store.write(rescheduleActivation, input, request.id);
    },
  });
}

function cancelRoute(app: App, { store }: DaemonContext, { path, params, suffix, cancel: words }: Address): void {
  app.route({
    method: "POST",
    url: `${path}/cancel`,
    config: { scope: "write:orders", problems: ["validation", "not_found", "not_cancellable"] },
    schema: {
      operationId: `cancelActivation${suffix}`,
      tags: ["Activations"],
      ...words,
      params,
      body: Cancellation,
      response: { 200: Activation },
    },
    handler(request) {
      const owner = principalOf(request);
      const target: Target = request.params;
      const input = { owner, target, reason: request.body?.reason || null, actor: actorOf(owner) };
      return store.write(cancelActivation, input, request.id);
    },
  });
}

/** What is wrong with a body that has no field that may be edited. */
export const NOTHING_TO_EDIT = "must have requested_activation_date, note or both";

/** Whether there is a field that may be edited. */
export function hasEdit({ requested_activation_date, note }: Edit): boolean {
  return requested_activation_date !== undefined || note !== undefined;
}
