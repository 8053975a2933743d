import { rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { expect } from "vitest";
import { sqlite } from "../../scripts/chunks.ts";
import type { PartnerId } from "../../src/core/kernel/brand.ts";
import { readMasterKey } from "../../src/core/store/sealing/key-files.ts";
import { endLeases, inSnapshot, locationOf } from "./database.ts";
import { HANG_MS } from "./hangs.ts";
import { forAllTests, type Owner } from "./owner.ts";
import { checkout, launchCommand } from "./process.ts";
import { keyFileOf, type Shop } from "./shop.ts";
import type { Double } from "./supply.ts";
import type { Got, SupplyOptions, Wanted } from "./supply-program.ts";

/** How processes that buy are killed. */
interface Kills {
  shop: Shop;
  doubles: readonly Double[];
  /** The requests in the middle of which they are killed, and how many one purchase takes. */
  on: "order" | "topup";
  requests: number;
  rounds: number;
  /** The purchase of this number, counted from 0, which is asked for under a key. */
  wanted(key: string, at: number): Wanted;
  /** Whether the first provider refuses one in a round. */
  refuses(round: number): boolean;
}

/** Processes that buy. */
interface SupplyNodes {
  /** Starts one that asks for this, and waits until it has. */
  start(shop: Shop, wanted: readonly Wanted[]): Promise<SupplyNode>;
  /**
   * Kills one in each round, the first or a later request of its purchases under way at a provider. The next one asks
   * for the same under the same keys, as clients do that got no answer, and for one more unit or two. In the end the
   * providers answer all again.
   */
  killInHand(kills: Kills): Promise<void>;
}

interface SupplyNode {
  /** What each request got, in their order. */
  got: Got[];
  /** Ends it between two instructions. */
  kill(): Promise<unknown>;
}

/** How long the provider takes for an answer (ms), and for the one that the process is killed before. */
const ANSWER_MS = 300;
const HELD_MS = 600_000;

/** Makes the program of `supply-program.ts`, for all tests of a file. */
export function supplyNodes(): SupplyNodes {
  const program = forAllTests(bundled);
  const nodes: SupplyNodes = {
    async start({ served }, wanted) {
      const location = locationOf(served);
      const partners = await inSnapshot(location, (rows) => rows<{ id: PartnerId }>("SELECT id FROM partners"));
      const [{ id: partnerId }] = partners as [{ id: PartnerId }]; // a shop has one
      const masterKey = readMasterKey(keyFileOf(served)).toString("base64");
      const options: SupplyOptions = { location, masterKey, partnerId, wanted };
      const env = { NODE_COMPILE_CACHE: join(checkout, "dist", "cache") };
      const { printed, end } = launchCommand(process.execPath, [program(), JSON.stringify(options)], { env });
      const asked = await printed("asked ");
      return { got: JSON.parse(asked.slice("asked ".length)), kill: () => end("SIGKILL") };
    },
    async killInHand(kills) {
      let before: { wanted: Wanted[]; got: Got[] } = { wanted: [], got: [] };
      for (let round = 0; round < kills.rounds; round++) {
        const units = 1 + (round % 2);
        const first = Math.floor((round * 3) / 2);
        const wanted = Array.from({ length: units }, (_, unit) => kills.wanted(`no-${first + unit}`, first + unit));
        const got = await killed(nodes, kills, { again: before, wanted, round });
        before = { wanted, got };
      }
      for (const one of kills.doubles) await one.release();
    },
  };
  return nodes;
}

interface Round {
  round: number;
  again: { wanted: Wanted[]; got: Got[] };
  wanted: Wanted[];
}

/** One round; answers what the new requests got. */
async function killed(nodes: SupplyNodes, kills: Kills, { round, again, wanted }: Round): Promise<Got[]> {
  const { shop, doubles, on, requests } = kills;
  const nth = 1 + (Math.floor(round / 2) % (wanted.length * requests));
  for (const one of doubles) {
    await one.release();
    if (nth > 1) await one.steer({ on, outcome: "delay", count: nth - 1, delay_ms: ANSWER_MS });
    // Answered in time it would be noted, and the next one begun: what is killed then was never sent.
    await one.steer({ on, outcome: "delay", count: 1_000, delay_ms: HELD_MS });
  }
  if (kills.refuses(round)) await doubles[0]?.steer({ on, outcome: "refuse" });
  const asked = async () =>
    (await Promise.all(doubles.map((one) => one.state()))).reduce((sum, { by }) => sum + (by[on] ?? 0), 0);
  const before = await asked();
  const node = await nodes.start(shop, [...again.wanted, ...wanted]);
  const got = node.got.slice(again.wanted.length);
  expect(node.got).toEqual([
    ...again.got.map(({ id }) => ({ id, replayed: true })),
    ...got.map(({ id }) => ({ id, replayed: false })),
  ]);
  await expect.poll(asked, { timeout: HANG_MS, interval: 20 }).toBeGreaterThanOrEqual(before + nth);
  await node.kill();
  // On SQLite the next one has the database to itself, and ends them.
  if ("database" in shop.served) await endLeases(shop.served.database);
  return got;
}

/** In one file, with all packages that can be: hundreds of files take seconds to load. */
async function bundled(owner: Owner): Promise<string> {
  const outfile = join(checkout, "dist", `supply-program-${process.pid}.mjs`);
  owner(() => rmSync(outfile, { force: true }));
  const entry = join(checkout, "test", "support", "supply-program.ts");
  const require = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: "node",
    target: "node24",
    format: "esm",
    external: ["pg", "pino", "pino-pretty"],
    plugins: [sqlite],
    banner: { js: require },
    logLevel: "error",
  });
  return outfile;
}
