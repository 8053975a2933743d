import { and, eq, type SQL } from "drizzle-orm";
import type { ProductId } from "../kernel/brand.ts";
import { regionKey } from "../kernel/search-keys.ts";
import type { Tables } from "../store/schema/tables.ts";
import type { ProductStatus } from "../store/schema/values.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Db, Read } from "../store/store.ts";

/** Which products the inventory is asked for; empty: all. */
export interface InventoryFilter {
  /** Only these products, together with those of `skus`; both absent: all. */
  productIds?: readonly string[] | undefined;
  skus?: readonly string[] | undefined;
  region?: string | undefined;
}

/** What one product has in stock; null where nothing is stocked. */
export interface InventoryLine {
  product_id: ProductId;
  sku: string;
  name: string;
  region: string;
  status: ProductStatus;
  /** eSIMs held in stock; null where nothing is stocked. */
  available: number | null;
}

function lines(db: Db, t: Tables, condition: SQL | undefined) {
  return db
    .select({
      product_id: t.products.id,
      sku: t.products.sku,
      name: t.products.name,
      region: t.products.region,
      status: t.products.status,
      delivery_method: t.products.delivery_method,
      stocked: t.stockPools.available,
    })
    .from(t.products)
    .leftJoin(t.stockPools, eq(t.stockPools.product_id, t.products.id))
    .where(condition)
    .orderBy(t.products.sku);
}

const byId = statement((db, t, slot: Slots<{ id: string }>) => lines(db, t, eq(t.products.id, slot.id)));
const bySku = statement((db, t, slot: Slots<{ sku: string }>) => lines(db, t, eq(t.products.sku, slot.sku)));
const ofRegion = statement((db, t, slot: Slots<{ region: string }>) =>
  lines(db, t, eq(t.products.region_key, slot.region)),
);
const all = statement((db, t, _slot) => lines(db, t, and()));

type Found = Awaited<ReturnType<typeof all>>[number];

/** What is in stock (contract: GET /inventory/status, deprecated), by SKU. Products that do not exist are left out. */
export async function inventoryStatus(
  q: Read,
  filter: InventoryFilter,
): Promise<{ data: InventoryLine[]; count: number }> {
  const data = (await found(q, filter)).map(({ stocked, delivery_method, ...line }) => ({
    ...line,
    available: delivery_method === "stock" ? (stocked ?? 0) : null,
  }));
  return { data, count: data.length };
}

async function found(q: Read, { productIds, skus, ...filter }: InventoryFilter): Promise<Found[]> {
  const region = filter.region === undefined ? undefined : regionKey(filter.region);
  if (productIds === undefined && skus === undefined)
    return region === undefined ? all(q, {}) : ofRegion(q, { region });
  const chosen = new Map<string, Found>();
  for (const id of productIds ?? []) keep(chosen, first(await byId(q, { id })), region);
  for (const sku of skus ?? []) keep(chosen, first(await bySku(q, { sku })), region);
  return [...chosen.values()].sort((a, b) => (a.sku < b.sku ? -1 : 1));
}

function keep(chosen: Map<string, Found>, line: Found | null, region: string | undefined): void {
  if (line !== null && (region === undefined || regionKey(line.region) === region)) chosen.set(line.product_id, line);
}
