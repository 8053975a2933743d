import { and, count, eq, min } from "drizzle-orm";
import type { ProductId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import { formatCost } from "../kernel/cost.ts";
import type { ProductStatus } from "../store/schema/values.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { NEGATIVE_MARGIN } from "./held.ts";

/** A product that a sync took off sale, since its price no longer covers its cost: the operator decides. */
export interface HeldProduct {
  id: ProductId;
  sku: string;
  supplier: string | null;
  price_cents: number;
  currency: string;
  /** What a unit costs. */
  cost: string | null;
  cost_currency: string | null;
  /** When it was last changed: it is held since then, or longer. */
  since: string;
}

type Asked = Slots<{ status: ProductStatus; held: string }>;

// What is held is inactive, which an index finds.
const held = statement((db, t, slot: Asked) =>
  db
    .select()
    .from(t.products)
    .where(and(eq(t.products.status, slot.status), eq(t.products.held, slot.held))),
);

const counted = statement((db, t, slot: Asked) =>
  db
    .select({ many: count(), since: min(t.products.updated_at) })
    .from(t.products)
    .where(and(eq(t.products.status, slot.status), eq(t.products.held, slot.held))),
);

const asked = { status: "inactive", held: NEGATIVE_MARGIN } as const;

/** The products that wait for the operator to accept their margin, or to set a price; the longest waiting first. */
export async function heldProducts(q: Read): Promise<HeldProduct[]> {
  const rows = (await held(q, asked)).sort(
    (one, other) => one.updated_at - other.updated_at || (one.id < other.id ? -1 : 1),
  );
  return rows.map((row) => ({
    id: row.id,
    sku: row.sku,
    supplier: row.supplier,
    price_cents: row.price_cents,
    currency: row.currency,
    cost: row.cost === null ? null : formatCost(row.cost),
    cost_currency: row.cost_currency,
    since: isoTime(row.updated_at),
  }));
}

/** How many those are, and since when (ms) the first of them is. */
export async function countHeld(q: Read): Promise<{ many: number; since: number | null }> {
  return first(await counted(q, asked)) ?? { many: 0, since: null };
}
