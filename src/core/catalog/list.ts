import { and, asc, desc, eq, type SQL, sql } from "drizzle-orm";
import { countryName, coversCountry, readCountry } from "../kernel/country.ts";
import { type Pagination, type Position, pageOf } from "../kernel/page.ts";
import { invalid } from "../kernel/problem.ts";
import { regionKey } from "../kernel/search-keys.ts";
import type { Row, Tables } from "../store/schema/tables.ts";
import type { PlanType, ProductSort, ProductStatus, SortOrder } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { type Product, toProduct } from "./product.ts";

/** Which products, in which order, from where on. */
export interface ProductFilter {
  limit: number;
  cursor?: string | undefined;
  /** In any case. */
  region?: string | undefined;
  /** An ISO 3166-1 code or an English name: products whose coverage names the country. */
  country?: string | undefined;
  type?: PlanType | undefined;
  status: ProductStatus;
  sort_by: ProductSort;
  sort_order: SortOrder;
}

/** Contract: Product list. */
export interface ProductPage {
  data: Product[];
  pagination: Pagination;
}

interface Params {
  status: ProductStatus;
  region: string;
  country: string;
  type: PlanType;
  key: string | number;
  id: string;
  limit: number;
}

/** A page of the catalog (contract: GET /products). Throws `invalid_cursor`, `validation` for an unknown country. */
export async function listProducts(q: Read, filter: ProductFilter): Promise<ProductPage> {
  const { limit, cursor, ...filters } = filter;
  const region = filter.region === undefined ? undefined : regionKey(filter.region);
  const country = filter.country === undefined ? undefined : knownCountry(filter.country);
  const binding = { list: "products", ...filters, region, country };
  const { rows, pagination } = await pageOf(
    { limit, cursor, binding, start: { key: firstKeys[filter.sort_by], id: "" } },
    ({ first, key, id, limit: most }) =>
      shapeOf(filter, !first)(q, {
        status: filter.status,
        ...(region === undefined ? {} : { region }),
        ...(country === undefined ? {} : { country: coversCountry(country) }),
        ...(filter.type === undefined ? {} : { type: filter.type }),
        ...(first ? {} : { key, id }),
        limit: most,
      }),
    (row): Position<string | number> => ({ key: row[filter.sort_by], id: row.id }),
  );
  return { data: rows.map(toProduct), pagination };
}

function knownCountry(text: string): string {
  const read = readCountry(text);
  if ("code" in read) return read.code;
  if ("ambiguous" in read) {
    const which = read.ambiguous.map((code) => `${code} (${countryName(code)})`).join(" or ");
    throw invalid({ country: [`names several countries: give ${which}`] });
  }
  throw invalid({ country: ["must be an ISO 3166-1 country code such as JP or JPN, or a country's English name"] });
}

/** A key of each sort's type. */
const firstKeys: Record<ProductSort, string | number> = { created_at: 0, price_cents: 0, name: "" };

/** A shape is given the parameters it has slots for. */
type Shape = (q: Read, params: Partial<Params>) => Promise<Row<"products">[]>;
const shapes = new Map<string, Shape>();

/** One prepared statement for each combination of filters, sort and direction; kept once made. */
function shapeOf(filter: ProductFilter, paged: boolean): Shape {
  const { sort_by, sort_order, region, country, type } = filter;
  const given = [region, country, type].map((each) => each !== undefined);
  const name = [sort_by, sort_order, ...given, paged].join();
  let shape = shapes.get(name);
  if (shape === undefined) {
    const prepared = statement((db, t, slot: Slots<Params>) =>
      db
        .select()
        .from(t.products)
        .where(
          and(
            eq(t.products.status, slot.status),
            region === undefined ? undefined : eq(t.products.region_key, slot.region),
            country === undefined ? undefined : sql`${t.products.coverage_key} like ${slot.country}`,
            type === undefined ? undefined : eq(t.products.type, slot.type),
            paged ? beyond(t, sort_by, sort_order, slot) : undefined,
          ),
        )
        .orderBy(...ordering(t, sort_by, sort_order))
        .limit(slot.limit),
    );
    // Slots that this shape does not use are not missed.
    shape = (q, params) => prepared(q, params as Params);
    shapes.set(name, shape);
  }
  return shape;
}

function beyond(t: Tables, sort: ProductSort, order: SortOrder, slot: Slots<Params>): SQL {
  const here = sql`(${t.products[sort]}, ${t.products.id})`;
  const there = sql`(${slot.key}, ${slot.id})`;
  return order === "asc" ? sql`${here} > ${there}` : sql`${here} < ${there}`;
}

function ordering(t: Tables, sort: ProductSort, order: SortOrder): SQL[] {
  const direction = order === "asc" ? asc : desc;
  return [direction(t.products[sort]), direction(t.products.id)];
}
