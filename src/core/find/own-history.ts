import { type AuditLine, concernedBy, listAudit } from "../audit/list.ts";
import type { Actor } from "../audit/record.ts";
import type { OrderId, UserId } from "../kernel/brand.ts";
import type { Owner } from "../kernel/owner.ts";
import { requireOwnOrder } from "../orders/order.ts";
import { findByKey } from "../store/rows.ts";
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
const USER = "user:";
const OPERATOR = "the operator";

/**
 * What a partner may see of what happened to a record, oldest first: what its people and programs did, and webhooks.
 * Nothing of it is of another partner, which may have had the same eSIM before.
 */
export async function ownHistory(q: Read, { owner, id, webhooks, operator = false }: OwnRecord): Promise<Moment[]> {
  const moments = webhooks ? await webhookStory(q, id, owner.partnerId) : [];
  for (const line of (await listAudit(q, { target: id, limit: MOST_LINES })).toReversed()) {
    if (line.partner_id !== owner.partnerId) continue;
    const who = await whoDid(q, line.actor);
    if (who === OPERATOR && !operator) continue;
    moments.push({ at: Date.parse(line.at), kind: "change", id: line.id, text: wordsOf(line, who) });
  }
  return inOrder(moments);
}

/** The same of an order, with its states and its money. Throws `not_found`. */
export async function ownOrderHistory(q: Read, record: OwnRecord<OrderId>): Promise<Moment[]> {
  const order = await requireOwnOrder(q, record.owner, record.id);
  const by = order.created_by === null ? "" : `, by ${await whoDid(q, order.created_by)}`;
  return inOrder([...(await ownOrderStory(q, order, by)), ...(await ownHistory(q, record))]);
}

function inOrder(moments: readonly Moment[]): Moment[] {
  return moments.toSorted((a, b) => a.at - b.at);
}

/** Who did it, as far as a partner may see it: staff, workers and suppliers are the operator. */
async function whoDid(q: Read, actor: Actor): Promise<string> {
  if (actor.startsWith("client:")) return "API";
  if (!actor.startsWith(USER)) return OPERATOR;
  // An actor of this kind ends in the id of a user.
  const user = await findByKey(q, "users", { id: actor.slice(USER.length) as UserId });
  return user?.staff_role === null ? "a user" : OPERATOR;
}

function wordsOf(line: AuditLine, who: string): string {
  const [, act = line.action] = line.action.split(".");
  const what = [act.replaceAll(/[_-]/g, " "), concernedBy(line).join("; ")].filter(Boolean).join(", ");
  return `${what}, by ${who}`;
}
