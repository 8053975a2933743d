import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fastify } from "fastify";
import { type Bench, compare, type Measured, ownCpu, type Scale } from "./bench.ts";
import { httpLoad } from "./http-load.ts";
import { install, placeOrders, type Served, serveInstallation } from "./installation.ts";

const CONNECTIONS = 32;
/** Requests in a round for each item of the scale: fewer are over before the load has found its pace. */
const READS = 5;

/** Orders of which a page lists 20. */
const ORDERS = 30;

/**
 * A page of the catalog, a page of orders and one fulfilled order, from `serve` as its users start it, against a
 * Fastify that sends the same bytes from memory.
 */
export const httpReads: Bench = async (scale) => {
  const folder = mkdtempSync(join(tmpdir(), "esimctl-reads-"));
  try {
    const installed = await install(join(folder, "data"), { orders: 0, stock: ORDERS });
    const served = await serveInstallation(installed);
    try {
      const order = await placeOrders(installed, served, ORDERS);
      return [
        await against(scale, served, { what: "GET /products (page of 20)", path: "/api/v1/products" }),
        await against(scale, served, { what: "GET /orders/{id}", path: `/api/v1/orders/${order}` }),
        await against(scale, served, { what: "GET /orders?limit=20", path: "/api/v1/orders?limit=20" }),
      ];
    } finally {
      await served.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

interface Read {
  what: string;
  path: string;
}

async function against(scale: Scale, { token, cpu, ...served }: Served, { what, path }: Read): Promise<Measured> {
  const headers = { authorization: `Bearer ${token}` };
  const url = `${served.url}${path}`;
  const answer = await fetch(url, { headers });
  const bare = await serveBytes(await answer.text());
  try {
    const some = { ...scale, items: READS * scale.items };
    return await compare(some, {
      what,
      peer: "bare Fastify, same bytes from memory",
      ours: (amount) => httpLoad({ url, connections: CONNECTIONS, amount, headers }),
      bare: (amount) => httpLoad({ url: bare.url, connections: CONNECTIONS, amount, headers }),
      cpu: cpu && { ours: cpu, bare: ownCpu },
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
