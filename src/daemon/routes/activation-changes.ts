import type { Target } from "../../core/activations/activation.ts";
import { bulkCancel, bulkReschedule } from "../../core/activations/bulk.ts";
import { cancelActivation } from "../../core/activations/cancel.ts";
import { editIdentity } from "../../core/activations/edit-identity.ts";
import { type Edit, rescheduleActivation } from "../../core/activations/reschedule.ts";
import type { ActivationId } from "../../core/kernel/brand.ts";
import { type FieldErrors, invalid } from "../../core/kernel/problem.ts";
import type { DaemonContext } from "../context/context.ts";
import type { App, RoutePlugin } from "../context/fastify.ts";
import { callerOf } from "../plugins/access.ts";
import {
  Activation,
  ActivationEdit,
  ActivationIdentity,
  ActivationParams,
  BULK_LIMIT,
  BulkActivationResult,
  BulkCancel,
  BulkReschedule,
  Cancellation,
  IccidParams,
} from "../schemas/activation.ts";

/** A way to name the request that changes: the path up to it, and what differs in the API reference. */
interface Address {
  path: string;
  /** Its parameters are the target of the change. */
  params: typeof ActivationParams | typeof IccidParams;
  suffix: "" | "ByIccid";
  edit: { summary: string; description: string };
  identity: { summary: string; description: string };
  cancel: { summary: string; description: string };
}

const byIccid = "Finds your open request for the ICCID. Only while its status is pending; otherwise 409.";

const CORRECTS =
  "Fields that are left out stay; null clears one. The result is checked as a submission is. A passport drawn from " +
  "your pool goes back to it where another document replaces it.";

const addresses: readonly Address[] = [
  {
    path: "/api/v1/activations/:id",
    params: ActivationParams,
    suffix: "",
    edit: {
      summary: "Change the date or the note of a pending request",
      description: "Only while its status is pending; otherwise 409 with the current status.",
    },
    identity: {
      summary: "Correct the identity of a pending request",
      description: `Only while its status is pending; otherwise 409 with the current status. ${CORRECTS}`,
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
    identity: {
      summary: "Correct the identity of the pending request for an ICCID",
      description: `${byIccid} ${CORRECTS}`,
    },
    cancel: { summary: "Cancel the pending request for an ICCID", description: byIccid },
  },
];

/** Contract: Physical SIM activations: edit and cancel, by ID, by ICCID and in bulk. */
export const activationChangeRoutes: RoutePlugin = (app, context) => {
  for (const address of addresses) editRoute(app, context, address);
  for (const address of addresses) identityRoute(app, context, address);
  for (const address of addresses) cancelRoute(app, context, address);
  bulkRoutes(app, context);
};

function editRoute(app: App, { store }: DaemonContext, { path, params, suffix, edit: words }: Address): void {
  app.route({
    method: "PATCH",
    url: path,
    config: {
      scope: "write:orders",
      problems: ["validation", "invalid_activation_date", "not_found", "not_editable", "conflict"],
    },
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
      const target: Target = request.params;
      const caller = callerOf(request);
      const input = { ...caller, target, edit: request.body };
      return store.write(rescheduleActivation, input, request.id, caller.owner);
    },
  });
}

function identityRoute(app: App, { store }: DaemonContext, { path, params, suffix, identity }: Address): void {
  app.route({
    method: "PATCH",
    url: `${path}/identity`,
    config: {
      identity: true,
      scope: "write:orders",
      problems: ["validation", "missing_kyc", "not_found", "not_editable", "conflict"],
    },
    schema: {
      operationId: `correctActivationIdentity${suffix}`,
      tags: ["Activations"],
      ...identity,
      params,
      body: ActivationIdentity,
      response: { 200: Activation },
    },
    handler(request) {
      const edit = request.body;
      if (Object.values(edit).every((value) => value === undefined)) {
        throw invalid({ body: ["must have at least one field of the identity"] });
      }
      const target: Target = request.params;
      const caller = callerOf(request);
      return store.write(editIdentity, { ...caller, target, edit }, request.id, caller.owner);
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
      const target: Target = request.params;
      const caller = callerOf(request);
      const input = { ...caller, target, reason: request.body?.reason || null };
      return store.write(cancelActivation, input, request.id, caller.owner);
    },
  });
}

/** What is wrong with a body that has no field that may be edited. */
const NOTHING_TO_EDIT = "must have requested_activation_date, note or both";

/** Whether there is a field that may be edited. */
function hasEdit({ requested_activation_date, note }: Edit): boolean {
  return requested_activation_date !== undefined || note !== undefined;
}

function bulkRoutes(app: App, { store }: DaemonContext): void {
  app.route({
    method: "POST",
    url: "/api/v1/activations/bulk/cancel",
    config: { scope: "write:orders", problems: ["validation", "no_agent_record"] },
    schema: {
      operationId: "cancelActivations",
      tags: ["Activations"],
      summary: "Cancel up to 200 pending requests",
      description: "Each for itself; the outcomes keep the order of the request: ids, then ICCIDs.",
      body: BulkCancel,
      response: { 200: BulkActivationResult },
    },
    handler(request) {
      const { activation_ids = [], iccids = [], reason } = request.body;
      const targets: Target[] = [...activation_ids.map((id) => ({ id })), ...iccids.map((iccid) => ({ iccid }))];
      if (targets.length === 0 || targets.length > BULK_LIMIT) {
        throw invalid({ body: [`must name 1 to ${BULK_LIMIT} activations in activation_ids and iccids together`] });
      }
      const caller = callerOf(request);
      return store.write(bulkCancel, { ...caller, targets, reason: reason || null }, request.id, caller.owner);
    },
  });

  app.route({
    method: "POST",
    url: "/api/v1/activations/bulk/reschedule",
    config: { scope: "write:orders", problems: ["validation", "no_agent_record"] },
    schema: {
      operationId: "rescheduleActivations",
      tags: ["Activations"],
      summary: "Change date or note of up to 200 pending requests",
      description: "Each for itself; the outcomes keep the order of the request.",
      body: BulkReschedule,
      response: { 200: BulkActivationResult },
    },
    handler(request) {
      const items = itemsOf(request.body.items);
      const caller = callerOf(request);
      return store.write(bulkReschedule, { ...caller, items }, request.id, caller.owner);
    },
  });
}

type SentItem = { activation_id?: ActivationId; iccid?: string } & Edit;

/** Throws `validation` naming every item without exactly one identifier, or without anything to change. */
function itemsOf(sent: SentItem[]): { target: Target; edit: Edit }[] {
  const errors: FieldErrors = {};
  const items = sent.flatMap(({ activation_id: id, iccid, ...edit }, at) => {
    const target = targetOf(id, iccid);
    if (target === null) errors[`items.${at}`] = ["must have either activation_id or iccid"];
    else if (!hasEdit(edit)) errors[`items.${at}`] = [NOTHING_TO_EDIT];
    return target === null ? [] : [{ target, edit }];
  });
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return items;
}

function targetOf(id: ActivationId | undefined, iccid: string | undefined): Target | null {
  if (id !== undefined) return iccid === undefined ? { id } : null;
  return iccid === undefined ? null : { iccid };
}
