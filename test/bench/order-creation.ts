import { createCredential } from "../../src/core/credentials/create.ts";
import { createOrder, type NewOrder } from "../../src/core/orders/create.ts";
import { type Bench, compare, perSecond, type Side } from "./bench.ts";
import { httpLoad } from "./http-load.ts";
import { type BenchStore, benchStore, servePlatform } from "./platform.ts";
import { rawOrders } from "./raw-orders.ts";

const CALLERS = 64;
const PEER = "better-sqlite3, same rows, one transaction each";

/** Orders of one line, charged and durable: through the store, and over HTTP, each against better-sqlite3 alone. */
export const orderCreation: Bench = async (scale) => {
  const opened = await benchStore();
  const peer = await benchStore();
  const raw = rawOrders(peer);
  const { app, url, token } = await servePlatform(opened);
  const bare: Side = (orders) =>
    perSecond(orders, async () => {
      for (let index = 0; index < orders; index++) raw.create(crypto.randomUUID());
    });
  try {
    const what = `store.write(createOrder), ${CALLERS} callers`;
    const overHttp = `POST /orders, ${CALLERS} connections`;
    return [
      await compare(scale, { what, peer: PEER, ours: await throughStore(opened), bare }),
      await compare(scale, { what: overHttp, peer: PEER, ours: throughHttp(opened, url, token), bare }),
    ];
  } finally {
    await app.close();
    raw.close();
    await Promise.all([opened.close(), peer.close()]);
  }
};

async function throughStore({ store, partnerId, productId }: BenchStore): Promise<Side> {
  const asked = { partner: "bench", live: true, actor: "bench" };
  const { client_id: credential } = await store.write(createCredential, asked);
  const order = (): NewOrder => ({
    partnerId,
    environment: "production",
    key: { space: "single", value: crypto.randomUUID() },
    payloadHash: crypto.randomUUID(),
    lines: [{ product_id: productId, quantity: 1 }],
    metadata: {},
    activationRequests: [],
    customer: null,
    credential,
  });
  return (orders) =>
    perSecond(orders, async () => {
      let left = orders;
      const caller = async () => {
        while (left-- > 0) await store.write(createOrder, order());
      };
      await Promise.all(Array.from({ length: CALLERS }, caller));
    });
}

function throughHttp({ productId }: BenchStore, url: string, token: string): Side {
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    // Inside a longer text: autocannon parses a bracket at either end.
    "idempotency-key": "bench-[<id>]-order",
  };
  const body = JSON.stringify({ line_items: [{ product_id: productId, quantity: 1 }] });
  return (amount) =>
    httpLoad({ url: `${url}/api/v1/orders`, method: "POST", connections: CALLERS, amount, headers, body });
}
