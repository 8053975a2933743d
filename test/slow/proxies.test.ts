/** @module-tag slow */
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/hangs.ts";
import { type NodeFleet, startFleet } from "../support/node-fleet.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { hasProxy, type ProxyName, type RunningProxy, startProxy } from "../support/proxies.ts";
import { openShop, type Shop, shopToken } from "../support/shop.ts";
import { temporaryDirectory } from "../support/store.ts";

const CLIENTS = 6;
/** How long clients go on after a node is back. */
const AFTER_MS = 3_000;
/** How long a client waits before it repeats a request. */
const RETRY_MS = 500;
/** Between the orders of a client: nodes that start beside them need the processor too. */
const STEP_MS = 50;
/** Longer than the checks need to notice it. */
const SUSPENDED_MS = 15_000;

async function threeNodes(): Promise<{ shop: Shop; fleet: NodeFleet }> {
  const server = await startPostgres();
  onTestFinished(() => server.remove());
  const stock = { EU5: 6_000 };
  const folder = temporaryDirectory();
  const shop = await openShop({ folder, url: server.url, stock, priceCents: 5, fundsCents: 1_000_000 });
  const flags = ["--public-url", "https://esim.example.com", "--trust-proxy", "--log-level", "error"];
  const options = { ...shop.served, flags };
  return { shop, fleet: await startFleet([options, options, options]) };
}

const NO_RESPONSE = { status: 0, body: null };

interface Called {
  /** How often each status came of a write, and of a read; 0: the connection ended without a response. */
  writes: Record<number, number>;
  reads: Record<number, number>;
  /** IDs of orders by their key. */
  orders: Map<string, string>;
}

/** Clients that place orders under a key until they are confirmed, and read them, until `over`. */
async function callUntil(
  proxy: RunningProxy,
  { token, product }: { token: string; product: string },
  over: AbortSignal,
) {
  const called: Called = { writes: {}, reads: {}, orders: new Map() };
  const authorization = `Bearer ${token}`;
  const body = JSON.stringify({ line_items: [{ product_id: product, quantity: 1 }] });
  const client = async (name: number) => {
    for (let at = 1; !over.aborted; ) {
      const key = `${name}-${at}`;
      const headers = { authorization, "content-type": "application/json", "idempotency-key": key };
      const placed = proxy.call("/api/v1/orders", { method: "POST", headers, body });
      const { status, body: order } = await placed.catch(() => NO_RESPONSE);
      called.writes[status] = (called.writes[status] ?? 0) + 1;
      if (status !== 200 && status !== 201) {
        await pause(RETRY_MS);
        continue;
      }
      called.orders.set(key, order.id);
      at += 1;
      const reading = proxy.call(`/api/v1/orders/${order.id}`, { headers: { authorization } });
      const read = await reading.catch(() => NO_RESPONSE);
      called.reads[read.status] = (called.reads[read.status] ?? 0) + 1;
      await pause(STEP_MS);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, name) => client(name)));
  return called;
}

/** Every key is one order, and every order has its key. */
async function expectOnce(proxy: RunningProxy, token: string, { orders }: Called): Promise<void> {
  const ids = new Set<string>();
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<RunningProxy["call"]>> = await proxy.call(
      `/api/v1/orders?limit=100${cursor === null ? "" : `&cursor=${cursor}`}`,
      { headers: { authorization: `Bearer ${token}` } },
    );
    for (const { id } of page.body.data) ids.add(id);
    cursor = page.body.pagination.next_cursor;
  } while (cursor !== null);
  expect(ids).toEqual(new Set(orders.values()));
  expect(ids.size).toBe(orders.size);
}

describe.each(["haproxy", "nginx"] satisfies ProxyName[])("three nodes behind %s", (name) => {
  test.skipIf(!hasProxy(name))(
    `clients are served on while nodes are killed and restarted (needs ${name})`,
    async () => {
      const { shop, fleet } = await threeNodes();
      const proxy = await startProxy(name, fleet.urls);
      const token = await shopToken(shop, fleet.urls[0] ?? "");
      const over = new AbortController();
      const calling = callUntil(proxy, { token, product: shop.products.EU5 ?? "" }, over.signal);
      await pause(AFTER_MS);
      await fleet.kill(0);
      await pause(AFTER_MS);
      await fleet.restart(1);
      await pause(AFTER_MS);
      // nginx has no checks of its own: what a suspended node got waits for it.
      if (name === "haproxy") await fleet.suspend(2, SUSPENDED_MS);
      over.abort();
      const called = await calling;
      console.info(name, JSON.stringify({ writes: called.writes, reads: called.reads }));
      // What a killed or suspended node had has no response; all else has its own.
      for (const statuses of [called.writes, called.reads]) {
        const failed = Object.entries(statuses).filter(([status]) => status !== "200" && status !== "201");
        expect(failed.filter(([status]) => !["0", "502", "503", "504"].includes(status))).toEqual([]);
        expect(failed.reduce((sum, [, count]) => sum + count, 0)).toBeLessThanOrEqual(2 * CLIENTS);
      }
      await expectOnce(proxy, token, called);
      // Addresses of QR codes are secrets.
      expect(proxy.log()).toContain("POST");
      expect(proxy.log()).not.toContain("/api/");
    },
  );

  test.skipIf(!hasProxy(name))(
    `an event ends a long poll, and without nodes it reports so (needs ${name})`,
    async () => {
      const { shop, fleet } = await threeNodes();
      const proxy = await startProxy(name, fleet.urls);
      const headers = { authorization: `Bearer ${await shopToken(shop, fleet.urls[0] ?? "")}` };
      const { body: now } = await proxy.call("/api/v1/events", { headers });
      const polled = proxy.call(`/api/v1/events?wait=25&cursor=${now.next_cursor}`, { headers });
      const body = JSON.stringify({ line_items: [{ product_id: shop.products.EU5, quantity: 1 }] });
      const keyed = { ...headers, "content-type": "application/json", "idempotency-key": "polled" };
      expect((await proxy.call("/api/v1/orders", { method: "POST", headers: keyed, body })).status).toBe(201);
      const { status, body: page } = await polled;
      expect(status).toBe(200);
      expect(page.data.length).toBeGreaterThan(0);

      expect(await fleet.stop()).toEqual([0, 0, 0]);
      const away = await eventually(
        () => proxy.call("/api/v1/orders", { headers }),
        (reply) => (name === "haproxy" ? reply.status === 503 : reply.status === 502),
      );
      if (name === "haproxy") expect(away.body).toMatchObject({ status: 503, title: "Service Unavailable" });
    },
  );
});
