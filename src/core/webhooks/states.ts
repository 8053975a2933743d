import type { Transitions } from "../kernel/state-machine.ts";
import type { WebhookStatus } from "../store/schema/values.ts";
import type { DeliveryStatus } from "../store/schema/webhooks.ts";

/** Contract: Webhook status. 410 Gone or the operator disables; deliveries exhausted in a row fail it. */
export const webhookTransitions: Transitions<WebhookStatus> = {
  active: ["disabled", "failed"],
  disabled: ["active"],
  failed: ["active", "disabled"],
};

/** One event on its way to one endpoint. What was settled becomes pending again by a redelivery only. */
export const deliveryTransitions: Transitions<DeliveryStatus> = {
  pending: ["delivered", "exhausted", "held"],
  held: ["pending", "delivered"],
  exhausted: ["pending"],
  delivered: ["pending"],
};
