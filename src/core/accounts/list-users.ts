import { eq } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { atPartner, profileOf, type User, type UserRow } from "./user.ts";

const staff = statement((db, t, _slot) => db.select().from(t.users).orderBy(t.users.created_at, t.users.id));

const withPartners = statement((db, t, _slot) =>
  db
    .select({
      user: t.users,
      role: t.memberships.role,
      partner: t.partners.slug,
      accepted_at: t.memberships.accepted_at,
    })
    .from(t.memberships)
    .innerJoin(t.users, eq(t.users.id, t.memberships.user_id))
    .innerJoin(t.partners, eq(t.partners.id, t.memberships.partner_id))
    .orderBy(t.memberships.partner_id, t.memberships.user_id),
);

const ofPartner = statement((db, t, slot: Slots<{ partner_id: PartnerId }>) =>
  db
    .select({
      user: t.users,
      role: t.memberships.role,
      partner: t.partners.slug,
      accepted_at: t.memberships.accepted_at,
    })
    .from(t.memberships)
    .innerJoin(t.users, eq(t.users.id, t.memberships.user_id))
    .innerJoin(t.partners, eq(t.partners.id, t.memberships.partner_id))
    .where(eq(t.memberships.partner_id, slot.partner_id))
    .orderBy(t.memberships.user_id),
);

/** Every user in each role, the staff first; of one partner alone where it is named. There are few of them. */
export async function listUsers(q: Read, { partnerId }: { partnerId?: PartnerId | undefined }): Promise<User[]> {
  if (partnerId !== undefined) return (await ofPartner(q, { partner_id: partnerId })).map((row) => inRole(q, row));
  const people = (await staff(q, {})).flatMap((user): User[] =>
    user.staff_role === null
      ? []
      : [inRole(q, { user, role: user.staff_role, partner: null, accepted_at: user.created_at })],
  );
  return [...people, ...(await withPartners(q, {})).map((row) => inRole(q, row))];
}

type Joined = { user: UserRow; accepted_at: number | null } & Pick<User, "role" | "partner">;

function inRole(q: Read, { user, role, partner, accepted_at }: Joined): User {
  const { id, reveal, status } = user;
  return atPartner({ id, ...profileOf(q, user), role, partner, reveal, status }, accepted_at);
}
