import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { fastify } from "fastify";
import { createCredential } from "../../src/core/credentials/create.ts";
import { createOrder, type NewOrder } from "../../src/core/orders/create.ts";
import { type Bench, compare, type Measured, ownCpu, paceOf, type Scale, type Side } from "./bench.ts";
import { httpLoad } from "./http-load.ts";
import { addStockInBatches, install, serveInstallation } from "./installation.ts";
import { type Load, NEW_ID } from "./load.ts";
import { type BenchStore, benchStore } from "./platform.ts";
import { rawOrders } from "./raw-orders.ts";

const CALLERS = 64;
export const PEER = "better-sqlite3, same rows, one transaction each";

/**
 * Orders of one line, charged and durable: through the store, where they wait for stock, and from stock over HTTP, by
 * `serve` as its users start it, each against better-sqlite3 alone; then over HTTP against a Fastify that checks the
 * same body and sends it back.
 */
export const orderCreation: Bench = async (scale) => [await inStore(scale), ...(await overHttp(scale))];

async function inStore(scale: Scale): Promise<Measured> {
  const opened = await benchStore();
  const peer = await benchStore();
  const { side: bare, close } = rawSide(peer);
  try {
    const what = `store.write(createOrder), ${CALLERS} callers`;
    return await compare(scale, { what, peer: PEER, ours: await throughStore(opened), bare });
  } finally {
    close();
    await Promise.all([opened.close(), peer.close()]);
  }
}

async function overHttp(scale: Scale): Promise<Measured[]> {
  const folder = mkdtempSync(join(tmpdir(), "esimctl-orders-"));
  const sold = scale.rounds * scale.items + Math.ceil(scale.items * scale.warmUp);
  const peer = await benchStore();
  const { side: bare, close } = rawSide({ ...peer, stock: await stockOf(peer, sold) });
  const echo = await serveEcho();
  try {
    const installed = await install(join(folder, "data"), { orders: 0, stock: 2 * sold });
    const { url, token, cpu, stop } = await serveInstallation(installed);
    try {
      const what = `POST /orders, ${CALLERS} connections`;
      const ours = throughHttp(installed, url, token);
      return [
        await compare(scale, { what, peer: PEER, ours, bare }),
        await compare(scale, {
          what,
          peer: "bare Fastify, the body validated and sent back",
          ours,
          bare: throughHttp(installed, echo.url, token),
          cpu: cpu && { ours: cpu, bare: ownCpu },
        }),
      ];
    } finally {
      await stop();
    }
  } finally {
    await echo.close();
    close();
    await peer.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** eSIMs of the product that is sold; their IDs. */
export async function stockOf({ store, file }: BenchStore, count: number): Promise<string[]> {
  await addStockInBatches(store, count);
  const database = new Database(file, { readonly: true });
  const ids = database.prepare("SELECT id FROM esims WHERE order_id IS NULL ORDER BY id").pluck().all();
  database.close();
  return ids.map(String);
}

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

/** The peer: orders of better-sqlite3 alone, one transaction each; from its stock, where it has some. */
export function rawSide(peer: Parameters<typeof rawOrders>[0]): { side: Side; close(): void } {
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
export function throughHttp(opened: Pick<BenchStore, "productId">, url: string, token: string): Side {
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
    "idempotency-key": NEW_ID,
  };
  const body = JSON.stringify({ line_items: [{ product_id: productId, quantity: 1 }] });
  return { url: `${url}/api/v1/orders`, method: "POST", connections: CALLERS, headers, body };
}
