import type { PartnerId } from "../kernel/brand.ts";
import { priceListOf } from "../prices/lists.ts";
import type { Read } from "../store/store.ts";
import { listProducts, type ProductFilter, type ProductPage } from "./list.ts";
import { type ProductDetail, showProductAt } from "./product.ts";

type Own<T> = T & { partnerId: PartnerId };

/** A page of the catalog at the prices of a partner. Throws as `listProducts` does. */
export async function listOwnProducts(
  q: Read,
  { partnerId, ...filter }: Own<Omit<ProductFilter, "priceList">>,
): Promise<ProductPage> {
  return listProducts(q, { ...filter, priceList: await priceListOf(q, partnerId) });
}

/** One product at the price of a partner. Throws `not_found`. */
export async function showOwnProduct(q: Read, { partnerId, id }: Own<{ id: string }>): Promise<ProductDetail> {
  return showProductAt(q, { id, priceList: await priceListOf(q, partnerId) });
}
