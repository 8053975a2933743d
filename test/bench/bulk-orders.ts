import { type Bench, compare, type Side } from "./bench.ts";
import { httpLoad } from "./http-load.ts";
import { NEW_ID } from "./load.ts";
import { type BenchStore, benchStore, servePlatform } from "./platform.ts";

/** Orders that one request may hold. */
const MOST = 100;

/** The same orders 100 at once in one request, against one request each: one after the other, and 100 under way. */
export const bulkOrders: Bench = async (scale) => {
  const opened = await benchStore();
  const { app, url, token } = await servePlatform(opened);
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const line = { product_id: opened.productId, quantity: 1 };
  const single =
    (connections: number): Side =>
    (amount) => {
      const keyed = { ...headers, "idempotency-key": NEW_ID };
      const body = JSON.stringify({ line_items: [line] });
      return httpLoad({ url: `${url}/api/v1/orders`, method: "POST", connections, amount, headers: keyed, body });
    };
  try {
    const what = `POST /orders/bulk, ${MOST} orders a request, one after the other`;
    const ours = inBulk(opened, url, headers);
    return [
      await compare(scale, { what, peer: "POST /orders, one after the other", ours, bare: single(1) }),
      await compare(scale, { what, peer: `POST /orders, ${MOST} connections`, ours, bare: single(MOST) }),
    ];
  } finally {
    await app.close();
    await opened.close();
  }
};

/** Orders a second; a request more than needed where they do not divide. */
function inBulk({ productId }: BenchStore, url: string, headers: Record<string, string>): Side {
  const customer = { email: "mia@example.com", name: "Mia Chen" };
  const orders = Array.from({ length: MOST }, (_, at) => ({
    external_order_id: `${NEW_ID}-${at}`,
    line_items: [{ product_id: productId, quantity: 1 }],
    customer,
  }));
  const body = JSON.stringify({ orders });
  return async (items) => {
    const amount = Math.ceil(items / MOST);
    const load = { url: `${url}/api/v1/orders/bulk`, method: "POST", connections: 1, amount, headers, body } as const;
    const { perSecond } = await httpLoad(load);
    return { perSecond: MOST * perSecond };
  };
}
