import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { createTokens } from "../../src/core/credentials/tokens.ts";
import { systemClock } from "../../src/core/kernel/clock.ts";
import { randomIds } from "../../src/core/kernel/ids.ts";
import { prepareDataDirectory } from "../../src/core/platform/data-directory.ts";
import { openStore } from "../../src/core/store/open/open.ts";
import { readMasterKey } from "../../src/core/store/sealing/key-files.ts";
import type { Store } from "../../src/core/store/store.ts";
import { addStock } from "../support/catalog.ts";
import { type Daemon, startDaemon } from "../support/daemon.ts";
import type { Owner } from "../support/owner.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { fulfilledOrders } from "./fulfilled-orders.ts";
import type { NodeCaller, NodeLoad, NodeRates } from "./node-callers.ts";
import { furnish, tokenOf } from "./platform.ts";

/** Nodes that share it know each other's tokens by this address. */
const PUBLIC_URL = "http://esim.test";
/** Partners, and products with stock. */
const MANY = 8;
/** Written in one transaction. */
const STOCK_STEP = 2_000;

/** How much is asked at once, of whom. */
export interface NodeRun {
  nodes: readonly Daemon[];
  partners: number;
  writers: number;
  readers: number;
  ms: number;
}

/** A PostgreSQL that waits for the disk, with partners and products; nodes are started on it. */
export interface NodeSet {
  /** A whole `serve` process whose round trips to the database take so many ms more. */
  start(delayMs: number): Promise<Daemon>;
  /** How long a query takes at such a delay (ms): the median of a few. */
  roundTrip(delayMs: number): Promise<number>;
  /** Orders of one eSIM from stock, and reads of fulfilled orders, a second. Throws when one is refused. */
  load(run: NodeRun): Promise<{ orders: number; reads: number }>;
  /** Throws unless every order that was confirmed is there and fulfilled. */
  verify(): Promise<void>;
}

/** Starts the database and fills it; all of it ends with its owner. */
export async function openNodeSet(owner: Owner): Promise<NodeSet> {
  const folder = mkdtempSync(join(tmpdir(), "esimctl-bench-"));
  owner(() => rmSync(folder, { recursive: true, force: true }));
  const server = await startPostgres({ syncs: true });
  owner(() => server.remove());
  const ids = randomIds();
  const { keyFile } = prepareDataDirectory(join(folder, "data"), ids);
  const masterKey = readMasterKey(keyFile);
  const store = await openStore({ url: server.url }, { clock: systemClock, ids, masterKey });
  owner(() => store.close());
  const { partners, products } = await partnersOf(store);
  const stock = stockOf(store, products);
  const { callers, stop } = startCallers();
  owner(stop);
  const lines = new Map<number, Promise<string>>();

  function addressAt(delayMs: number): Promise<string> {
    const address =
      lines.get(delayMs) ?? (delayMs === 0 ? Promise.resolve(server.url) : delayed(server, delayMs, owner));
    lines.set(delayMs, address);
    return address;
  }

  let placed = partners.reduce((sum, { orders }) => sum + orders.length, 0);
  return {
    async start(delayMs) {
      const flags = ["--public-url", PUBLIC_URL, "--log-level", "warn"];
      return startDaemon({ database: await addressAt(delayMs), keyFile, flags, owner });
    },
    roundTrip: async (delayMs) => roundTripTo(await addressAt(delayMs)),
    async load({ nodes, partners: many, writers, readers, ms }) {
      await stock.fill(ms);
      const of = (at: number) => {
        const partner = partners[Math.floor(at / nodes.length) % many];
        const node = nodes[at % nodes.length];
        if (partner === undefined || node === undefined) throw new Error("no partner or node to call");
        return { url: node.url, token: partner.token, partner };
      };
      const writing = ({ url, token }: ReturnType<typeof of>) => ({ url, token, asks: stock.orders });
      const reading = ({ url, token, partner }: ReturnType<typeof of>) => ({ url, token, asks: readsOf(partner) });
      const rates = await callers({
        ms,
        writers: Array.from({ length: writers }, (_, at) => writing(of(at))),
        readers: Array.from({ length: readers }, (_, at) => reading(of(at))),
      });
      stock.sold(rates.placed, ms);
      placed += rates.placed;
      return rates;
    },
    async verify() {
      const [all, fulfilled] = [await server.rows("SELECT FROM orders"), await server.rows(FULFILLED)];
      if (all !== placed || fulfilled !== placed)
        throw new Error(`of ${placed} orders ${all} are there, ${fulfilled} of them fulfilled`);
    },
  };
}

const FULFILLED = "SELECT FROM orders WHERE status = 'fulfilled'";

interface Partner {
  token: string;
  /** IDs of fulfilled orders. */
  orders: string[];
}

async function partnersOf(store: Store): Promise<{ partners: Partner[]; products: Record<string, string> }> {
  const slugs = Array.from({ length: MANY }, (_, at) => `bench-${at}`);
  const { partnerIds, products } = await furnish(store, slugs);
  const tokens = createTokens({ store, clock: systemClock, ids: randomIds(), issuer: PUBLIC_URL });
  const productId = products["PLAN-0"];
  const partners: Partner[] = [];
  for (const [at, slug] of slugs.entries()) {
    const partnerId = partnerIds[at];
    if (partnerId === undefined || productId === undefined) throw new Error(`${slug} was not furnished`);
    const orders = await fulfilledOrders({ store, partnerId, productId });
    partners.push({ token: await tokenOf({ store, tokens }, slug), orders });
  }
  return { partners, products };
}

const readsOf = ({ orders }: Partner): NodeCaller["asks"] => orders.map((id) => ({ read: `/api/v1/orders/${id}` }));

/** Keeps more eSIMs of each product than the next run sells. */
function stockOf(store: Store, products: Record<string, string>) {
  const skus = Array.from({ length: MANY }, (_, at) => `PLAN-${at}`);
  let left = 0;
  /** Sold in a ms at most so far; at first a guess. */
  let pace = 1;
  return {
    orders: skus.map((sku) => ({
      order: JSON.stringify({ line_items: [{ product_id: products[sku], quantity: 1 }] }),
    })),
    async fill(ms: number) {
      // Which product an order takes is chance: over many runs one sells more than another.
      const wanted = Math.ceil(2 * pace * ms) + 8_000;
      for (; left < wanted; left += STOCK_STEP) {
        for (const sku of skus) await addStock(store, sku, STOCK_STEP / MANY);
      }
    },
    sold(count: number, ms: number) {
      left -= count;
      pace = Math.max(pace, count / ms);
    },
  };
}

/** The address of the server behind a proxy that delays it. */
async function delayed({ port, url }: { port: number; url: string }, delayMs: number, owner: Owner): Promise<string> {
  const proxy = fork(join(import.meta.dirname, "delaying-proxy.ts"), [String(port), String(delayMs)]);
  owner(() => void proxy.kill());
  const [own] = await once(proxy, "message");
  return Object.assign(new URL(url), { port: String(own) }).toString();
}

async function roundTripTo(connectionString: string): Promise<number> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  const times: number[] = [];
  for (let query = 0; query < 101; query++) {
    const from = performance.now();
    await client.query("SELECT 1");
    times.push(performance.now() - from);
  }
  await client.end();
  return times.toSorted((a, b) => a - b)[50] ?? 0;
}

type Rates = Exclude<NodeRates, { failed: string }>;

/** The process of the callers. */
function startCallers(): { callers: (load: NodeLoad) => Promise<Rates>; stop: () => void } {
  const child = fork(join(import.meta.dirname, "node-callers.ts"));
  const gone = once(child, "exit").then(([code]) => {
    throw new Error(`the callers ended with ${code}`);
  });
  gone.catch(() => undefined);
  return {
    async callers(load) {
      child.send(load);
      const [rates] = await Promise.race([once(child, "message"), gone]);
      // What node-callers.ts sends.
      const result = rates as NodeRates;
      if ("failed" in result) throw new Error(result.failed);
      return result;
    },
    stop: () => void child.kill(),
  };
}
