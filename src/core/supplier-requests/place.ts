import type { ProductId } from "../kernel/brand.ts";
import { holdOrder } from "../orders/finish.ts";
import { type ItemRow, lineOfItem, progressItem } from "../orders/items.ts";
import { requireOrder } from "../orders/order.ts";
import type { Tx } from "../store/store.ts";
import { takePassage } from "../supply/circuit.ts";
import { releaseHold } from "../supply/hold.ts";
import { type Route, routeUnit } from "../supply/route.ts";
import { sourcesOf } from "../supply/sources.ts";

/** How long an item waits whose suppliers are all out, where it is not known for how long. */
const OUT_MS = 60_000;

/** An item to be sent to the supplier that it was claimed for. `probe`: see `Taken` of the circuit. */
export interface PlacedItem {
  item: ItemRow;
  probe: number | null;
}

/**
 * Where a claimed unit of a product with sources is bought: here, or null where another supplier has it now, or it
 * waits. A purchase that is under way stays where it is.
 */
export async function placeItem(tx: Tx, item: ItemRow): Promise<PlacedItem | null> {
  if (item.memory !== null) return { item, probe: null };
  const { product_id } = await lineOfItem(tx, item);
  const sources = await sourcesOf(tx, product_id);
  if (item.supplier_sku === null && sources.length === 0) return { item, probe: null };
  // Once it is routed it stays there for as long as units are bought there.
  const isRefused = (item.refused_by ?? []).includes(item.supplier);
  const isSold = sources.some(({ supplier, status }) => supplier === item.supplier && status === "active");
  const passage = item.supplier_sku !== null && isSold && !isRefused ? await takePassage(tx, item.supplier) : null;
  if (passage?.open === false) return { item, probe: passage.probe };
  return routeItem(tx, item, product_id);
}

/** Routes a unit of which nothing was bought. Null: it was moved, or waits. */
export async function routeItem(tx: Tx, item: ItemRow, productId: ProductId): Promise<PlacedItem | null> {
  const route = await routeUnit(tx, { productId, refusedBy: item.refused_by ?? [] });
  // A run that was cut off may have left a hold where nothing was bought.
  await releaseHold(tx, { holder: item.id });
  if (route.kind === "none") {
    // Its last source was taken away: nothing was bought, and staff decide.
    const reason = "no supplier is left for it";
    await progressItem(tx, item, { due_at: null, leased_until: null });
    await holdOrder(tx, await requireOrder(tx, item.order_id), reason, reason);
    return null;
  }
  if (route.kind === "later") {
    const due_at = Math.max(route.until ?? 0, tx.now + (route.until === null ? OUT_MS : 0));
    await progressItem(tx, item, { due_at, leased_until: null, routed: route.reason });
    return null;
  }
  const { supplier } = route.source;
  if (supplier !== item.supplier) return move(tx, item, route);
  const passage = await takePassage(tx, supplier);
  const probe = passage.open ? null : passage.probe;
  return { item: await progressItem(tx, item, placeOf(route)), probe };
}

/**
 * Moves a unit of which nothing was bought to another source that can be asked now, since where it is it cannot be
 * bought: `why` says so behind the supplier's name. False: there is none.
 */
export async function moveElsewhere(tx: Tx, item: ItemRow, why: string): Promise<boolean> {
  const { product_id: productId } = await lineOfItem(tx, item);
  const { supplier } = item;
  const route = await routeUnit(tx, { productId, refusedBy: item.refused_by ?? [], avoid: { supplier, why } });
  if (route.kind !== "buy" || route.source.supplier === supplier) return false;
  await move(tx, item, route);
  return true;
}

type Buying = Extract<Route, { kind: "buy" }>;

function placeOf({ source, reason }: Buying) {
  const { supplier, supplier_sku, days, cost, currency } = source;
  return { supplier, supplier_sku, days, cost, cost_currency: currency, routed: reason };
}

async function move(tx: Tx, item: ItemRow, route: Buying): Promise<null> {
  await progressItem(tx, item, { ...placeOf(route), memory: null, due_at: tx.now, leased_until: null });
  tx.signal("fulfillment");
  return null;
}
