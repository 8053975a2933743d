import { aliasedTable, eq, sql } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import { Problem } from "../kernel/problem.ts";
import { together } from "../kernel/together.ts";
import type { Pause } from "../platform/pauses.ts";
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
  /** Whose prices its partner has; null: the catalog's. */
  priceList: string | null;
}

/** Who places an order, and for whom. */
export interface Buyer {
  partnerId: PartnerId;
  /** The client ID of the credential that places it; null: the operator does, whom no cap binds. */
  credential: string | null;
}

/** Caps, and the credential that they are counted for. */
export interface Budget {
  clientId: string;
  caps: readonly SpendCap[];
}

/**
 * One round trip for all: of each credential the row of its caps and its partner's price list, once for each pause, or
 * once without any. `ids` is a list as `listOf` makes it.
 */
const ofCredentials = statement((db, t, slot: Slots<{ ids: string }>, dialect) => {
  const guarding = aliasedTable(t.credentials, "guarding");
  const { kind, name, reason } = t.pauses;
  const { client_id: asked, guarded_by } = t.credentials;
  return db
    .select({
      asked,
      client_id: guarding.client_id,
      caps: guarding.spend_caps,
      price_list: t.partners.price_list,
      kind,
      name,
      reason,
    })
    .from(t.credentials)
    .innerJoin(t.partners, sql`${t.partners.id} = ${t.credentials.partner_id}`)
    .innerJoin(guarding, sql`${guarding.client_id} = coalesce(${guarded_by}, ${asked})`)
    .leftJoin(t.pauses, sql`true`)
    .where(isListed(dialect, asked, slot.ids));
});

/** The same of a partner for which the operator orders: the row of the partner. */
const ofPartner = statement((db, t, slot: Slots<{ id: PartnerId }>) => {
  const { kind, name, reason } = t.pauses;
  return db
    .select({ price_list: t.partners.price_list, kind, name, reason })
    .from(t.partners)
    .leftJoin(t.pauses, sql`true`)
    .where(eq(t.partners.id, slot.id));
});

/** The guard rails of orders. */
export const guardRails = loader<Buyer, GuardRails>({
  name: ({ credential, partnerId }) => credential ?? partnerId,
  async loadMany(q, buyers) {
    const ids = buyers.flatMap(({ credential }) => credential ?? []);
    const rows = Map.groupBy(await ofCredentials(q, { ids: listOf(ids) }), ({ asked }) => asked);
    return together(
      ...buyers.map(async (buyer) =>
        buyer.credential === null ? byOperator(q, buyer) : railsIn(rows.get(buyer.credential) ?? []),
      ),
    );
  },
  async loadOne(q, buyer) {
    const { credential } = buyer;
    return credential === null ? byOperator(q, buyer) : railsIn(await ofCredentials(q, { ids: listOf([credential]) }));
  },
});

async function byOperator(q: Read, { partnerId }: Buyer): Promise<GuardRails> {
  const rows = await ofPartner(q, { id: partnerId });
  return { pauses: pausesIn(rows), budget: null, priceList: rows[0]?.price_list ?? null };
}

/** What rows of one credential come to. */
function railsIn(rows: Awaited<ReturnType<typeof ofCredentials>>): GuardRails {
  const [one] = rows;
  return {
    pauses: pausesIn(rows),
    budget:
      one === undefined || one.caps === null || one.caps.length === 0
        ? null
        : { clientId: one.client_id, caps: one.caps },
    priceList: one?.price_list ?? null,
  };
}

/** The pauses that rows were joined with. */
function pausesIn(rows: readonly { [K in "kind" | "name" | "reason"]: Pause[K] | null }[]): GuardRails["pauses"] {
  return rows.flatMap(({ kind, name, reason }) =>
    kind === null || name === null || reason === null ? [] : [{ kind, name, reason }],
  );
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
