/** How much of it to run: a full measurement, or just enough to see that it still works. */
export interface Scale {
  /** Rounds of the program and the peer in turn; the medians count. */
  rounds: number;
  /** What one round does on either side, in each bench's own items: requests, orders, rows. */
  items: number;
  /** The share of `items` that either side does first, unmeasured; 0: none. */
  warmUp: number;
  /** Rounds of commands started one after the other: they vary more than the work in one process. */
  starts: number;
}

export const fullScale: Scale = { rounds: 7, items: 10_000, warmUp: 1 / 4, starts: 21 };
export const tinyScale: Scale = { rounds: 1, items: 60, warmUp: 0, starts: 1 };

/** One line of the table: the program against a bare peer, measured in turn in the same run. */
export interface Measured {
  what: string;
  /** What the bare peer is. */
  peer: string;
  /** Medians over the rounds, in items a second, or in `unit`. */
  ours: number;
  bare: number;
  /** Median of each round's ratio, which a busy machine affects least; and their extremes. */
  ratio: number;
  lowest: number;
  highest: number;
  /** The unit of the figures of both sides; left out: items a second. */
  unit?: string;
  /** Processor time for an item (µs), medians, where the system says it for both sides. */
  cpu?: { ours: number; bare: number };
  /** Milliseconds within which 99 of 100 responses came, medians, where both sides are loaded with requests. */
  p99?: { ours: number; bare: number };
}

/** A bench: sets up, measures, cleans up. Throws when anything it did was refused. */
export type Bench = (scale: Scale) => Promise<Measured[]>;

/** How fast a side was in one round. */
export interface Pace {
  perSecond: number;
  p99Ms?: number;
}

/** Does `items` things. */
export type Side = (items: number) => Promise<Pace>;

interface Sides {
  what: string;
  peer: string;
  ours: Side;
  bare: Side;
  /** Meters of the process in which each side does its work, and nothing else works meanwhile. */
  cpu?: { ours: Meter; bare: Meter } | undefined;
}

/** The processor time that a process has taken so far (µs). */
export type Meter = () => number;

/** That of this process. */
export const ownCpu: Meter = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

/** A round of one side, with the processor time of an item (µs). */
type Round = Pace & { cpu: number };

async function roundOf(side: Side, items: number, meter: Meter): Promise<Round> {
  const before = meter();
  const pace = await side(items);
  return { ...pace, cpu: (meter() - before) / items };
}

/** Runs both sides in turn, after a short turn of each to warm up, so that both meet the same machine. */
export async function compare({ rounds, items, ...scale }: Scale, sides: Sides): Promise<Measured> {
  const { what, peer, ours, bare, cpu } = sides;
  const warmUp = Math.ceil(items * scale.warmUp);
  if (warmUp > 0) {
    await bare(warmUp);
    await ours(warmUp);
  }
  const turns = {
    ours: () => roundOf(ours, items, cpu?.ours ?? ownCpu),
    bare: () => roundOf(bare, items, cpu?.bare ?? ownCpu),
  };
  const pairs: { ours: Round; bare: Round }[] = [];
  for (let round = 0; round < rounds; round++) {
    // The first side alternates: neither always runs after the other.
    if (round % 2 === 0) pairs.push({ ours: await turns.ours(), bare: await turns.bare() });
    else {
      const first = await turns.bare();
      pairs.push({ ours: await turns.ours(), bare: first });
    }
  }
  const medians = (of: (round: Round) => number) => ({
    ours: median(pairs.map((pair) => of(pair.ours))),
    bare: median(pairs.map((pair) => of(pair.bare))),
  });
  const timed = pairs.every((pair) => pair.ours.p99Ms !== undefined && pair.bare.p99Ms !== undefined);
  const rates = pairs.map((pair) => ({ ours: pair.ours.perSecond, bare: pair.bare.perSecond }));
  return {
    ...measuredOf({ what, peer }, rates),
    ...(cpu === undefined ? {} : { cpu: medians((round) => round.cpu) }),
    ...(timed ? { p99: medians(({ p99Ms = 0 }) => p99Ms) } : {}),
  };
}

/** The line of the table that rounds of both sides make. */
export function measuredOf(
  { what, peer }: Pick<Measured, "what" | "peer">,
  rounds: readonly { ours: number; bare: number }[],
): Measured {
  const ratios = rounds.map((round) => round.ours / round.bare);
  return {
    what,
    peer,
    ours: median(rounds.map((round) => round.ours)),
    bare: median(rounds.map((round) => round.bare)),
    ratio: median(ratios),
    lowest: Math.min(...ratios),
    highest: Math.max(...ratios),
  };
}

/** Runs `work` on `items` items. */
export async function paceOf(items: number, work: () => Promise<unknown>): Promise<Pace> {
  const from = performance.now();
  await work();
  return { perSecond: items / ((performance.now() - from) / 1000) };
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  if (low === undefined || high === undefined) throw new Error("nothing was measured");
  return (low + high) / 2;
}
