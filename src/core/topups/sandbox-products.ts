import { and, asc, eq, sql } from "drizzle-orm";
import type { EsimRow } from "../esims/esim.ts";
import { coversCountry } from "../kernel/country.ts";
import { findByKey } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import type { ProductPurpose, ProductStatus } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

/** Products that are looked at: more are no help in choosing one. */
const MOST = 200;

type Covering = { status: ProductStatus; purpose: ProductPurpose; country: string; limit: number };

const covering = statement((db, t, slot: Slots<Covering>) =>
  db
    .select()
    .from(t.products)
    .where(
      and(
        eq(t.products.status, slot.status),
        eq(t.products.purpose, slot.purpose),
        sql`${t.products.coverage_key} like ${slot.country}`,
      ),
    )
    .orderBy(asc(t.products.created_at), asc(t.products.id))
    .limit(slot.limit),
);

/**
 * The products that a sandbox eSIM can be topped up with: those that are marked as top-ups, are on sale and cover every
 * country of its own product; where the catalog has none, its own product.
 */
export async function sandboxTopups(q: Read, { product_id }: Pick<EsimRow, "product_id">): Promise<Row<"products">[]> {
  const own = await findByKey(q, "products", { id: product_id });
  if (own === null) throw new Error("an eSIM's product is always there");
  const [country] = countriesOf(own);
  const found = await covering(q, {
    status: "active",
    purpose: "topup",
    country: country === undefined ? "%" : coversCountry(country),
    limit: MOST,
  });
  const fitting = found.filter((product) => covers(product, own));
  if (fitting.length > 0) return fitting;
  return own.status === "active" ? [own] : [];
}

function countriesOf({ coverage_key }: Pick<Row<"products">, "coverage_key">): string[] {
  return coverage_key.split(" ").filter((code) => code !== "");
}

/** Whether a product is of use wherever the other one is; places that are no countries are compared by their region. */
function covers(product: Row<"products">, other: Row<"products">): boolean {
  const needed = countriesOf(other);
  if (needed.length === 0) return product.region_key === other.region_key;
  const has = new Set(countriesOf(product));
  return needed.every((code) => has.has(code));
}
