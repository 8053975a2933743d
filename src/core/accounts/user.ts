import { and, eq } from "drizzle-orm";
import type { Actor } from "../audit/record.ts";
import type { PartnerId, UserId } from "../kernel/brand.ts";
import { isMailbox } from "../kernel/mailbox.ts";
import { invalid, notFound } from "../kernel/problem.ts";
import { emailKey } from "../kernel/search-keys.ts";
import { findByKey } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import type { PartnerRole, StaffRole, UserStatus } from "../store/schema/values.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

export type UserRow = Row<"users">;

/** What is sealed of a user. */
export interface Profile {
  email: string;
  /** Null until the invitation is accepted. */
  name: string | null;
}

/** A user in one role, as the operator and a partner's owner see it. */
export interface User extends Profile {
  id: UserId;
  role: StaffRole | PartnerRole;
  /** The slug of the partner at which the role holds; null: the operator's staff. */
  partner: string | null;
  /** Whether identities may be revealed where the role alone may not. */
  reveal: boolean;
  status: UserStatus;
}

/** A role at a partner. */
export interface Membership {
  partner_id: PartnerId;
  partner: string;
  partnerName: string;
  role: PartnerRole;
  suspended: boolean;
  /** Whether the role holds: the invitation to it was accepted. */
  accepted: boolean;
}

const profileCell = (id: UserId) => ({ column: "users.sealed", row: id }) as const;

/** Seals a profile for its row; only inside a command. */
export function sealProfile(q: Pick<Read, "vault">, id: UserId, profile: Profile): string {
  return q.vault.seal(JSON.stringify(profile), profileCell(id));
}

/** A user's address and name; words in their place where they cannot be read. */
export function profileOf(q: Pick<Read, "vault">, { id, sealed }: Pick<UserRow, "id" | "sealed">): Profile {
  const opened = q.vault.openIfReadable(sealed, profileCell(id));
  // `sealProfile` sealed exactly this shape.
  return opened === null ? { email: "unreadable", name: null } : (JSON.parse(opened) as Profile);
}

/** The same. Throws `UnreadableError` where they cannot be read. */
export function openProfile(q: Pick<Read, "vault">, { id, sealed }: Pick<UserRow, "id" | "sealed">): Profile {
  // `sealProfile` sealed exactly this shape.
  return JSON.parse(q.vault.open(sealed, profileCell(id))) as Profile;
}

/** An address as users are looked up by it. Throws `validation`. */
export function emailIndex(q: Pick<Read, "vault">, email: string): string {
  const key = emailKey(email);
  if (key === null || !isMailbox(key)) throw invalid({ email: ["must be an e-mail address"] });
  return q.vault.blindIndex("users", key);
}

const byEmail = statement((db, t, slot: Slots<{ index: string }>) =>
  db.select().from(t.users).where(eq(t.users.email_index, slot.index)),
);

/** The user with this address, or null. Throws `validation`. */
export async function findUser(q: Read, email: string): Promise<UserRow | null> {
  return first(await byEmail(q, { index: emailIndex(q, email) }));
}

/** The same. Throws also `not_found`. */
export async function requireUser(q: Read, email: string): Promise<UserRow> {
  const row = await findUser(q, email);
  if (row === null) throw notFound("user");
  return row;
}

/** A user by id. Throws `not_found`. */
export async function userById(q: Read, id: UserId): Promise<UserRow> {
  const row = await findByKey(q, "users", { id });
  if (row === null) throw notFound("user");
  return row;
}

const ofUser = statement((db, t, slot: Slots<{ user_id: UserId }>) =>
  db
    .select({
      partner_id: t.memberships.partner_id,
      partner: t.partners.slug,
      partnerName: t.partners.name,
      role: t.memberships.role,
      accepted_at: t.memberships.accepted_at,
      status: t.partners.status,
    })
    .from(t.memberships)
    .innerJoin(t.partners, eq(t.partners.id, t.memberships.partner_id))
    .where(eq(t.memberships.user_id, slot.user_id))
    .orderBy(t.memberships.partner_id),
);

/** A user's roles at partners, those included that were not accepted yet. */
export async function membershipsOf(q: Read, user_id: UserId): Promise<Membership[]> {
  const rows = await ofUser(q, { user_id });
  return rows.map(({ status, accepted_at, ...membership }) => {
    return { ...membership, suspended: status === "suspended", accepted: accepted_at !== null };
  });
}

const slugOf = statement((db, t, slot: Slots<{ id: PartnerId }>) =>
  db.select({ slug: t.partners.slug }).from(t.partners).where(eq(t.partners.id, slot.id)),
);

const oneMembership = statement((db, t, slot: Slots<{ user_id: UserId; partner_id: PartnerId }>) =>
  db
    .select()
    .from(t.memberships)
    .where(and(eq(t.memberships.user_id, slot.user_id), eq(t.memberships.partner_id, slot.partner_id))),
);

/** A user in the role at this partner, or in the staff's (null). Throws `not_found` where there is no such role. */
export async function userIn(q: Read, row: UserRow, partner_id: PartnerId | null): Promise<User> {
  const { id, status, reveal } = row;
  const common = { id, ...profileOf(q, row) };
  if (partner_id === null) {
    if (row.staff_role === null) throw notFound("user");
    return { ...common, role: row.staff_role, partner: null, reveal, status };
  }
  const membership = first(await oneMembership(q, { user_id: id, partner_id }));
  if (membership === null) throw notFound("user");
  const partner = first(await slugOf(q, { id: partner_id }))?.slug ?? null;
  return atPartner({ ...common, role: membership.role, partner, reveal, status }, membership.accepted_at);
}

/** A user as a partner sees it: until the invitation is accepted no more than what the partner typed. */
export function atPartner(user: User, accepted_at: number | null): User {
  if (accepted_at !== null || user.status === "disabled") return user;
  return { ...user, name: null, status: "invited" };
}

/** A user in the role that comes first: the staff's, or that of the earliest partner. Throws `not_found`. */
export async function showUser(q: Read, email: string): Promise<User> {
  const row = await requireUser(q, email);
  if (row.staff_role !== null) return userIn(q, row, null);
  const [membership] = await membershipsOf(q, row.id);
  if (membership === undefined) throw notFound("user");
  return userIn(q, row, membership.partner_id);
}

/** The actor of the audit trail for what a user does in the pages. */
export function actorOfUser(id: UserId): Actor {
  return `user:${id}`;
}

/** The user who acted; null: it was no user, or one that is no more. */
export async function actingUser(q: Read, actor: Actor): Promise<Row<"users"> | null> {
  const [, id] = /^user:(.+)$/.exec(actor) ?? [];
  // An actor of this kind ends in the id of a user.
  return id === undefined ? null : findByKey(q, "users", { id: id as UserId });
}

/** Who did it and to which user, as the audit trail has it. */
export function about({ id }: Pick<UserRow, "id">, actor: Actor) {
  return { actor, targetKind: "user", targetId: id };
}

/** A name as it is stored. Throws `validation`. */
export function requireName(name: string): string {
  const typed = name.trim();
  if (typed === "" || typed.length > 200) throw invalid({ name: ["must have 1 to 200 characters"] });
  return typed;
}
