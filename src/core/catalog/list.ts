import { and, asc, desc, eq, type SQL, sql } from "drizzle-orm";
import { type CursorBinding, decodeCursor, encodeCursor, type Position, toPage } from "../kernel/page.ts";
import type { PlanType, ProductStatus } from "../store/schema/catalog.ts";
import type { Row, Tables } from "../store/schema/tables.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { type Product, toProduct } from "./product.ts";

export const productSorts = ["created_at", "price_cents", "name"] as const;
export type ProductSort = (typeof productSorts)[number];

/** Which products, in which order, from where on. */
export interface ProductFilter {
  limit: number;
  cursor?: string | undefined;
  region?: string | undefined;
  type?: PlanType | undefined;
  status: ProductStatus;
  sort_by: ProductSort;
  sort_order: "asc" | "desc";
}

/** Contract: Product list. */
export interface ProductPage {
  data: Product[];
  pagination: { has_more: boolean; next_cursor: string | null; count: number };
}

interface Params {
  status: ProductStatus;
  region: string;
  type: PlanType;
  key: string | number;
  id: string;
  limit: number;
}

/** A page of the catalog (contract: GET /products). Throws `invalid_cursor`. */
export async function listProducts(q: Read, filter: ProductFilter): Promise<ProductPage> {
  const { limit, cursor, ...binding } = filter;
  const bound: CursorBinding = { list: "products", ...binding };
  const after = cursor === undefined ? null : decodeCursor(cursor, bound, keyTypes[filter.sort_by]);
  const rows = await shapeOf(filter, after !== null)(q, {
    status: filter.status,
    ...(filter.region === undefined ? {} : { region: filter.region }),
    ...(filter.type === undefined ? {} : { type: filter.type }),
    ...(after ?? {}),
    limit: limit + 1,
  });
  const page = toPage(rows, limit, (row): Position => ({ key: row[filter.sort_by], id: row.id }));
  const next_cursor = page.next === null ? null : encodeCursor(page.next, bound);
  return {
    data: page.data.map(toProduct),
    pagination: { has_more: next_cursor !== null, next_cursor, count: page.data.length },
  };
}

const keyTypes = { created_at: "number", price_cents: "number", name: "string" } as const;

/** A shape is given the parameters it has slots for. */
type Shape = (q: Read, params: Partial<Params>) => Promise<Row<"products">[]>;
const shapes = new Map<string, Shape>();

/** One prepared statement for each combination of filters, sort and direction; kept once made. */
function shapeOf(filter: ProductFilter, paged: boolean): Shape {
  const { sort_by, sort_order, region, type } = filter;
  const name = [sort_by, sort_order, region !== undefined, type !== undefined, paged].join();
  let shape = shapes.get(name);
  if (shape === undefined) {
    const prepared = statement((db, t, slot: Slots<Params>) =>
      db
        .select()
        .from(t.products)
        .where(
          and(
            eq(t.products.status, slot.status),
            region === undefined ? undefined : eq(t.products.region, slot.region),
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

function beyond(t: Tables, sort: ProductSort, order: "asc" | "desc", slot: Slots<Params>): SQL {
  const here = sql`(${t.products[sort]}, ${t.products.id})`;
  const there = sql`(${slot.key}, ${slot.id})`;
  return order === "asc" ? sql`${here} > ${there}` : sql`${here} < ${there}`;
}

function ordering(t: Tables, sort: ProductSort, order: "asc" | "desc"): SQL[] {
  const direction = order === "asc" ? asc : desc;
  return [direction(t.products[sort]), direction(t.products.id)];
}
