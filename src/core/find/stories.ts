import { actingUser, membershipsOf, profileOf } from "../accounts/user.ts";
import type { ActivationRow } from "../activations/activation.ts";
import { customerOf } from "../activations/customer.ts";
import { attemptsOfActivation } from "../activations/reveal.ts";
import { travelerMailMoment, travelerMailsOf } from "../after-sale/traveler-mails.ts";
import { type AuditLine, concernedBy, listAudit } from "../audit/list.ts";
import type { Actor } from "../audit/record.ts";
import type { EsimRow } from "../esims/esim.ts";
import type { OrderId, PartnerId } from "../kernel/brand.ts";
import { formatMoney } from "../kernel/money.ts";
import type { Owner } from "../kernel/owner.ts";
import { type ItemRow, itemsOfOrder } from "../orders/items.ts";
import { linesOfOrder, type OrderRow, requireOwnOrder } from "../orders/order.ts";
import { eventsOfSubject } from "../outbox/record.ts";
import { passportUses } from "../passports/operator-view.ts";
import type { PassportRow } from "../passports/passport.ts";
import type { Read } from "../store/store.ts";
import { attemptsOfItem } from "../supplier-requests/outcome.ts";
import { transactionsOfOrder } from "../wallet/ledger.ts";
import { attemptsOfDelivery, deliveriesOfEvent } from "../webhooks/deliveries.ts";

/** One thing that happened. */
export interface Moment {
  /** Milliseconds. */
  at: number;
  /** What kind of thing: order, money, item, supplier, esim, activation, carrier, webhook, mail, passport or audit. */
  kind: string;
  /** The order's, eSIM's, … own id. */
  id: string;
  /** What happened, for people, on one line. */
  text: string;
  /** The HTTP request that did it, where that is known. */
  request_id?: string | null;
}

/** The moments of those times that there are. */
function momentsOf(
  kind: string,
  id: string,
  times: readonly (readonly [at: number | null, text: string, requestId?: string | null])[],
): Moment[] {
  return times.flatMap(([at, text, request_id = null]) => (at === null ? [] : [{ at, kind, id, text, request_id }]));
}

/** One exchange with a carrier or a supplier. */
interface Attempt {
  source: string;
  status_code: number | null;
  latency_ms: number | null;
  outcome: string;
  answer: string | null;
}

/** An exchange in words: its source, code, duration, outcome and response. */
function attemptWords({ source, status_code, latency_ms, outcome, answer }: Attempt): string {
  const code = status_code === null ? "" : ` ${status_code}`;
  const took = latency_ms === null ? "" : ` in ${latency_ms} ms`;
  return `${source}${code}${took}, ${outcome}${answer === null ? "" : `: ${answer}`}`;
}

/** What happened to an order: its states, its money, what was shipped, and what suppliers said of its items. */
export async function orderStory(q: Read, order: OrderRow): Promise<Moment[]> {
  const moments = await ownOrderStory(q, order, by(order));
  for (const item of await itemsOfOrder(q, order.id)) moments.push(...(await itemStory(q, item)));
  return moments;
}

/** The same without suppliers, as its partner sees it: `placedBy` are words about who placed it, or none. */
async function ownOrderStory(q: Read, order: OrderRow, placedBy: string): Promise<Moment[]> {
  const lines = await linesOfOrder(q, order.id);
  const bought = lines.map((line) => `${line.quantity} × ${line.product_sku}`).join(", ");
  const price = `${formatMoney(order.total_cents, order.currency)} ${order.currency}`;
  const reason = order.reason === null ? "" : `: ${order.reason}`;
  const moments = momentsOf("order", order.id, [
    [order.created_at, `${order.order_number} ordered: ${bought} for ${price}${placedBy}`, order.request_id],
    [order.fulfilled_at, `${order.order_number} fulfilled`],
    [order.cancelled_at, `${order.order_number} cancelled${reason}`],
  ]);
  for (const { shipping } of lines) {
    if (shipping === null) continue;
    const text = `shipped by ${shipping.carrier}, tracking ${shipping.tracking_number}`;
    moments.push({ at: shipping.shipped_at, kind: "order", id: order.id, text });
  }
  return [...moments, ...(await moneyStory(q, order))];
}

/** ", by client:sk_live_…": who placed or submitted it, where that is known. */
function by({ created_by }: { created_by: string | null }): string {
  return created_by === null ? "" : `, by ${created_by}`;
}

async function moneyStory(q: Read, order: OrderRow): Promise<Moment[]> {
  const rows = await transactionsOfOrder(q, order.id);
  return rows.map(({ id, created_at: at, kind, amount_cents, currency }) => {
    return { at, kind: "money", id, text: `${kind} of ${formatMoney(amount_cents, currency)} ${currency}` };
  });
}

/** What happened to a request to a supplier: its states, and each exchange with the supplier. */
export async function itemStory(q: Read, item: ItemRow): Promise<Moment[]> {
  const what = `item ${item.position + 1} (${item.supplier})`;
  const moments = itemMoments(item, what);
  for (const attempt of await attemptsOfItem(q, item.id)) {
    const text = `${what} ${attemptWords(attempt)}`;
    moments.push({ at: attempt.at, kind: "supplier", id: item.id, text, request_id: attempt.request_id });
  }
  return moments;
}

/** Its states, and what is to come by itself. */
function itemMoments(item: ItemRow, what: string): Moment[] {
  const number = item.confirmation_number === null ? "" : `, number ${item.confirmation_number}`;
  const failed = item.status === "failed" ? item.updated_at : null;
  return momentsOf("item", item.id, [
    [item.submitted_at, `${what} submitted to its supplier`],
    [item.confirmed_at, `${what} confirmed${number}`],
    [item.activated_at, `${what} activated`],
    [item.cancelled_at, `${what} cancelled`],
    [failed, `${what} failed: ${item.error_type ?? "unknown"}, ${item.error_message ?? ""}`],
    [item.due_at, `${what} is to go to its supplier${item.attempts === 0 ? "" : " again"}`],
    [item.deadline_at, `${what} is to have its supplier's final answer`],
  ]);
}

/** What happened to an eSIM. */
export function esimStory(esim: EsimRow, now: number): Moment[] {
  // What was in stock came before it was assigned.
  const supplied = esim.assigned_at === esim.created_at;
  const usage = `${esim.iccid} used ${esim.used_mb ?? 0} MB`;
  const place = [esim.country, esim.network].filter((word) => word !== null).join(", ");
  const expired = esim.expires_at !== null && esim.expires_at <= now ? esim.expires_at : null;
  return momentsOf("esim", esim.id, [
    [esim.assigned_at, `${esim.iccid} ${supplied ? "delivered by its supplier" : "assigned from stock"}`],
    [esim.activated_at, `${esim.iccid} activated`],
    [esim.usage_at, usage],
    [esim.location_at, `${esim.iccid} seen in ${place || "an unknown network"}`],
    [expired, `${esim.iccid} expired`],
  ]);
}

/** The mails by which an eSIM was sent to its traveler, without their addresses. */
export async function travelerMailStory(q: Read, { id, partner_id }: EsimRow): Promise<Moment[]> {
  const mails = await travelerMailsOf(q, { esimId: id, partnerId: partner_id });
  return mails.map((mail) => ({ ...travelerMailMoment(mail), id }));
}

/** What happened to a request: its states, and each exchange with its carrier with the answer, identity redacted. */
export async function activationStory(q: Read, row: ActivationRow): Promise<Moment[]> {
  const { id, iccid, carrier } = row;
  const { mobile_number } = customerOf(q, row);
  const number = mobile_number === null ? "" : `, number ${mobile_number}`;
  const why = [row.error_type, row.error_message].filter((word) => word !== null).join(": ");
  const confirmation = row.confirmation_number === null ? "" : `, number ${row.confirmation_number}`;
  const asked = `activation of ${iccid} with ${carrier} asked for, date ${await dateAskedFor(q, row)}`;
  const states = momentsOf("activation", id, [
    [row.created_at, `${asked}${by(row)}`, row.request_id],
    [row.submitted_at, `submitted to ${carrier}`],
    [row.confirmed_at, `confirmed by ${carrier}${confirmation}`],
    [row.activated_at, `${iccid} activated${number}`],
    [row.cancelled_at, `cancelled${row.cancel_reason === null ? "" : `: ${row.cancel_reason}`}`],
    [row.status === "failed" ? (row.finished_at ?? row.updated_at) : null, `failed${why === "" ? "" : `: ${why}`}`],
    [
      row.processing_status === "manual_required" ? row.updated_at : null,
      `left to staff${why === "" ? "" : `: ${why}`}`,
    ],
  ]);
  const attempts = (await attemptsOfActivation(q, row.id)).map((attempt): Moment => {
    const { at, request_id } = attempt;
    return { at: Date.parse(at), kind: "carrier", id, text: attemptWords(attempt), request_id };
  });
  return [...states, ...attempts];
}

/** The date of the submission: the row has that of the last change. */
async function dateAskedFor(q: Read, row: ActivationRow): Promise<string> {
  const lines = await listAudit(q, { target: row.id, limit: MOST_LINES });
  const moves = lines
    .flatMap(({ changes }) => changes ?? [])
    .filter(({ field }) => field === "requested_activation_date");
  const first = moves.at(-1)?.from;
  return typeof first === "string" ? first : row.activation_date;
}

/** What happened to a passport: when it came and went, and who drew it. */
export async function passportStory(q: Read, row: PassportRow): Promise<Moment[]> {
  const own = momentsOf("passport", row.id, [
    [row.created_at, `passport of ${row.passport_country} received`],
    [row.withdrawn_at, "passport withdrawn"],
  ]);
  const uses = (await passportUses(q, row.id)).flatMap((use) =>
    momentsOf("passport", row.id, [
      [Date.parse(use.drawn_at), `drawn for ${use.request_id} with ${use.carrier}`],
      [use.released_at === null ? null : Date.parse(use.released_at), `released by ${use.request_id}`],
    ]),
  );
  return [...own, ...uses];
}

/** The webhooks about a subject: each event, and each attempt to deliver it with its code; of one partner or of all. */
export async function webhookStory(q: Read, subjectId: string, partnerId?: PartnerId): Promise<Moment[]> {
  const moments: Moment[] = [];
  for (const event of await eventsOfSubject(q, subjectId)) {
    if (partnerId !== undefined && event.partner_id !== partnerId) continue;
    const sent = await deliveriesOfEvent(q, event.id);
    const open = sent.filter(({ delivery }) => delivery.status !== "delivered");
    const undelivered = open
      .map(({ delivery, url }) => `${delivery.status} for ${url ?? "a deleted endpoint"}`)
      .join(", ");
    const became = sent.length === 0 ? "no endpoint subscribes" : undelivered || "delivered";
    moments.push({ at: event.occurred_at, kind: "webhook", id: event.id, text: `${event.kind}: ${became}` });
    for (const { delivery, url } of sent) {
      for (const one of await attemptsOfDelivery(q, delivery.id)) {
        const answer = one.status_code ?? one.error ?? "no answer";
        const text = `${event.kind} to ${url ?? "a deleted endpoint"}: ${answer} in ${one.latency_ms} ms`;
        moments.push({ at: one.at, kind: "webhook", id: delivery.id, text });
      }
    }
  }
  return moments;
}

/** Lines of the audit trail in the history of one thing, at most. */
export const MOST_LINES = 200;

/** Who did what to it, the newest 200 lines. */
export async function auditStory(q: Read, target: string): Promise<Moment[]> {
  return (await listAudit(q, { target, limit: MOST_LINES })).map(auditMoment);
}

/** A line of the audit trail as a moment of the thing it is about. */
export function auditMoment({ at, actor, action, target_id: id, note, request_id, ...line }: AuditLine): Moment {
  const what = concernedBy(line);
  const about = what.length === 0 ? "" : ` (${what.join(", ")})`;
  const text = `${actor}: ${action}${about}${note === null ? "" : `, ${note}`}`;
  return { at: Date.parse(at), kind: "audit", id, text, request_id };
}

/** Which record's history a partner sees. */
export interface OwnRecord<I extends string = string> {
  owner: Owner;
  id: I;
  /** Its events too, and what became of sending each. */
  webhooks: boolean;
  /** What the operator did too: only of what the partner itself sets up, such as credentials. */
  operator?: boolean;
}

const MOST_OWN_LINES = 100;

/**
 * What a partner may see of what happened to a record, oldest first: what its people and programs did, and webhooks.
 * Nothing of it is of another partner, which may have had the same eSIM before.
 */
export async function ownHistory(q: Read, { owner, id, webhooks, operator = false }: OwnRecord): Promise<Moment[]> {
  const moments = webhooks ? await webhookStory(q, id, owner.partnerId) : [];
  const all = await listAudit(q, { target: id, limit: MOST_OWN_LINES });
  const lines = all.toReversed().filter(({ partner_id }) => partner_id === owner.partnerId);
  const known = await namesForPartner(q, { owner, actors: lines.map(({ actor }) => actor) });
  for (const line of lines) {
    const who = known.get(line.actor) ?? null;
    if (who === null && !operator) continue;
    moments.push({ at: Date.parse(line.at), kind: "change", id: line.id, text: ownWords(line, who) });
  }
  return inOrder(moments);
}

/** The same of an order, with its states and its money. Throws `not_found`. */
export async function ownOrderHistory(q: Read, record: OwnRecord<OrderId>): Promise<Moment[]> {
  const order = await requireOwnOrder(q, record.owner, record.id);
  const by = order.created_by === null ? "" : `, by ${(await whoDid(q, record.owner, order.created_by)) ?? OPERATOR}`;
  return inOrder([...(await ownOrderStory(q, order, by)), ...(await ownHistory(q, record))]);
}

function inOrder(moments: readonly Moment[]): Moment[] {
  return moments.toSorted((a, b) => a.at - b.at);
}

const OPERATOR = "the operator";

/** Who acted, as far as a partner may see it, its own people by name; staff, workers and suppliers are not in it. */
export async function namesForPartner(
  q: Read,
  { owner, actors }: { owner: Owner; actors: Iterable<Actor> },
): Promise<Map<Actor, string>> {
  const names = new Map<Actor, string>();
  for (const actor of new Set(actors)) {
    const name = await whoDid(q, owner, actor);
    if (name !== null) names.set(actor, name);
  }
  return names;
}

/** Who did it, as far as a partner may see it, its own people by name. Null: staff, a worker or a supplier. */
async function whoDid(q: Read, { partnerId }: Owner, actor: Actor): Promise<string | null> {
  if (actor.startsWith("client:")) return "API";
  const user = await actingUser(q, actor);
  if (user === null || user.staff_role !== null) return null;
  const roles = await membershipsOf(q, user.id);
  const isMember = roles.some(({ partner_id, accepted }) => partner_id === partnerId && accepted);
  return (isMember ? profileOf(q, user).name : null) ?? "a user";
}

/** Acts whose past is not the verb with "ed". */
const pasts: Readonly<Record<string, string>> = {
  ...{ cancel: "cancelled", hold: "held", read: "read", reset: "reset", retry: "retried", send: "sent", set: "set" },
  ...{ ship: "shipped", submit: "submitted", test: "test sent", usage: "usage reported", withdraw: "withdrawn" },
};

/** "webhooks.create" → "created", "orders.correct_shipment" → "corrected shipment" */
function doneWords(action: string): string {
  const [, act = action] = action.split(".");
  const [verb = act, ...rest] = act.split(/[_-]/);
  return [pasts[verb] ?? (verb.endsWith("e") ? `${verb}d` : `${verb}ed`), ...rest].join(" ");
}

function ownWords(line: AuditLine, who: string | null): string {
  const concerned = concernedBy(line, (field) => field.replaceAll("_", " "));
  const what = [doneWords(line.action), concerned.join("; ")].filter(Boolean).join(", ");
  return `${what}, by ${who ?? OPERATOR}`;
}
