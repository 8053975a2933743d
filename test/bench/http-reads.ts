import { fastify } from "fastify";
import { createOrder } from "../../src/core/orders/create.ts";
import { createFulfilment } from "../../src/daemon/workers/fulfilment.ts";
import { addStock } from "../support/catalog.ts";
import { settled } from "../support/pool.ts";
import { type Bench, compare, type Measured, type Scale } from "./bench.ts";
import { httpLoad } from "./http-load.ts";
import { type BenchStore, benchStore, servePlatform } from "./platform.ts";

const CONNECTIONS = 32;

/** Orders of which a page lists 20. */
const ORDERS = 30;

/**
 * A page of the catalog, a page of orders and one fulfilled order over HTTP, against a Fastify that sends the same
 * bytes from memory.
 */
export const httpReads: Bench = async (scale) => {
  const opened = await benchStore();
  const { app, url, token } = await servePlatform(opened);
  try {
    const headers = { authorization: `Bearer ${token}` };
    const [order] = await fulfilledOrders(opened);
    return [
      await against(scale, { what: "GET /products (page of 20)", url: `${url}/api/v1/products`, headers }),
      await against(scale, { what: "GET /orders/{id}", url: `${url}/api/v1/orders/${order}`, headers }),
      await against(scale, { what: "GET /orders?limit=20", url: `${url}/api/v1/orders?limit=20`, headers }),
    ];
  } finally {
    await app.close();
    await opened.close();
  }
};

/** Places orders of one eSIM; their IDs. */
export async function fulfilledOrders({
  store,
  partnerId,
  productId,
}: Pick<BenchStore, "store" | "partnerId" | "productId">): Promise<string[]> {
  await addStock(store, "PLAN-0", ORDERS);
  const placed = Array.from({ length: ORDERS }, (_, number) =>
    store.write(createOrder, {
      partnerId,
      environment: "production",
      key: { space: "single", value: `read-${number}` },
      payloadHash: "read",
      lines: [{ product_id: productId, quantity: 1 }],
      metadata: {},
      activationRequests: [],
      customer: null,
    }),
  );
  const created = await Promise.all(placed);
  await settled(createFulfilment({ store, log: console }));
  return created.map(({ order }) => order.id);
}

interface Read {
  what: string;
  url: string;
  headers: Record<string, string>;
}

async function against(scale: Scale, { what, url, headers }: Read): Promise<Measured> {
  const answer = await fetch(url, { headers });
  const bare = await serveBytes(await answer.text());
  try {
    return await compare(scale, {
      what,
      peer: "bare Fastify, same bytes from memory",
      ours: (amount) => httpLoad({ url, connections: CONNECTIONS, amount, headers }),
      bare: (amount) => httpLoad({ url: bare.url, connections: CONNECTIONS, amount, headers }),
      inProcess: true,
    });
  } finally {
    await bare.close();
  }
}

/** The peer: no authentication, no limits, no log, no database. */
async function serveBytes(text: string) {
  const app = fastify();
  app.get("/", (_request, reply) => reply.type("application/json; charset=utf-8").send(text));
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  return { url, close: () => app.close() };
}
