/** @module-tag slow */
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { dataDirectory } from "../../src/core/store/data-directory.ts";
import { esimctlJson } from "../support/cli.ts";
import { type Daemon, startDaemon } from "../support/daemon.ts";
import { call } from "../support/platform.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { openShop, type Shop, shopToken } from "../support/shop.ts";
import { temporaryDirectory } from "../support/store.ts";

/** Each order has three events: created, fulfilled, its eSIMs ready. */
const ORDERS = 3_334;
const CLIENTS = 8;
/** How many requests the receiver has got when the daemon is killed. */
const KILLS = [1_000, 2_500, 4_000, 6_000, 8_000];
/** Tries for one endpoint that are under way or not recorded yet, at most. */
const IN_FLIGHT = 96;

/** The daemon as its clients see it: down at times, always back at the same port. */
interface Running {
  daemon: Daemon;
  back: Promise<void>;
}

async function sandboxShop(): Promise<Shop> {
  const shop = await openShop({ folder: temporaryDirectory(), stock: { EU5: 1 }, priceCents: 250, fundsCents: 10_000 });
  const issued = Object(await esimctlJson(["credentials", "create", "--partner", "acme", "--data", shop.data]));
  return { ...shop, clientId: issued.client_id, clientSecret: issued.client_secret };
}

/** Places `ORDERS` orders; what a kill cut off is sent again under its key. */
async function placeOrders(running: Running, token: string, product_id: string): Promise<void> {
  const body = JSON.stringify({ line_items: [{ product_id, quantity: 1 }] });
  let made = 0;
  const client = async () => {
    while (made < ORDERS) {
      const key = `order-${++made}`;
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", "idempotency-key": key };
      for (;;) {
        const url = `${running.daemon.url}/api/v1/orders`;
        const reply = await call(url, { method: "POST", headers, body }).catch(() => null);
        if (reply !== null) {
          expect([200, 201]).toContain(reply.status);
          break;
        }
        await running.back;
      }
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
}

/** Kills the daemon each time the receiver has got so many requests, and starts it again. */
async function killNowAndThen(running: Running, receiver: Receiver, start: (port: number) => Promise<Daemon>) {
  for (const count of KILLS) {
    await receiver.got(count);
    const { promise, resolve } = Promise.withResolvers<void>();
    running.back = promise;
    const { port } = running.daemon;
    await running.daemon.kill();
    running.daemon = await start(port);
    resolve();
  }
}

function inspect(shop: Shop) {
  const database = new Database(dataDirectory(shop.data).databaseFile, { readonly: true });
  try {
    const all = (sql: string) => database.prepare(sql).pluck().all();
    return {
      events: new Set(all("SELECT id FROM events")),
      fulfilled: new Set(all("SELECT id FROM orders WHERE status = 'fulfilled'")),
      orders: all("SELECT count(*) FROM orders")[0],
      undelivered: all("SELECT count(*) FROM deliveries WHERE status <> 'delivered'")[0],
    };
  } finally {
    database.close();
  }
}

test("10,000 events, the daemon killed five times: each arrives, and few of them twice", async () => {
  const shop = await sandboxShop();
  const receiver = await startReceiver();
  const flags = ["--allow-private-webhooks", "--public-url", "http://esim.test"];
  const start = (port = 0) => startDaemon({ data: shop.data, flags, port });
  const running: Running = { daemon: await start(), back: Promise.resolve() };
  const token = await shopToken(shop, running.daemon.url);
  const registered = await call(`${running.daemon.url}/api/v1/webhooks`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ url: receiver.url, events: ["order.created", "order.fulfilled", "esims.ready"] }),
  });
  expect(registered.status).toBe(201);

  const killed = killNowAndThen(running, receiver, start);
  await placeOrders(running, token, shop.products.EU5 ?? "");
  await killed;
  await expect.poll(() => inspect(shop).fulfilled.size, { interval: 500 }).toBe(ORDERS);
  // Work that a killed daemon had leased is taken over once the lease expires.
  await expect.poll(() => inspect(shop).undelivered, { interval: 500 }).toBe(0);
  expect(await running.daemon.stop()).toMatchObject({ exitCode: 0 });

  const { events, fulfilled, orders } = inspect(shop);
  expect(orders).toBe(ORDERS);
  expect(events.size).toBe(ORDERS * 3);
  const bodies = new Map<string, Set<string>>();
  for (const { body, json } of receiver.received) {
    bodies.set(json.event_id, (bodies.get(json.event_id) ?? new Set()).add(body));
  }
  // Every event arrived, no other did, and each id is of one event.
  expect(new Set(bodies.keys())).toEqual(events);
  expect([...bodies.values()].filter((each) => each.size > 1)).toEqual([]);
  const announced = receiver.received
    .filter(({ json }) => json.event === "order.fulfilled")
    .map(({ json }) => json.data.id);
  expect(new Set(announced)).toEqual(fulfilled);
  const duplicates = receiver.received.length - bodies.size;
  console.log(`${bodies.size} events, ${KILLS.length} kills, ${duplicates} duplicates`);
  expect(duplicates).toBeLessThanOrEqual(KILLS.length * IN_FLIGHT);
});
