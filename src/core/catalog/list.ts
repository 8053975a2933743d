import { and, asc, desc, eq, type SQL, sql } from "drizzle-orm";
import { countryName, coversCountry, readCountry } from "../kernel/country.ts";
import { type Pagination, type Position, pageOf, type Window } from "../kernel/page.ts";
import { invalid } from "../kernel/problem.ts";
import { regionKey } from "../kernel/search-keys.ts";
import { type PriceUnit, pricesOfList } from "../prices/unit-price.ts";
import type { Row, Tables } from "../store/schema/tables.ts";
import type { PlanType, ProductPurpose, ProductSort, ProductStatus, SortOrder } from "../store/schema/values.ts";
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
  /** Left out: plans of their own. */
  purpose?: ProductPurpose | undefined;
  status: ProductStatus;
  sort_by: ProductSort;
  sort_order: SortOrder;
  /** Whose prices it shows; left out or null: the catalog's. */
  priceList?: string | null | undefined;
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
  purpose: ProductPurpose;
  key: string | number;
  id: string;
  limit: number;
}

/** A page of the catalog (contract: GET /products). Throws `invalid_cursor`, `validation` for an unknown country. */
export async function listProducts(q: Read, filter: ProductFilter): Promise<ProductPage> {
  const { priceList = null } = filter;
  return pageOfProducts(q, filter, priceList === null ? null : await pricesOfList(q, priceList));
}

/** The same, where the prices of its list were read before; null: they are the catalog's. */
export async function pageOfProducts(q: Read, filter: ProductFilter, price: PriceUnit | null): Promise<ProductPage> {
  const { limit, cursor, priceList, ...filters } = filter;
  const asked = filteredBy(filter);
  // A partner with the catalog's prices keeps the cursors that it has.
  const binding = { list: "products", ...filters, ...asked.binding, price_list: priceList ?? undefined };
  const byPrice = price !== null && filter.sort_by === "price_cents";
  const { rows, pagination } = await pageOf(
    { limit, cursor, binding, start: { key: firstKeys[filter.sort_by], id: "" } },
    async (window) => {
      if (byPrice) return windowByPrice(await priced(await matching(q, filter), price), filter.sort_order, window);
      const { first, key, id, limit: most } = window;
      const place = first ? {} : { key, id };
      const found = await shapeOf(filter, first ? "first" : "next")(q, { ...asked.params, ...place, limit: most });
      return price === null ? found : priced(found, price);
    },
    (row): Position<string | number> => ({ key: row[filter.sort_by], id: row.id }),
  );
  return { data: rows.map(toProduct), pagination };
}

/** What decides which products are in a list, wherever it starts and however it is sorted. */
type Selection = Pick<ProductFilter, "region" | "country" | "type" | "status" | "purpose">;

/** Every product that a filter lets pass, in no order. */
export function matching(q: Read, { region, country, type, status, purpose }: Selection): Promise<Row<"products">[]> {
  const filter = {
    region,
    country,
    type,
    status,
    purpose,
    limit: 0,
    sort_by: "created_at",
    sort_order: "asc",
  } as const;
  return shapeOf(filter, "all")(q, filteredBy(filter).params);
}

/** The rows at the prices of one unit each. */
function priced(rows: readonly Row<"products">[], price: PriceUnit): Promise<Row<"products">[]> {
  return Promise.all(rows.map(async (row) => ({ ...row, price_cents: (await price(row, 1)).unit_price_cents })));
}

/** The parameters of a filter, and what its cursors are bound to beside it. */
function filteredBy({ region: place, country: named, type, status, purpose = "plan" }: Selection) {
  const region = place === undefined ? undefined : regionKey(place);
  const country = named === undefined ? undefined : knownCountry(named);
  const params = {
    purpose,
    status,
    ...(region === undefined ? {} : { region }),
    ...(country === undefined ? {} : { country: coversCountry(country) }),
    ...(type === undefined ? {} : { type }),
  };
  return { params, binding: { region, country } };
}

/** Sorts by price and id, and takes the rows of a window: prices of a list are in no index. */
function windowByPrice(
  rows: readonly Row<"products">[],
  order: SortOrder,
  { first, key, id, limit }: Window<string | number>,
): Row<"products">[] {
  const direction = order === "asc" ? 1 : -1;
  const compare = (one: [number, string], other: [number, string]) =>
    direction * (one[0] - other[0] || (one[1] < other[1] ? -1 : one[1] > other[1] ? 1 : 0));
  const place: [number, string] = [Number(key), id];
  return rows
    .filter((row) => first || compare([row.price_cents, row.id], place) > 0)
    .sort((one, other) => compare([one.price_cents, one.id], [other.price_cents, other.id]))
    .slice(0, limit);
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

/** Where in its order a statement reads: from the start, from a place on, or all rows in no order. */
type Extent = "first" | "next" | "all";

/** One prepared statement for each combination of filters, sort and direction; kept once made. */
function shapeOf(filter: ProductFilter, extent: Extent): Shape {
  const { sort_by, sort_order, region, country, type } = filter;
  const given = [region, country, type].map((each) => each !== undefined);
  const name = [sort_by, sort_order, ...given, extent].join();
  let shape = shapes.get(name);
  if (shape === undefined) {
    const prepared = statement((db, t, slot: Slots<Params>) => {
      const found = db
        .select()
        .from(t.products)
        .where(
          and(
            eq(t.products.status, slot.status),
            eq(t.products.purpose, slot.purpose),
            region === undefined ? undefined : eq(t.products.region_key, slot.region),
            country === undefined ? undefined : sql`${t.products.coverage_key} like ${slot.country}`,
            type === undefined ? undefined : eq(t.products.type, slot.type),
            extent === "next" ? beyond(t, sort_by, sort_order, slot) : undefined,
          ),
        );
      return extent === "all" ? found : found.orderBy(...ordering(t, sort_by, sort_order)).limit(slot.limit);
    });
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
