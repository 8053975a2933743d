import type { Target } from "../../core/activations/activation.ts";
import { bulkCancel, bulkReschedule } from "../../core/activations/bulk.ts";
import type { Edit } from "../../core/activations/reschedule.ts";
import type { ActivationId } from "../../core/kernel/brand.ts";
import { type FieldErrors, invalid } from "../../core/kernel/problem.ts";
import { actorOf } from "../context/actor.ts";
import type { RoutePlugin } from "../context/fastify.ts";
import { principalOf } from "../plugins/access.ts";
import { BULK_LIMIT, BulkActivationResult, BulkCancel, BulkReschedule } from "../schemas/activation.ts";
import { hasEdit, NOTHING_TO_EDIT } from "./activation-changes.ts";

/** Contract: Physical SIM activations, in bulk. */
export const bulkActivationRoutes: RoutePlugin = (app, { store }) => {
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
      const owner = principalOf(request);
      const { activation_ids = [], iccids = [], reason } = request.body;
      const targets: Target[] = [...activation_ids.map((id) => ({ id })), ...iccids.map((iccid) => ({ iccid }))];
      if (targets.length === 0 || targets.length > BULK_LIMIT) {
        throw invalid({ body: [`must name 1 to ${BULK_LIMIT} activations in activation_ids and iccids together`] });
      }
      return store.write(bulkCancel, { owner, targets, reason: reason || null, actor: actorOf(owner) }, request.id);
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
      const owner = principalOf(request);
      const items = itemsOf(request.body.items);
      return store.write(bulkReschedule, { owner, items, actor: actorOf(owner) }, request.id);
    },
  });
};

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
