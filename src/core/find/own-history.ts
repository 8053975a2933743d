import { actingUser, membershipsOf, profileOf } from "../accounts/user.ts";
import { type AuditLine, concernedBy, listAudit } from "../audit/list.ts";
import type { Actor } from "../audit/record.ts";
import type { OrderId } from "../kernel/brand.ts";
import type { Owner } from "../kernel/owner.ts";
import { requireOwnOrder } from "../orders/order.ts";
import type { Read } from "../store/store.ts";
import { type Moment, ownOrderStory, webhookStory } from "./stories.ts";

/** Which record's history a partner sees. */
export interface OwnRecord<I extends string = string> {
  owner: Owner;
  id: I;
  /** Its events too, and what became of sending each. */
  webhooks: boolean;
  /** What the operator did too: only of what the partner itself sets up, such as credentials. */
  operator?: boolean;
}

const MOST_LINES = 100;

/**
 * What a partner may see of what happened to a record, oldest first: what its people and programs did, and webhooks.
 * Nothing of it is of another partner, which may have had the same eSIM before.
 */
export async function ownHistory(q: Read, { owner, id, webhooks, operator = false }: OwnRecord): Promise<Moment[]> {
  const moments = webhooks ? await webhookStory(q, id, owner.partnerId) : [];
  const known = new Map<Actor, string | null>();
  for (const line of (await listAudit(q, { target: id, limit: MOST_LINES })).toReversed()) {
    if (line.partner_id !== owner.partnerId) continue;
    if (!known.has(line.actor)) known.set(line.actor, await whoDid(q, owner, line.actor));
    const who = known.get(line.actor) ?? null;
    if (who === null && !operator) continue;
    moments.push({ at: Date.parse(line.at), kind: "change", id: line.id, text: wordsOf(line, who) });
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

/** Who did it, as far as a partner may see it, its own people by name. Null: staff, a worker or a supplier. */
async function whoDid(q: Read, { partnerId }: Owner, actor: Actor): Promise<string | null> {
  if (actor.startsWith("client:")) return "API";
  const user = await actingUser(q, actor);
  if (user === null || user.staff_role !== null) return null;
  const roles = await membershipsOf(q, user.id);
  const isMember = roles.some(({ partner_id, accepted }) => partner_id === partnerId && accepted);
  return (isMember ? profileOf(q, user).name : null) ?? "a user";
}

function wordsOf(line: AuditLine, who: string | null): string {
  const [, act = line.action] = line.action.split(".");
  const what = [act.replaceAll(/[_-]/g, " "), concernedBy(line).join("; ")].filter(Boolean).join(", ");
  return `${what}, by ${who ?? OPERATOR}`;
}
