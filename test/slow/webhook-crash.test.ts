/** @module-tag slow */
import { expect, test } from "vitest";
import { type Daemon, startDaemon } from "../support/daemon.ts";
import { endLeases, inSnapshot, locationOf } from "../support/database.ts";
import { call } from "../support/platform.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { repeated } from "../support/rounds.ts";
import { openShop, type Shop, shopToken } from "../support/shop.ts";
import { freshUrl, onPostgres, temporaryDirectory } from "../support/store.ts";

/** Each order has three events: created, fulfilled, its eSIMs ready. */
const ORDERS = repeated(onPostgres ? 400 : 1_000);
const CLIENTS = 8;
/** How many requests the receiver has got when the daemon is killed. */
const KILLS = onPostgres ? [300, 800] : [500, 1_500];
/** Tries for one endpoint that are under way or not recorded yet, at most. */
const IN_FLIGHT = 96;

/** The daemon as its clients see it: down at times, always back at the same port. */
interface Running {
  daemon: Daemon;
  back: Promise<void>;
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
async function killNowAndThen(running: Running, receiver: Receiver, again: (port: number) => Promise<Daemon>) {
  for (const count of KILLS) {
    await receiver.got(count);
    const { promise, resolve } = Promise.withResolvers<void>();
    running.back = promise;
    const { port } = running.daemon;
    await running.daemon.kill();
    running.daemon = await again(port);
    resolve();
  }
}

function inspect({ served }: Shop) {
  return inSnapshot(locationOf(served), async (rows) => {
    const ids = async (sql: string) => new Set((await rows<{ id: string }>(sql)).map(({ id }) => id));
    return {
      events: await ids("SELECT id FROM events"),
      orders: await ids("SELECT id FROM orders"),
      fulfilled: await ids("SELECT id FROM orders WHERE status = 'fulfilled'"),
      undelivered: await ids("SELECT id FROM deliveries WHERE status <> 'delivered'"),
    };
  });
}

test(`${ORDERS * 3} events, kill -9 ${KILLS.length} times: each arrives, and few of them twice`, async () => {
  const [folder, url] = [temporaryDirectory(), await freshUrl()];
  const shop = await openShop({ folder, url, stock: { EU5: 1 }, priceCents: 250, fundsCents: 10_000, sandbox: true });
  const receiver = await startReceiver();
  const flags = ["--allow-private-webhooks", "--public-url", "http://esim.test"];
  const start = (port = 0) => startDaemon({ ...shop.served, flags, port });
  const again = async (port: number) => {
    // On SQLite they expire by themselves below.
    if (url !== undefined) await endLeases(url);
    return start(port);
  };
  const running: Running = { daemon: await start(), back: Promise.resolve() };
  const token = await shopToken(shop, running.daemon.url);
  const registered = await call(`${running.daemon.url}/api/v1/webhooks`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ url: receiver.url, events: ["order.created", "order.fulfilled", "esims.ready"] }),
  });
  expect(registered.status).toBe(201);

  const killed = killNowAndThen(running, receiver, again);
  await placeOrders(running, token, shop.products.EU5 ?? "");
  await killed;
  await expect.poll(async () => (await inspect(shop)).fulfilled.size, { interval: 500 }).toBe(ORDERS);
  // Work that a killed daemon had leased is taken over once the lease expires.
  await expect.poll(async () => (await inspect(shop)).undelivered.size, { interval: 500 }).toBe(0);
  expect(await running.daemon.stop()).toMatchObject({ exitCode: 0 });

  const { events, fulfilled, orders } = await inspect(shop);
  expect(orders.size).toBe(ORDERS);
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
