/** @module-tag slow */
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import {
  type Daemon,
  type DaemonOptions,
  launchServe,
  startDaemon,
  targetOf,
  whenListening,
} from "../support/daemon.ts";
import { inSnapshot, locationOf } from "../support/database.ts";
import { eventually } from "../support/hangs.ts";
import { buildLater, type Edit } from "../support/later-build.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { checkout, launch } from "../support/process.ts";
import { openShop, type Shop } from "../support/shop.ts";
import { callerOf } from "../support/shop-caller.ts";
import { temporaryDirectory } from "../support/store.ts";

const [STOCK, PRICE_CENTS, FUNDS_CENTS, CLIENTS] = [20_000, 5, 1_000_000, 4];

/** Between the orders of a client: what starts and what is built beside them needs the processor too. */
const STEP_MS = 50;

const schema = "src/core/store/schema/orders.ts";
const column = 'sales_channel: k.text("sales_channel"),';
const index = 'k.index("orders_sales_channel").on(t.sales_channel, t.id),';

/** A column that earlier programs do not fill, with an index; new orders have it. */
const expanding: Edit[] = [
  { path: schema, before: 'reason: k.text("reason"),', after: `reason: k.text("reason"), ${column}` },
  {
    path: schema,
    before: 'k.index("orders_request").on(t.request_id, t.id),',
    after: `k.index("orders_request").on(t.request_id, t.id), ${index}`,
  },
  { path: "src/core/orders/create.ts", before: "reason: null,", after: 'reason: null, sales_channel: "api",' },
];

/** Takes the index away, which no program uses any more. */
const contracting: Edit[] = [{ path: schema, before: index, after: "" }];

async function served() {
  const server = await startPostgres();
  onTestFinished(() => server.remove());
  const folder = temporaryDirectory();
  const stock = { EU5: STOCK };
  const shop = await openShop({ folder, url: server.url, stock, priceCents: PRICE_CENTS, fundsCents: FUNDS_CENTS });
  const options = { ...shop.served, flags: ["--json", "--public-url", "http://esim.test"] };
  return { shop, url: server.url, options };
}

/** A daemon with a caller of it. */
type Node = Awaited<ReturnType<typeof callerOf>> & { daemon: Daemon };

async function nodeOf(shop: Shop, starting: Promise<Daemon>): Promise<Node> {
  const daemon = await starting;
  return { daemon, ...(await callerOf(shop, daemon.url)) };
}

/** Places orders all the time, each at the next of `nodes`, which become more; every one must be placed. */
function orderAlways(nodes: Node[]) {
  let [sent, stopped] = [0, false];
  let failure: unknown = null;
  const client = async () => {
    while (!stopped) {
      const key = `always-${++sent}`;
      const reply = await nodes[sent % nodes.length]?.order(key);
      expect([key, reply?.status, reply?.body.code]).toEqual([key, 201, undefined]);
      await pause(STEP_MS);
    }
  };
  const clients = Promise.all(Array.from({ length: CLIENTS }, client)).catch((error) => {
    failure = error;
  });
  return {
    sent() {
      if (failure !== null) throw failure;
      return sent;
    },
    async end() {
      stopped = true;
      await clients;
      if (failure !== null) throw failure;
      return sent;
    },
  };
}

/** An order that one node takes, and whose eSIM its partner gets from another one. */
async function expectDelivered(at: Node, shownBy: Node): Promise<void> {
  const placed = await at.order(crypto.randomUUID());
  expect(placed.status).toBe(201);
  const reply = await eventually(
    () => shownBy.get(`/api/v1/orders/${placed.body.id}/esims`),
    ({ status }) => status === 200,
  );
  expect(reply.body.count).toBe(1);
}

/** A session that reads a table for long, as `pg_dump` does; ends when it is called. */
async function longReader(url: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("BEGIN; LOCK TABLE orders IN ACCESS SHARE MODE");
  return () => client.end();
}

const CHARGED_WRONG = `
  SELECT id FROM orders WHERE total_cents IS DISTINCT FROM
    (SELECT sum(amount_cents) FROM ledger_transactions WHERE order_id = orders.id AND kind = 'charge')`;

/** Money, stock and orders agree, and each was placed by one of the builds. */
async function expectAllThere(shop: Shop, orders: number): Promise<void> {
  const found = await inSnapshot(locationOf(shop.served), async (rows) => ({
    orders: await rows("SELECT status, sales_channel AS by, count(*) FROM orders GROUP BY 1, 2 ORDER BY 2 NULLS FIRST"),
    chargedWrong: await rows(CHARGED_WRONG),
    iccids: await rows("SELECT count(DISTINCT iccid) AS sold FROM esims WHERE order_id IS NOT NULL"),
    pools: await rows("SELECT available FROM stock_pools"),
    events: await rows("SELECT kind, count(*) FROM events WHERE kind LIKE 'order.%' GROUP BY 1 ORDER BY 1"),
  }));
  const [byOld, byLater] = found.orders.map(({ count }) => Number(count));
  console.info(`${byOld} orders by the present build, ${byLater} by the later one`);
  const fulfilled = { status: "fulfilled", count: expect.any(Number) };
  expect(found).toMatchObject({
    orders: [
      { ...fulfilled, by: null },
      { ...fulfilled, by: "api" },
    ],
    chargedWrong: [],
    iccids: [{ sold: orders }],
    pools: [{ available: STOCK - orders }],
    events: [
      { kind: "order.created", count: orders },
      { kind: "order.fulfilled", count: orders },
    ],
  });
  expect(Number(byOld) + Number(byLater)).toBe(orders);
}

/** A node of a later release waits for what reads a table for long, and the nodes that serve do not wait for it. */
async function startedBeside(url: string, options: DaemonOptions, sent: () => number): Promise<Daemon> {
  const end = await longReader(url);
  const starting = launchServe(options);
  await starting.printed("Another session uses tables", "stderr");
  const before = sent();
  await eventually(sent, (now) => now > before + 50);
  expect(starting.text()).not.toContain('"listening"');
  await end();
  return whenListening(starting);
}

async function expectRefused(options: DaemonOptions, added: string): Promise<void> {
  const { exitCode, stdout } = await launchServe(options).ended;
  expect(exitCode).toBe(1);
  expect(JSON.parse(stdout).error.message).toMatch(
    new RegExp(`^The database is newer than this program: it has \\d+_${added}\\.$`),
  );
}

test("nodes of two releases serve one database, and what a third took away keeps them from starting", async () => {
  const expanded = buildLater(checkout, "sales_channel", expanding);
  const contracted = buildLater(expanded.root, "fewer_indexes", contracting);
  const { shop, url, options } = await served();
  const old = await nodeOf(shop, startDaemon(options));
  const nodes = [old];
  const always = orderAlways(nodes);

  const later = await nodeOf(shop, startedBeside(url, { ...options, build: expanded.build }, always.sent));
  const oldAgain = await nodeOf(shop, startDaemon(options));
  nodes.push(later, oldAgain);
  const pairs = [
    [old, later],
    [later, old],
    [oldAgain, later],
    [later, oldAgain],
  ] as const;
  for (const [at, shownBy] of pairs) await expectDelivered(at, shownBy);

  const last = await nodeOf(shop, startDaemon({ ...options, build: contracted.build }));
  await expectRefused(options, "fewer_indexes");
  await expectRefused({ ...options, build: expanded.build }, "fewer_indexes");
  // Those that run are not stopped.
  for (const at of nodes) await expectDelivered(at, last);

  const orders = (await always.end()) + pairs.length + nodes.length;
  await eventually(
    () => inSnapshot({ url }, (rows) => rows("SELECT id FROM orders WHERE status <> 'fulfilled' LIMIT 1")),
    (left) => left.length === 0,
  );
  for (const { daemon } of [...nodes, last]) expect((await daemon.stop()).exitCode).toBe(0);
  await expectAllThere(shop, orders);
  await expectSound(shop, contracted.build, FUNDS_CENTS - PRICE_CENTS * orders);
});

async function expectSound({ served }: Shop, build: string, balance_cents: number): Promise<void> {
  const { args, env } = targetOf(served);
  const run = (...words: string[]) => launch([...words, ...args, "--json"], { build, env }).ended;
  const checked = await run("wallet", "check");
  expect(JSON.parse(checked.stdout)).toMatchObject({ ok: true, wallets: [{ balance_cents }] });
  expect(await run("audit", "verify")).toMatchObject({ exitCode: 0 });
  expect(await run("doctor")).toMatchObject({ exitCode: 0 });
}
