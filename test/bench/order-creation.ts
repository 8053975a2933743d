import { fastify } from "fastify";
import { createCredential } from "../../src/core/credentials/create.ts";
import { createOrder, type NewOrder } from "../../src/core/orders/create.ts";
import { type Bench, compare, paceOf, type Side } from "./bench.ts";
import { httpLoad, type Load } from "./http-load.ts";
import { type BenchStore, benchStore, servePlatform } from "./platform.ts";
import { rawOrders } from "./raw-orders.ts";

const CALLERS = 64;
export const PEER = "better-sqlite3, same rows, one transaction each";

/**
 * Orders of one line, charged and durable: through the store, and over HTTP, each against better-sqlite3 alone; then
 * over HTTP against a Fastify that checks the same body and sends it back.
 */
export const orderCreation: Bench = async (scale) => {
  const opened = await benchStore();
  const peer = await benchStore();
  const { side: bare, close } = rawSide(peer);
  const { app, url, token } = await servePlatform(opened);
  const echo = await serveEcho();
  try {
    const what = `store.write(createOrder), ${CALLERS} callers`;
    const overHttp = `POST /orders, ${CALLERS} connections`;
    return [
      await compare(scale, { what, peer: PEER, ours: await throughStore(opened), bare }),
      await compare(scale, { what: overHttp, peer: PEER, ours: throughHttp(opened, url, token), bare }),
      await compare(scale, {
        what: overHttp,
        peer: "bare Fastify, the body validated and sent back",
        ours: throughHttp(opened, url, token),
        bare: throughHttp(opened, echo.url, token),
        inProcess: true,
      }),
    ];
  } finally {
    await echo.close();
    await app.close();
    close();
    await Promise.all([opened.close(), peer.close()]);
  }
};

/** The other peer: it keeps nothing and looks nothing up. */
async function serveEcho() {
  const app = fastify();
  const line = {
    type: "object",
    required: ["product_id", "quantity"],
    properties: { product_id: { type: "string" }, quantity: { type: "integer", minimum: 1, maximum: 10_000 } },
  };
  const lines = { type: "array", minItems: 1, maxItems: 100, items: line };
  const body = { type: "object", required: ["line_items"], properties: { line_items: lines } };
  app.post("/api/v1/orders", { schema: { body, response: { 201: body } } }, async (request, reply) =>
    reply.code(201).send(request.body),
  );
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  return { url, close: () => app.close() };
}

/** The peer: orders of better-sqlite3 alone, one transaction each. */
export function rawSide(peer: BenchStore): { side: Side; close(): void } {
  const raw = rawOrders(peer);
  const side: Side = (orders) =>
    paceOf(orders, async () => {
      for (let index = 0; index < orders; index++) raw.create(crypto.randomUUID());
    });
  return { side, close: raw.close };
}

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
    paceOf(orders, async () => {
      let left = orders;
      const caller = async () => {
        while (left-- > 0) await store.write(createOrder, order());
      };
      await Promise.all(Array.from({ length: CALLERS }, caller));
    });
}

/** Orders over HTTP by as many connections as there are callers. */
export function throughHttp(opened: BenchStore, url: string, token: string): Side {
  return (amount) => httpLoad({ ...orderLoad(opened, url, token), amount });
}

/** Requests that each create an order. */
export function orderLoad(
  { productId }: Pick<BenchStore, "productId">,
  url: string,
  token: string,
): Omit<Load, "amount"> {
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    // Inside a longer text: autocannon parses a bracket at either end.
    "idempotency-key": "bench-[<id>]-order",
  };
  const body = JSON.stringify({ line_items: [{ product_id: productId, quantity: 1 }] });
  return { url: `${url}/api/v1/orders`, method: "POST", connections: CALLERS, headers, body };
}
