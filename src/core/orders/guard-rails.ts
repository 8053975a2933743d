import { aliasedTable, sql } from "drizzle-orm";
import { Problem } from "../kernel/problem.ts";
import { currentPauses, type Pause } from "../platform/pauses.ts";
import { loader } from "../store/batch-context.ts";
import type { Row } from "../store/schema/tables.ts";
import type { SpendCap } from "../store/schema/values.ts";
import { isListed, listOf, type Slots, statement } from "../store/statement.ts";
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

/**
 * One round trip for both: of each credential the row of its caps, once for each pause, or once without any. `ids` is
 * a list as `listOf` makes it.
 */
const ofCredentials = statement((db, t, slot: Slots<{ ids: string }>, dialect) => {
  const guarding = aliasedTable(t.credentials, "guarding");
  const { kind, name, reason } = t.pauses;
  const { client_id: asked, guarded_by } = t.credentials;
  return db
    .select({ asked, client_id: guarding.client_id, caps: guarding.spend_caps, kind, name, reason })
    .from(t.credentials)
    .innerJoin(guarding, sql`${guarding.client_id} = coalesce(${guarded_by}, ${asked})`)
    .leftJoin(t.pauses, sql`true`)
    .where(isListed(dialect, asked, slot.ids));
});

/** The guard rails of orders that a credential places; null: the operator does, whom no cap binds. */
export const guardRails = loader<string | null, GuardRails>({
  async loadMany(q, clientIds) {
    const ids = clientIds.filter((id) => id !== null);
    const rows = Map.groupBy(await ofCredentials(q, { ids: listOf(ids) }), ({ asked }) => asked);
    return Promise.all(clientIds.map((id) => (id === null ? ofOperator(q) : railsIn(rows.get(id) ?? []))));
  },
  loadOne: async (q, id) => (id === null ? ofOperator(q) : railsIn(await ofCredentials(q, { ids: listOf([id]) }))),
});

async function ofOperator(q: Read): Promise<GuardRails> {
  return { pauses: await currentPauses(q), budget: null };
}

/** What rows of one credential come to. */
function railsIn(rows: Awaited<ReturnType<typeof ofCredentials>>): GuardRails {
  const [one] = rows;
  return {
    pauses: rows.flatMap(({ kind, name, reason }) =>
      kind === null || name === null || reason === null ? [] : [{ kind, name, reason }],
    ),
    budget:
      one === undefined || one.caps === null || one.caps.length === 0
        ? null
        : { clientId: one.client_id, caps: one.caps },
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
