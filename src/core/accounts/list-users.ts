import { eq } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { atPartner, profileOf, type User, type UserRow } from "./user.ts";

/** The list of all partners has no slot for one. */
const NONE = "" as PartnerId;

const staff = statement((db, t, _slot) => db.select().from(t.users).orderBy(t.users.created_at, t.users.id));

function atPartners(ofOne: boolean) {
  return statement((db, t, slot: Slots<{ partner_id: PartnerId }>) => {
    const { user_id, partner_id, role, accepted_at } = t.memberships;
    return db
      .select({ user: t.users, role, partner: t.partners.slug, accepted_at })
      .from(t.memberships)
      .innerJoin(t.users, eq(t.users.id, user_id))
      .innerJoin(t.partners, eq(t.partners.id, partner_id))
      .where(ofOne ? eq(partner_id, slot.partner_id) : undefined)
      .orderBy(partner_id, user_id);
  });
}

const withPartners = atPartners(false);
const ofPartner = atPartners(true);

/** Every user in each role, the staff first; of one partner alone where it is named. There are few of them. */
export async function listUsers(q: Read, { partnerId }: { partnerId?: PartnerId | undefined }): Promise<User[]> {
  if (partnerId !== undefined) return (await ofPartner(q, { partner_id: partnerId })).map((row) => inRole(q, row));
  const people = (await staff(q, {})).flatMap((user): User[] =>
    user.staff_role === null
      ? []
      : [inRole(q, { user, role: user.staff_role, partner: null, accepted_at: user.created_at })],
  );
  return [...people, ...(await withPartners(q, { partner_id: NONE })).map((row) => inRole(q, row))];
}

type Joined = { user: UserRow; accepted_at: number | null } & Pick<User, "role" | "partner">;

function inRole(q: Read, { user, role, partner, accepted_at }: Joined): User {
  const { id, reveal, status } = user;
  return atPartner({ id, ...profileOf(q, user), role, partner, reveal, status }, accepted_at);
}
