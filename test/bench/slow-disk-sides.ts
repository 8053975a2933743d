/** Started by `slowDisk`: measures in a process of its own and prints the lines of the table as JSON. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { compare, type Measured, type Scale, type Side } from "./bench.ts";
import { httpLoad, steadyLoad } from "./http-load.ts";
import { type Installation, install, placeOrders, type Served, serveInstallation } from "./installation.ts";
import { orderLoad, PEER, rawSide, stockOf, throughHttp } from "./order-creation.ts";
import { benchStore } from "./platform.ts";

const READERS = 32;
/** Orders in a round for each of the peer, which writes some hundred a second: as many as in other benches. */
const OURS = 5;
/** Reads in a round for each item of the scale: a round of fewer is over before either load has found its pace. */
const READS = 3;
/** From the first order on until those that order have found their pace. */
const WARM_UP_MS = 500;

/** Orders from stock, and reads beside orders, by `serve` as users start it: it has the slow disk of this process. */
async function run(scale: Scale): Promise<Measured[]> {
  const folder = mkdtempSync(join(tmpdir(), "esimctl-slow-disk-"));
  const some = { ...scale, items: Math.ceil(scale.items / OURS) };
  const sold = Math.ceil(some.items * (scale.rounds + scale.warmUp));
  const peer = await benchStore();
  const { side: bare, close } = rawSide({ ...peer, stock: await stockOf(peer, sold) });
  try {
    // Beside so many reads there are fewer orders.
    const beside = Math.ceil(scale.items * (scale.rounds + scale.warmUp));
    const installed = await install(join(folder, "data"), { orders: 0, stock: OURS * sold + beside });
    const served = await serveInstallation(installed);
    try {
      const order = throughHttp(installed, served.url, served.token);
      const ours: Side = (orders) => order(OURS * orders);
      return [
        await compare(some, { what: "POST /orders, 64 connections, 4 ms a sync", peer: PEER, ours, bare }),
        await compare({ ...scale, items: READS * scale.items }, await readsBesideOrders(installed, served)),
      ];
    } finally {
      await served.stop();
    }
  } finally {
    close();
    await peer.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function readsBesideOrders(installed: Installation, served: Served) {
  const url = `${served.url}/api/v1/orders/${await placeOrders(installed, served, 1)}`;
  const headers = { authorization: `Bearer ${served.token}` };
  const bare: Side = (amount) => httpLoad({ url, connections: READERS, amount, headers });
  const ours: Side = async (amount) => {
    const stop = await steadyOrders(installed, served);
    try {
      return await bare(amount);
    } finally {
      await stop();
    }
  };
  const what = "GET /orders/{id} beside 64 connections that order, 4 ms a sync";
  return { what, peer: "the same without orders", ours, bare };
}

/** Orders without a pause until the result is called; resolves once they come. */
async function steadyOrders(installed: Installation, { url, token }: Served): Promise<() => Promise<void>> {
  const newest = async () => {
    const response = await fetch(`${url}/api/v1/orders?limit=1`, { headers: { authorization: `Bearer ${token}` } });
    return response.text();
  };
  const before = await newest();
  const stop = steadyLoad(orderLoad(installed, url, token));
  while ((await newest()) === before) await pause(WARM_UP_MS / 10);
  await pause(WARM_UP_MS);
  return stop;
}

// `slowDisk` passes a scale.
console.log(JSON.stringify(await run(JSON.parse(String(process.argv[2])))));
