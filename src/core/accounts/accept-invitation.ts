import { and, eq } from "drizzle-orm";
import { recordAudit } from "../audit/record.ts";
import type { InvitationId, PartnerId, UserId } from "../kernel/brand.ts";
import { invalid, notFound, Problem } from "../kernel/problem.ts";
import { updateRow } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { hashOfToken } from "./token.ts";
import { about, actorOfUser, profileOf, requireName, sealProfile, type UserRow, userById } from "./user.ts";

/** An invitation that can be accepted. */
export interface OpenInvitation {
  row: Row<"invitations">;
  user: UserRow;
  email: string;
}

const byToken = statement((db, t, slot: Slots<{ token_hash: string }>) =>
  db.select().from(t.invitations).where(eq(t.invitations.token_hash, slot.token_hash)),
);

/** What a link invites to; null: it was used, has expired, or never was one. */
export async function findInvitation(q: Read, token: string): Promise<OpenInvitation | null> {
  const row = first(await byToken(q, { token_hash: hashOfToken(token) }));
  if (row === null || row.expires_at <= q.now) return null;
  const user = await userById(q, row.user_id);
  return user.status === "disabled" ? null : { row, user, email: profileOf(q, user).email };
}

const drop = statement((db, t, slot: Slots<{ id: InvitationId }>) =>
  db.delete(t.invitations).where(eq(t.invitations.id, slot.id)).returning({ user_id: t.invitations.user_id }),
);

const accept = statement((db, t, slot: Slots<{ user_id: UserId; partner_id: PartnerId; now: number }>) =>
  db
    .update(t.memberships)
    .set({ accepted_at: slot.now })
    .where(and(eq(t.memberships.user_id, slot.user_id), eq(t.memberships.partner_id, slot.partner_id))),
);

/**
 * Accepts an invitation, once: a new user gets the name and the password; one who has a password was asked for it,
 * gives none here, and keeps both. The role holds from then on, and no other: registering an address first gives
 * nothing of what others give to it later. Answers the user and the partner of the invitation. Throws `not_found`,
 * `validation`, and `conflict` for a new password of a user who has got one meanwhile: by it no one is known to be
 * that user.
 */
export async function acceptInvitation(
  tx: Tx,
  { token, name, passwordHash }: { token: string; name: string | null; passwordHash: string | null },
): Promise<{ userId: UserId; partnerId: PartnerId | null }> {
  const found = await findInvitation(tx, token);
  if (found === null || first(await drop(tx, { id: found.row.id })) === null) throw notFound("invitation");
  const { user, row, email } = found;
  if (user.status === "invited") {
    const typed = requireName(name ?? "");
    if (passwordHash === null) throw invalid({ password: ["is required"] });
    const sealed = sealProfile(tx, user.id, { email, name: typed });
    const change = { sealed, status: "active", password_hash: passwordHash, updated_at: tx.now } as const;
    await updateRow(tx, "users", { id: user.id }, change);
  } else if (passwordHash !== null) {
    throw new Problem("conflict", "This address has a password by now. Accept the invitation with that one.");
  }
  if (row.partner_id !== null) {
    await accept(tx, { user_id: user.id, partner_id: row.partner_id, now: tx.now });
  }
  const actor = actorOfUser(user.id);
  await recordAudit(tx, { ...about(user, actor), action: "users.accept", partnerId: row.partner_id });
  return { userId: user.id, partnerId: row.partner_id };
}
