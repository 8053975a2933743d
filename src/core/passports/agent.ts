import type { PartnerId } from "../kernel/brand.ts";
import { Problem } from "../kernel/problem.ts";
import { findByKey } from "../store/rows.ts";
import type { Read } from "../store/store.ts";

/** Throws `no_agent_record` unless the operator set this partner's agent record: else no pool, no bulk changes. */
export async function requireAgent(q: Read, partnerId: PartnerId): Promise<void> {
  if ((await findByKey(q, "partners", { id: partnerId }))?.agent === true) return;
  throw new Problem("no_agent_record", "This needs an agent record, which the operator sets for a partner.");
}
