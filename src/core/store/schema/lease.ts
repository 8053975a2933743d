import { sql } from "drizzle-orm";
import type { Kit } from "./kit.ts";

/** The columns of a row that workers claim, beside its id and `due_at`; store/lease.ts writes them. */
export function leaseColumns(k: Kit) {
  return {
    /** Until when a worker holds it; null: no worker does. Equal to `due_at` while it is set. */
    leased_until: k.int("leased_until"),
    /** Raised by each claim: an older number has lost its lease. Not a time: two claims may share one. */
    lease_no: k.int("lease_no").notNull().default(0),
  };
}

/** Of a row with a deadline: no worker looks at it again. What has ended is checked to be so by the database. */
export const NOTHING_DUE = sql`(due_at is null and leased_until is null and deadline_at is null)`;
