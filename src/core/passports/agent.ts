import { eq } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import { Problem } from "../kernel/problem.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

const agentOf = statement((db, t, slot: Slots<{ id: PartnerId }>) =>
  db.select({ agent: t.partners.agent }).from(t.partners).where(eq(t.partners.id, slot.id)),
);

/** Throws `no_agent_record` unless the operator set this partner's agent record: else no pool, no bulk changes. */
export async function requireAgent(q: Read, partnerId: PartnerId): Promise<void> {
  if (first(await agentOf(q, { id: partnerId }))?.agent === true) return;
  throw new Problem("no_agent_record", "This needs an agent record, which the operator sets for a partner.");
}
