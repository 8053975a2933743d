import { and, desc, eq, sql } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import type { Environment } from "../kernel/environment.ts";
import type { Owner } from "../kernel/owner.ts";
import { byCreation, newestFirst, type Pagination, pageOf } from "../kernel/page.ts";
import type { WebhookStatus } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { toWebhookDetails, type WebhookDetail } from "./webhook.ts";

/** Which endpoints, and which page of them. */
export interface WebhookFilter {
  owner: Owner;
  limit: number;
  cursor?: string | undefined;
  status?: WebhookStatus | undefined;
  /** Another environment than the credential's has no endpoints that it may see. */
  environment?: Environment | undefined;
}

/** The body of the list. */
export interface WebhookPage {
  data: WebhookDetail[];
  pagination: Pagination;
}

type Window = Owner & { status: WebhookStatus | ""; key: number; id: string; limit: number };

// A partner has few endpoints: the status is looked at on the way through the partner's part of the index.
const newest = statement((db, t, slot: Slots<Window>) =>
  db
    .select()
    .from(t.webhookEndpoints)
    .where(
      and(
        eq(t.webhookEndpoints.partner_id, slot.partnerId),
        eq(t.webhookEndpoints.environment, slot.environment),
        sql`(${slot.status} = '' or ${t.webhookEndpoints.status} = ${slot.status})`,
        sql`(${t.webhookEndpoints.created_at}, ${t.webhookEndpoints.id}) < (${slot.key}, ${slot.id})`,
      ),
    )
    .orderBy(desc(t.webhookEndpoints.created_at), desc(t.webhookEndpoints.id))
    .limit(slot.limit),
);

const ofPartner = statement((db, { webhookEndpoints: endpoints }, slot: Slots<{ id: PartnerId }>) =>
  db
    .select()
    .from(endpoints)
    .where(eq(endpoints.partner_id, slot.id))
    .orderBy(endpoints.environment, endpoints.created_at, endpoints.id),
);

/** Every endpoint of a partner, those of production first, each oldest first. */
export async function webhooksOfPartner(q: Read, id: PartnerId): Promise<WebhookDetail[]> {
  return toWebhookDetails(q, await ofPartner(q, { id }));
}

/** A page of the caller's endpoints, newest first (contract: GET /webhooks). Throws `invalid_cursor`. */
export async function listWebhooks(q: Read, filter: WebhookFilter): Promise<WebhookPage> {
  const { owner, limit, cursor, status, environment } = filter;
  const binding = { list: "webhooks", ...owner, status, filter: environment };
  const elsewhere = environment !== undefined && environment !== owner.environment;
  const { rows, pagination } = await pageOf(
    { limit, cursor, binding, start: newestFirst },
    async (window) => (elsewhere ? [] : newest(q, { ...owner, ...window, status: status ?? "" })),
    byCreation,
  );
  return { data: await toWebhookDetails(q, rows), pagination };
}
