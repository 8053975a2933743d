import type { WebhookId } from "../../../core/kernel/brand.ts";
import { systemClock } from "../../../core/kernel/clock.ts";
import type { OwnDelivery } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { dataListing, moreNote } from "../../client/pages.ts";
import { isoOf, timesOf } from "../../frame/all-partners.ts";
import { type Context, command } from "../../frame/command.ts";
import { pagesOf } from "../../frame/list-command.ts";
import { usageError } from "../../kernel/errors.ts";
import { flag, integer, text } from "../../kernel/input.ts";
import { since } from "../../kernel/input-time.ts";
import { actsAsPartner } from "./as-partner.ts";
import { DELIVERY_JSON, deliveryColumns, ownDeliveryColumns, ownerOfWebhook } from "./view.ts";

export default command({
  target: "partner",
  shows: "rows",
  effects:
    "Reads only. On the operator's data those of all endpoints, or of all of --partner's (of both environments; " +
    "--sandbox: of that one), with every attempt; at a server, or with --partner and --endpoint, those of one " +
    "endpoint, with the last attempt.",
  json:
    `{data: [${DELIVERY_JSON}], count, next_cursor}; at a server, or with --partner and --endpoint, the API's body: ` +
    "{data: [{id, event, event_id, status, attempts, next_attempt_at, last_status_code, last_error, created_at}], " +
    "pagination}",
  examples: [
    "webhooks deliveries",
    "webhooks deliveries --partner acme --failed --since 24h",
    "webhooks deliveries --endpoint 019c… --failed --all --json",
    "webhooks deliveries --endpoint 019c… --partner acme --csv",
  ],
  args: {},
  options: {
    endpoint: text("--endpoint <id>", "only this endpoint's; needed at a server"),
    failed: flag("--failed", "only those that did not arrive and are not tried any more: exhausted or held"),
    since: since("--since <time>", "created at this time or later: 2026-03-01T12:00:00Z, or 24h for that long ago"),
    until: since("--until <time>", "created before this time, given in the same way"),
    limit: integer("--limit <n>", "deliveries a page (default 20); at a server 100 at most", { min: 1, max: 1000 }),
    cursor: text("--cursor <cursor>", "where the next page starts"),
    all: flag("--all", "all pages"),
  },
  async run(context, { since, until, ...options }) {
    const given = { ...options, created: timesOf({ since, until }, systemClock.now()) };
    if ((await context.where()).kind !== "server" && given.endpoint === undefined && context.actsFor.partner) {
      return listOfAll(context, given, context.actsFor.partner);
    }
    return (await actsAsPartner(context)) ? listOwn(context, given) : listOfAll(context, given);
  },
});

interface Given {
  endpoint: string | undefined;
  failed: boolean;
  created: ReturnType<typeof timesOf>;
  limit: number | undefined;
  cursor: string | undefined;
  all: boolean;
}

/** One endpoint's, as its partner sees them. */
function listOwn(context: Context, { endpoint, failed, created, limit, cursor, all }: Given): Promise<null> {
  if (endpoint === undefined) {
    throw usageError("Name the endpoint.", "Add --endpoint ID; esimctl webhooks list names them.");
  }
  const times = { created_after: isoOf(created.since), created_before: isoOf(created.until) };
  const query = { limit, cursor, failed: failed || undefined, ...times };
  const asked = { path: apiPath`/webhooks/${endpoint}/deliveries`, query, all };
  const look = { columns: ownDeliveryColumns, empty: "No deliveries." };
  return context.withApi((api) => context.print(dataListing<OwnDelivery>(api, asked, look)), ownerOfWebhook(endpoint));
}

/** All endpoints', or one's, or one partner's, as the operator sees them. */
async function listOfAll(
  context: Context,
  { endpoint, failed, created, limit = 20, cursor, all }: Given,
  partner?: string,
): Promise<null> {
  const [{ listDeliveries }, { requirePartner }] = await Promise.all([
    import("../../../core/webhooks/deliveries.ts"),
    import("../../../core/partners/partner.ts"),
  ]);
  const environment = context.actsFor.sandbox ? ("sandbox" as const) : undefined;
  return context.withStore(async ({ store }) => {
    const of = partner && { partnerId: (await store.read(requirePartner, partner)).id, environment };
    // What was typed is looked up; anything that is no endpoint's id is not found.
    const filter = { endpointId: endpoint as WebhookId | undefined, of: of || undefined, failed, created };
    const page = async (count: number, after: string | undefined) => {
      const { data, next_cursor } = await store.read(listDeliveries, { ...filter, limit: count, cursor: after });
      return { data, next: next_cursor };
    };
    const span = all ? { size: 1000, after: cursor } : { most: limit, size: limit, after: cursor };
    const { pages, next } = pagesOf(page, span);
    const look = { columns: deliveryColumns, empty: "No deliveries.", note: () => moreNote(next()) };
    return context.print({ ...look, key: "data", pages, rest: (count) => ({ count, next_cursor: next() }) });
  });
}
