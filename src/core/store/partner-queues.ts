import { type SQL, sql } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import type { Environment } from "../kernel/environment.ts";
import { dueKeys } from "./due-keys.ts";
import type { Tables } from "./schema/tables.ts";
import type { Read } from "./store.ts";

/** What waits for one partner in one environment. */
export interface PartnerQueue {
  environment: Environment;
  partnerId: PartnerId;
}

/** The queue as one text. */
export function queueName({ environment, partnerId }: PartnerQueue): string {
  return `${environment} ${partnerId}`;
}

/**
 * Makes a query for the partners for whom something waits in `table`, production first. It takes an index of the table
 * over environment, partner_id and due_at of what waits.
 */
export function partnerQueues(table: (t: Tables) => SQL) {
  const partners = dueKeys<{ environment: Environment }>({
    table,
    key: "partner_id",
    waits: (slot) => sql`environment = ${slot.environment} and due_at is not null`,
  });
  return async (q: Read): Promise<(PartnerQueue & { due_at: number })[]> => {
    const found: (PartnerQueue & { due_at: number })[] = [];
    for (const environment of ["production", "sandbox"] as const) {
      for (const { key, due_at } of await partners(q, { environment })) {
        // The keys of these queues are partners' ids.
        found.push({ environment, partnerId: key as PartnerId, due_at });
      }
    }
    return found;
  };
}
