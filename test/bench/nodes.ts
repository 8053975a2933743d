import type { Daemon } from "../support/daemon.ts";
import type { Owner } from "../support/owner.ts";
import { type Bench, type Measured, measuredOf, type Scale, type Side } from "./bench.ts";
import { type NodeSet, openNodeSet } from "./node-set.ts";
import { PEER, rawSide } from "./order-creation.ts";
import { benchStore } from "./platform.ts";

/** What a round trip between nodes and database takes more than on this machine (ms). */
const DELAYS = [0, 0.8, 2.3];
const MOST_NODES = 3;
const PARTNERS = [1, 8];
const WRITERS = 48;
const READERS = 24;
const MOST_ROUNDS = 3;
/** A side runs for a tenth of a ms for each item of the scale: a second of the full one. */
const MS_PER_ITEM = 1 / 10;

/**
 * One to three whole `serve` processes on one PostgreSQL, near and at a distance: orders against better-sqlite3 in the
 * same round, and orders and reads beside each other against either alone; of one partner, and of eight.
 */
export const nodes: Bench = async (scale) => {
  const cleanups: (() => unknown)[] = [];
  const owner: Owner = (cleanup) => void cleanups.push(cleanup);
  try {
    const peer = await benchStore();
    owner(peer.close);
    const raw = rawSide(peer);
    owner(raw.close);
    const set = await openNodeSet(owner);
    const measured: Measured[] = [];
    // A tiny scale starts few processes.
    for (const delay of DELAYS.slice(0, scale.starts + 1))
      measured.push(...(await atDelay(set, delay, { scale, raw: raw.side })));
    await set.verify();
    return measured;
  } finally {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  }
};

interface Measuring {
  scale: Scale;
  raw: Side;
}

/** One node more each time. */
async function atDelay(set: NodeSet, delay: number, measuring: Measuring): Promise<Measured[]> {
  const running: Daemon[] = [];
  const measured: Measured[] = [];
  const trip = await set.roundTrip(delay);
  const distance = `${delay} ms (a query takes ${trip.toFixed(2)})`;
  while (running.length < Math.min(MOST_NODES, measuring.scale.starts + 1)) {
    running.push(await set.start(delay));
    for (const partners of PARTNERS) {
      const rounds = await roundsOf(set, { nodes: running, partners, ...measuring });
      const count = `${running.length} ${running.length === 1 ? "node" : "nodes"}`;
      const who = partners === 1 ? "1 partner" : `${partners} partners`;
      measured.push(...linesOf(`${count}, ${distance}, ${who}`, rounds));
    }
  }
  for (const daemon of running) await daemon.stop();
  return measured;
}

/** What one round found, a second. */
interface Round {
  raw: number;
  orders: number;
  reads: number;
  ordersAmid: number;
  readsAmid: number;
}

interface Cell extends Measuring {
  nodes: readonly Daemon[];
  partners: number;
}

async function roundsOf(set: NodeSet, { nodes, partners, scale, raw }: Cell): Promise<Round[]> {
  const ms = scale.items * MS_PER_ITEM;
  const load = (writers: number, readers: number, share = 1) =>
    set.load({ nodes, partners, writers, readers, ms: ms * share });
  if (scale.warmUp > 0) await load(WRITERS, READERS, scale.warmUp);
  const rounds: Round[] = [];
  for (let at = 0; at < Math.min(scale.rounds, MOST_ROUNDS); at++) {
    const round: Round = { raw: 0, orders: 0, reads: 0, ordersAmid: 0, readsAmid: 0 };
    const sides: (() => Promise<Partial<Round>>)[] = [
      async () => ({ raw: (await raw(Math.ceil(scale.items * MS_PER_ITEM))).perSecond }),
      async () => ({ orders: (await load(WRITERS, 0)).orders }),
      async () => {
        const both = await load(WRITERS, READERS);
        return { ordersAmid: both.orders, readsAmid: both.reads };
      },
      async () => ({ reads: (await load(0, READERS)).reads }),
    ];
    for (const side of at % 2 === 0 ? sides : sides.toReversed()) Object.assign(round, await side());
    rounds.push(round);
  }
  return rounds;
}

function linesOf(where: string, rounds: Round[]): Measured[] {
  const line = (what: string, peer: string, ours: keyof Round, bare: keyof Round) =>
    measuredOf(
      { what: `${where}: ${what}`, peer },
      rounds.map((round) => ({ ours: round[ours], bare: round[bare] })),
    );
  return [
    line(`orders, ${WRITERS} connections`, PEER, "orders", "raw"),
    line(`orders amid ${READERS} that read`, "the same without readers", "ordersAmid", "orders"),
    line(`reads amid ${WRITERS} that order`, "the same without orders", "readsAmid", "reads"),
  ];
}
