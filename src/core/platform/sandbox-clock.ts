import { eq } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import type { Environment } from "../kernel/environment.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

const clockOf = statement((db, t, slot: Slots<{ partner_id: PartnerId }>) =>
  db.select({ ahead_ms: t.sandboxClocks.ahead_ms }).from(t.sandboxClocks).where(isClockOf(t, slot)),
);

/** The condition that finds a partner's clock. */
export function isClockOf(t: Read["t"], slot: Slots<{ partner_id: PartnerId }>) {
  return eq(t.sandboxClocks.partner_id, slot.partner_id);
}

/** Whose time is asked for: columns of a row, or an `Owner`. */
type Whose = { environment: Environment } & ({ partner_id: PartnerId } | { partnerId: PartnerId });

/** How far the sandbox clock of an owner is ahead of the system's time (ms); 0 in production, without a query. */
export async function aheadOf(q: Read, owner: Whose): Promise<number> {
  if (owner.environment === "production") return 0;
  const partner_id = "partnerId" in owner ? owner.partnerId : owner.partner_id;
  return first(await clockOf(q, { partner_id }))?.ahead_ms ?? 0;
}

/**
 * The moment (ms) that the records of `owner` are stamped and compared with: its sandbox clock's time, or the system's
 * in production. Leases, retries, limits, signatures, retention, ids and the audit trail take `q.now` instead.
 */
export async function nowOf(q: Read, owner: Whose): Promise<number> {
  return q.now + (await aheadOf(q, owner));
}
