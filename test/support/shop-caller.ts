import { call, type Reply } from "./platform.ts";
import { type Shop, shopToken } from "./shop.ts";

/** A caller of a shop's daemon, whose token was fetched while all was well. It orders one unit of `product`. */
export async function callerOf(shop: Shop, url: string, product = shop.products.EU5) {
  const authorization = `Bearer ${await shopToken(shop, url)}`;
  const body = JSON.stringify({ line_items: [{ product_id: product, quantity: 1 }] });
  return {
    order: (key: string): Promise<Reply> =>
      call(`${url}/api/v1/orders`, {
        method: "POST",
        headers: { authorization, "content-type": "application/json", "idempotency-key": key },
        body,
      }),
    get: (path: string) => call(url + path, { headers: { authorization } }),
  };
}
