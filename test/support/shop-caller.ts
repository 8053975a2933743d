import { call, type Reply } from "./platform.ts";
import { type Shop, shopToken } from "./shop.ts";

/** A caller of a shop's daemon, whose token was fetched while all was well. It orders one unit of `product`. */
export async function callerOf(shop: Shop, url: string, product = shop.products.EU5) {
  const authorization = `Bearer ${await shopToken(shop, url)}`;
  const json = { authorization, "content-type": "application/json" };
  const body = JSON.stringify({ line_items: [{ product_id: product, quantity: 1 }] });
  return {
    order: (key: string): Promise<Reply> =>
      call(`${url}/api/v1/orders`, {
        method: "POST",
        headers: { ...json, "idempotency-key": key },
        body,
      }),
    addWebhook: (to: string): Promise<Reply> =>
      call(`${url}/api/v1/webhooks`, {
        method: "POST",
        headers: json,
        body: JSON.stringify({ url: to, events: ["*"] }),
      }),
    get: (path: string) => call(url + path, { headers: { authorization } }),
  };
}
