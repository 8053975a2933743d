import type { WebhookId } from "../../../core/kernel/brand.ts";
import type { OwnerOf } from "../../client/caller.ts";

/** Whose the endpoint is, by its id. */
export function ownerOfWebhook(typed: string): OwnerOf {
  return async (store) => {
    const { requireWebhook } = await import("../../../core/webhooks/webhook.ts");
    // What was typed is looked up; anything that is no endpoint's id is not found.
    return store.read(requireWebhook, typed.trim().toLowerCase() as WebhookId);
  };
}
