import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "undici";
import { type Bench, compare, type Measured, paceOf, type Scale, type Side } from "./bench.ts";
import { httpLoad } from "./http-load.ts";
import { type Installation, install, type Served, serveInstallation } from "./installation.ts";
import { orderLoad } from "./order-creation.ts";

const CONNECTIONS = 32;
/** Orders of a page, and the page that a long list is read at. */
const PAGE = 20;
const DEEP = 5_000;
/** Different orders that are read one by one. */
const READ = 1_000;
/** A start takes as long as hundreds of requests. */
const MOST_STARTS = 5;

interface Sized {
  what: string;
  installed: Installation;
  orders: number;
}

/** The built program with 1,000,000 orders against itself with 1,000: nothing may grow with their number. */
export const size: Bench = async (scale) => {
  const folder = mkdtempSync(join(tmpdir(), "esimctl-size-"));
  try {
    const large = await sized(join(folder, "large"), scale.items * 100);
    const small = await sized(join(folder, "small"), Math.max(2 * PAGE, Math.ceil(scale.items / 10)));
    const peer = `the same with ${small.what}`;
    const ready: Side = async () => {
      const { stop, readyMs } = await serveInstallation(large.installed);
      await stop();
      return { perSecond: 1_000 / readyMs };
    };
    const readyPeer: Side = async () => {
      const { stop, readyMs } = await serveInstallation(small.installed);
      await stop();
      return { perSecond: 1_000 / readyMs };
    };
    const starts = { ...scale, rounds: Math.min(scale.rounds, MOST_STARTS), items: 1, warmUp: 1 };
    const what = `serve until it listens, ${large.what}`;
    return [
      await compare(starts, { what, peer, ours: ready, bare: readyPeer }),
      ...(await requests(scale, large, small)),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

async function sized(data: string, orders: number): Promise<Sized> {
  const installed = await install(data, { orders, stock: 0 });
  return { what: `${orders.toLocaleString("en")} orders`, installed, orders };
}

async function requests(scale: Scale, large: Sized, small: Sized): Promise<Measured[]> {
  const served = { large: await serveInstallation(large.installed), small: await serveInstallation(small.installed) };
  try {
    const own = await sidesOf(large, served.large);
    const other = await sidesOf(small, served.small);
    const peer = `the same with ${small.what}`;
    const lines: Measured[] = [];
    for (const [at, { what, side: ours }] of own.entries()) {
      const bare = other[at]?.side;
      if (bare === undefined) throw new Error(`${what} has no peer`);
      lines.push(await compare(scale, { what: `${what}, ${large.what}`, peer, ours, bare }));
    }
    return lines;
  } finally {
    await Promise.all([served.large.stop(), served.small.stop()]);
  }
}

/** What is done with either: reads first, so that both still have their number of orders. */
async function sidesOf({ installed, orders }: Sized, { url, token }: Served): Promise<{ what: string; side: Side }[]> {
  const headers = { authorization: `Bearer ${token}` };
  const list = `${url}/api/v1/orders?limit=${PAGE}`;
  const pages = Math.min(DEEP, Math.floor(orders / PAGE));
  const { cursor, ids } = await walk(url, headers, pages);
  const get =
    (address: string): Side =>
    (amount) =>
      httpLoad({ url: address, connections: CONNECTIONS, amount, headers });
  return [
    { what: "GET /orders, page 1", side: get(list) },
    { what: `GET /orders, page ${DEEP} or the last`, side: get(`${list}&cursor=${cursor}`) },
    { what: "GET /orders/{id}, a thousand of them", side: readAll(url, headers, ids) },
    {
      what: "POST /orders, 64 connections",
      side: (amount) => httpLoad({ ...orderLoad(installed, url, token), amount }),
    },
  ];
}

/** The cursor of a page that is `pages` in, and IDs from all over the pages before. */
async function walk(url: string, headers: Record<string, string>, pages: number) {
  const ids: string[] = [];
  let cursor = "";
  for (let page = 1; page < pages; page++) {
    const response = await fetch(`${url}/api/v1/orders?limit=${PAGE}&cursor=${cursor}`, { headers });
    // Contract: the list of orders.
    const body = (await response.json()) as { data: { id: string }[]; pagination: { next_cursor: string | null } };
    ids.push(...body.data.map(({ id }) => id));
    cursor = body.pagination.next_cursor ?? cursor;
  }
  const step = Math.max(1, Math.floor(ids.length / READ));
  return { cursor, ids: ids.filter((_, at) => at % step === 0).slice(0, READ) };
}

/** Reads the orders in turn, again and again. */
function readAll(url: string, headers: Record<string, string>, ids: readonly string[]): Side {
  return async (amount) => {
    const pool = new Pool(url, { connections: CONNECTIONS });
    let next = 0;
    const reader = async () => {
      for (let at = next++; at < amount; at = next++) {
        const path = `/api/v1/orders/${ids[at % ids.length]}`;
        const { statusCode, body } = await pool.request({ path, method: "GET", headers });
        if (statusCode !== 200) throw new Error(`${path} was answered with ${statusCode}`);
        await body.dump();
      }
    };
    const pace = await paceOf(amount, () => Promise.all(Array.from({ length: CONNECTIONS }, reader)));
    await pool.close();
    return pace;
  };
}
