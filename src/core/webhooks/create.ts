import { and, count, eq } from "drizzle-orm";
import { recordAudit } from "../audit/record.ts";
import type { Subscription } from "../events/catalog.ts";
import type { WebhookId } from "../kernel/brand.ts";
import { counted } from "../kernel/counted.ts";
import type { Environment } from "../kernel/environment.ts";
import { newId } from "../kernel/ids.ts";
import type { Owner } from "../kernel/owner.ts";
import { invalid, Problem } from "../kernel/problem.ts";
import { limitsOfPartner } from "../platform/partner-limits.ts";
import { readSetting } from "../platform/settings.ts";
import { insert } from "../store/rows.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { isPrivateHost, isWebhookPort } from "./address.ts";
import { currentSecret, newWebhookSecret } from "./signature.ts";
import { toWebhook, type Webhook, type WebhookRow } from "./webhook.ts";

/** An endpoint to be registered. */
export interface NewWebhook {
  owner: Owner;
  url: string;
  /** At least one; repetitions count once. */
  events: Subscription[];
  /** Left out: the credential's. Another one is refused. */
  environment?: Environment | undefined;
  description?: string | undefined;
  actor: string;
}

/**
 * Registers an endpoint; the secret is answered this once (contract: POST /webhooks). Throws `validation`,
 * `too_many_endpoints`.
 */
export async function createWebhook(tx: Tx, input: NewWebhook): Promise<{ webhook: Webhook; secret: string }> {
  const { partnerId, environment } = input.owner;
  await requireEndpointUrl(tx, input.url, input.owner);
  if (input.environment !== undefined && input.environment !== environment) {
    throw invalid({ environment: [`must be ${environment}, as the credential is`] });
  }
  await requireRoom(tx, input.owner);
  const secret = newWebhookSecret(tx.ids);
  const id = newId<WebhookId>(tx);
  const row: WebhookRow = {
    id,
    partner_id: partnerId,
    environment,
    url: input.url,
    events: [...new Set(input.events)],
    status: "active",
    description: input.description ?? null,
    secret_sealed: tx.vault.seal(secret, currentSecret(id)),
    next_secret_sealed: null,
    next_secret_from: null,
    consecutive_failures: 0,
    failed_attempts: 0,
    failing_since: null,
    cut_attempts: 0,
    waits_until: null,
    due_at: null,
    last_event: null,
    last_event_id: null,
    last_status_code: null,
    last_at: null,
    created_at: tx.now,
    updated_at: tx.now,
  };
  await insert(tx, "webhookEndpoints", [row]);
  const target = { targetKind: "webhook", targetId: row.id, partnerId };
  await recordAudit(tx, { actor: input.actor, action: "webhooks.create", ...target });
  return { webhook: toWebhook(row), secret };
}

const endpointsOf = statement((db, t, slot: Slots<Owner>) =>
  db
    .select({ registered: count() })
    .from(t.webhookEndpoints)
    .where(
      and(eq(t.webhookEndpoints.partner_id, slot.partnerId), eq(t.webhookEndpoints.environment, slot.environment)),
    ),
);

async function requireRoom(tx: Tx, { partnerId, environment }: Owner): Promise<void> {
  const { max_endpoints: limit } = await limitsOfPartner(tx, partnerId);
  const registered = first(await endpointsOf(tx, { partnerId, environment }))?.registered ?? 0;
  if (limit === null || registered < limit) return;
  const words = `At most ${counted(limit, "webhook endpoint")} may be registered in ${environment}.`;
  throw new Problem("too_many_endpoints", words, { members: { limit } });
}

const LONGEST = 2048;
// URL would silently drop some of these and escape others: what was typed would not be what is called.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const STRAY = /[\u0000-\u0020\u007f\\]/;

/** Throws `validation` unless events of the owner can be sent to a URL. */
export async function requireEndpointUrl(
  q: Read,
  url: string,
  { environment }: Pick<Owner, "environment">,
): Promise<void> {
  const allowPrivate = (await readSetting(q, "allow_private_webhooks")) === "yes";
  const fault = endpointUrlFault(url, { environment, allowPrivate });
  if (fault !== null) throw invalid({ url: [fault] });
}

/** Why a URL cannot receive events, as a sentence that follows "url"; null when it can (contract: Webhooks). */
export function endpointUrlFault(
  url: string,
  { environment, allowPrivate }: { environment: Environment; allowPrivate: boolean },
): string | null {
  const absolute = "must be an absolute http(s) address such as https://example.com/hooks";
  if (url.length > LONGEST) return `must be at most ${LONGEST} characters`;
  if (STRAY.test(url) || !/^https?:\/\/[^/]/i.test(url) || !URL.canParse(url)) return absolute;
  const { protocol, username, password, hostname, port } = new URL(url);
  if (username !== "" || password !== "" || /^[^/]*\/\/[^/?#]*@/.test(url)) return "must not carry credentials";
  if (url.includes("#")) return "must not have a fragment";
  if (!isWebhookPort(port)) return "must not use a port that browsers block, such as 22, 25 or 6667";
  if (environment === "production" && protocol !== "https:") return "must be https in production";
  if (!allowPrivate && isPrivateHost(hostname)) return "must not lead to a private, loopback or link-local address";
  return null;
}
