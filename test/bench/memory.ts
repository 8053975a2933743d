import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Bench, Measured } from "./bench.ts";
import { httpLoad, steadyLoad } from "./http-load.ts";
import { install, type Served, serveInstallation } from "./installation.ts";
import { orderLoad } from "./order-creation.ts";

/** Those of 64 connections that read beside those that order. */
const READERS = 8;
const ORDERING = 48;
const SAMPLE_MS = 250;
/** Orders of the full scale: with the reads beside them several times as many requests. */
const ORDERS = 10;

/**
 * Megabytes that `serve` occupies while 48 connections order eSIMs from stock, which are delivered at once, 8 list
 * orders and 8 browse the catalog: at most, against what it occupied before; and at the end, against half of the way.
 */
export const memory: Bench = async (scale) => {
  const folder = mkdtempSync(join(tmpdir(), "esimctl-memory-"));
  const orders = scale.items * ORDERS;
  try {
    const installed = await install(join(folder, "data"), { orders: scale.items, stock: orders });
    const served = await serveInstallation(installed);
    try {
      const idle = await served.memory();
      const headers = { authorization: `Bearer ${served.token}` };
      const read = (path: string) => steadyLoad({ url: `${served.url}${path}`, connections: READERS, headers });
      const stops = [read("/api/v1/products"), read("/api/v1/orders?limit=20")];
      const load = { ...orderLoad(installed, served.url, served.token), connections: ORDERING };
      const halves: number[][] = [];
      for (const amount of [Math.ceil(orders / 2), Math.floor(orders / 2)]) {
        halves.push(await sampled(served, () => httpLoad({ ...load, amount })));
      }
      await Promise.all(stops.map((stop) => stop()));
      const [half, end] = halves.map((samples) => mean(samples.slice(-Math.ceil(samples.length / 4))));
      const what = `${orders.toLocaleString("en")} orders beside reads`;
      return [
        line({ what: `memory of serve at most, ${what}`, peer: "before the load" }, Math.max(...halves.flat()), idle),
        line({ what: `memory of serve at the end, ${what}`, peer: "half of the way" }, end ?? 0, half ?? 0),
      ];
    } finally {
      await served.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** What the process occupies while `work` lasts. */
async function sampled(served: Served, work: () => Promise<unknown>): Promise<number[]> {
  const samples: number[] = [];
  let done = false;
  const working = work().finally(() => {
    done = true;
  });
  while (!done) {
    samples.push(await served.memory());
    await Promise.race([working, pause(SAMPLE_MS)]);
  }
  await working;
  return samples;
}

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function line(named: Pick<Measured, "what" | "peer">, ours: number, bare: number): Measured {
  const ratio = ours / bare;
  return { ...named, unit: "MB", ours, bare, ratio, lowest: ratio, highest: ratio };
}
