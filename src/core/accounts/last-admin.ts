import { and, eq } from "drizzle-orm";
import { type Actor, isOperator } from "../audit/record.ts";
import type { PartnerId, UserId } from "../kernel/brand.ts";
import { Problem } from "../kernel/problem.ts";
import type { StaffRole, UserStatus } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { actorOfUser } from "./user.ts";

const staffIn = statement((db, t, slot: Slots<{ status: UserStatus; role: StaffRole }>) =>
  db
    .select({ id: t.users.id })
    .from(t.users)
    .where(and(eq(t.users.status, slot.status), eq(t.users.staff_role, slot.role))),
);

/**
 * Keeps the console open: no one takes the own access to it away, and one admin who can sign in remains. The terminal
 * is exempt, known by its actor as everywhere in the audit trail: it needs no user, so it is the way back in where the
 * only admin has lost the second factor or has left. Throws `conflict`.
 */
export async function requireOtherAdmin(
  tx: Tx,
  { userId, partnerId, actor }: { userId: UserId; partnerId: PartnerId | null; actor: Actor },
): Promise<void> {
  if (partnerId !== null || isOperator(actor)) return;
  if (actor === actorOfUser(userId)) {
    throw new Problem("conflict", "You cannot take your own access away. Ask another admin.");
  }
  const all = await staffIn(tx, { status: "active", role: "admin" });
  if (all.length === 1 && all[0]?.id === userId) {
    const words = "This is the last admin who can sign in. Make another one admin first, or do it in the terminal.";
    throw new Problem("conflict", words);
  }
}
