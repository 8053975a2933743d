import { eq, sql } from "drizzle-orm";
import { Problem } from "../kernel/problem.ts";
import { currentPauses, type Pause } from "../store/pauses.ts";
import type { SpendCap } from "../store/schema/partners.ts";
import type { Row } from "../store/schema/tables.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

/** What may refuse an order beside its own content. */
export interface GuardRails {
  pauses: readonly Pick<Pause, "kind" | "name" | "reason">[];
  /** The caps of the credential that places it; null: it has none. */
  budget: Budget | null;
}

/** Caps, and the credential that they are counted for. */
export interface Budget {
  clientId: string;
  caps: readonly SpendCap[];
}

/** One round trip for both: the row of caps, once for each pause, or once without any. */
const ofCredential = statement((db, t, slot: Slots<{ client_id: string }>) => {
  const guarding = sql`coalesce(
    (select c.guarded_by from ${t.credentials} c where c.client_id = ${slot.client_id}), ${slot.client_id})`;
  const { kind, name, reason } = t.pauses;
  return db
    .select({ client_id: t.credentials.client_id, caps: t.credentials.spend_caps, kind, name, reason })
    .from(t.credentials)
    .leftJoin(t.pauses, sql`true`)
    .where(eq(t.credentials.client_id, guarding));
});

/** The guard rails of an order that a credential places; null: the operator does, whom no cap binds. */
export async function guardRailsOf(q: Read, clientId: string | null): Promise<GuardRails> {
  if (clientId === null) return { pauses: await currentPauses(q), budget: null };
  const rows = await ofCredential(q, { client_id: clientId });
  const [{ client_id, caps } = { client_id: clientId, caps: null }] = rows;
  return {
    pauses: rows.flatMap(({ kind, name, reason }) =>
      kind === null || name === null || reason === null ? [] : [{ kind, name, reason }],
    ),
    budget: caps === null || caps.length === 0 ? null : { clientId: client_id, caps },
  };
}

/** Throws `paused` while all orders are paused. */
export function refuseWhilePaused({ pauses }: GuardRails): void {
  const pause = pauses.find(({ kind }) => kind === "orders");
  if (pause !== undefined) throw paused("New orders are paused", pause.reason);
}

/** Throws `paused` for the first product whose supplier is paused. */
export function refusePausedSupplier(
  { pauses }: GuardRails,
  lines: readonly { product: Pick<Row<"products">, "sku" | "supplier"> }[],
): void {
  if (pauses.length === 0) return;
  for (const { product } of lines) {
    const pause = pauses.find(({ kind, name }) => kind === "supplier" && name === product.supplier);
    if (pause !== undefined) throw paused(`New orders of ${product.sku} are paused`, pause.reason);
  }
}

function paused(what: string, reason: string): Problem {
  return new Problem("paused", `${what}: ${reason}`, { members: { reason } });
}
