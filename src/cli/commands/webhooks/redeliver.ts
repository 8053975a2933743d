import type { DeliveryId, WebhookId } from "../../../core/kernel/brand.ts";
import { counted } from "../../../core/kernel/counted.ts";
import type { Opened } from "../../client/api.ts";
import { command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { optionalArgument, text } from "../../kernel/input.ts";
import { momentOf, since as sinceOption } from "../../kernel/input-time.ts";
import { OPERATOR } from "../../place/operator.ts";

export default command({
  target: "operator",
  effects: "A running daemon sends them at once, with all their tries. With --since: what was held or exhausted.",
  json: "{redelivered}",
  examples: ["webhooks redeliver 019c…", "webhooks redeliver --endpoint 019c… --since 2026-03-01T12:00:00Z"],
  args: { id: optionalArgument("delivery-id", "one delivery, whatever its status") },
  options: {
    endpoint: text("--endpoint <id>", "all of this endpoint's that did not arrive"),
    since: sinceOption("--since <time>", "from this time on: 2026-03-01T12:00:00Z, or 24h for that long ago"),
  },
  async run(context, { id, endpoint, since }) {
    if ((id === undefined) === (endpoint === undefined || since === undefined)) {
      throw usageError("Name one delivery, or an endpoint and a time.", "Give DELIVERY_ID, or --endpoint and --since.");
    }
    const count = await context.withStore(async ({ store, clock }) => {
      // Ids that were typed are looked up; anything else is not found.
      if (id !== undefined) return redeliverOne(store, id as DeliveryId);
      const from = since === undefined ? 0 : momentOf(since, clock.now());
      return replay(store, endpoint as WebhookId, from);
    });
    const words = `${counted(count, "delivery", "deliveries")} ${count === 1 ? "is" : "are"}`;
    return { json: { redelivered: count }, text: () => `${words} on the way again.` };
  },
});

async function redeliverOne(store: Opened["store"], id: DeliveryId): Promise<number> {
  const { redeliver: again } = await import("../../../core/webhooks/redeliver.ts");
  await store.write(again, { id, actor: OPERATOR });
  return 1;
}

async function replay(store: Opened["store"], endpointId: WebhookId, from: number): Promise<number> {
  const { replayAll, replayStep } = await import("../../../core/webhooks/redeliver.ts");
  return replayAll((after) => store.write(replayStep, { endpointId, since: from, after, actor: OPERATOR }));
}
