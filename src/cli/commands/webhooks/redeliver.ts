import type { DeliveryId, WebhookId } from "../../../core/kernel/brand.ts";
import { systemClock } from "../../../core/kernel/clock.ts";
import { onTheWay } from "../../../core/webhooks/on-the-way.ts";
import type { Opened } from "../../client/api.ts";
import { type Context, command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { optionalArgument, text } from "../../kernel/input.ts";
import { momentOf, since as sinceOption } from "../../kernel/input-time.ts";
import { OPERATOR } from "../../place/operator.ts";
import { redeliverOwn, replayFrom } from "./again.ts";
import { actsAsPartner } from "./as-partner.ts";
import { ownerOfWebhook } from "./view.ts";

export default command({
  target: "partner",
  effects: "A running daemon sends them at once, with all their tries. With --since: what was held or exhausted.",
  json: "{redelivered}",
  examples: ["webhooks redeliver 019c…", "webhooks redeliver --endpoint 019c… --since 2026-03-01T12:00:00Z"],
  args: { id: optionalArgument("delivery-id", "one delivery, whatever its status") },
  options: {
    endpoint: text("--endpoint <id>", "all of this endpoint's that did not arrive"),
    since: sinceOption("--since <time>", "from this time on: 2026-03-01T12:00:00Z, or 24h for that long ago"),
  },
  async run(context, { id, endpoint, since }) {
    const from = since === undefined ? undefined : momentOf(since, systemClock.now());
    const what = whatOf(id, endpoint, from);
    const count = (await actsAsPartner(context)) ? await asPartner(context, what) : await asOperator(context, what);
    return { json: { redelivered: count }, text: () => onTheWay(count) };
  },
});

/** One delivery, or all of an endpoint that did not arrive since a moment (ms). */
type What = { id: string; endpoint: string | undefined } | { endpoint: string; since: number };

function whatOf(id: string | undefined, endpoint: string | undefined, since: number | undefined): What {
  const all = endpoint !== undefined && since !== undefined ? { endpoint, since } : null;
  if (id !== undefined && all === null) return { id, endpoint };
  if (id === undefined && all !== null) return all;
  throw usageError("Name one delivery, or an endpoint and a time.", "Give DELIVERY_ID, or --endpoint and --since.");
}

async function asPartner(context: Context, what: What): Promise<number> {
  const ownerOf = what.endpoint === undefined ? undefined : ownerOfWebhook(what.endpoint);
  return context.withApi(async (api) => {
    if (!("id" in what)) return replayFrom(api, what);
    await redeliverOwn(api, what.id, what.endpoint);
    return 1;
  }, ownerOf);
}

/** Ids that were typed are looked up; anything else is not found. */
function asOperator(context: Context, what: What): Promise<number> {
  return context.withStore(({ store }) =>
    "id" in what ? redeliverOne(store, what.id as DeliveryId) : replay(store, what.endpoint as WebhookId, what.since),
  );
}

async function redeliverOne(store: Opened["store"], id: DeliveryId): Promise<number> {
  const { redeliver: again } = await import("../../../core/webhooks/redeliver.ts");
  await store.write(again, { id, actor: OPERATOR });
  return 1;
}

async function replay(store: Opened["store"], endpointId: WebhookId, from: number): Promise<number> {
  const { replayAll, replayStep } = await import("../../../core/webhooks/redeliver.ts");
  return replayAll((after) => store.write(replayStep, { endpointId, since: from, after, actor: OPERATOR }));
}
