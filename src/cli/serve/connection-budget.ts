import { usageError } from "../kernel/errors.ts";

/**
 * Connections of a node to PostgreSQL over all its processes, unless the operator sets another number: three nodes fit
 * into the 100 of PostgreSQL's own default, with room for its reserved ones and for terminal commands.
 */
export const DEFAULT_CONNECTIONS = 30;

/** More than this are of no use to a process, unless a budget asks for them. */
const USEFUL = 12;
/** Connections of a process beside its pool: to ask whether the server answers, and to vacuum. */
const ASIDE = 1;
/** The connection of a node on which other nodes notify of work. */
const LISTENING = 1;
/** One that writes, one that reads. */
const LEAST = 2;

/** How many connections the pools of a node's processes may open: of the main one, and of each that answers HTTP. */
export interface PoolSizes {
  main: number;
  front: number;
}

/**
 * Divides a node's budget. With `workers` over 1 there are as many processes that answer HTTP, and the main one. Throws
 * a usage error when the budget is too small for them.
 */
export function poolSizes(budget: number | undefined, workers: number): PoolSizes {
  const processes = workers === 1 ? 1 : workers + 1;
  const least = processes * (LEAST + ASIDE) + LISTENING;
  if (budget !== undefined && budget < least) {
    throw usageError(
      `--database-connections ${budget} is too few for ${processes} ${processes === 1 ? "process" : "processes"}.`,
      `Each needs ${LEAST + ASIDE}, and one listens: give at least ${least}, or fewer --workers.`,
    );
  }
  // Many workers without a budget of their own: as few as they can do with.
  const most = Math.max(budget ?? DEFAULT_CONNECTIONS, least);
  const fair = Math.floor(most / processes) - ASIDE;
  // The main process listens with one of its own share, where that leaves it enough.
  const front = fair - LISTENING >= LEAST ? fair : Math.floor((most - LISTENING) / processes) - ASIDE;
  const main = Math.max(most - (processes - 1) * (front + ASIDE) - ASIDE - LISTENING, LEAST);
  const sizes = { main: processes === 1 ? main : Math.min(main, front), front };
  return budget === undefined ? { main: Math.min(sizes.main, USEFUL), front: Math.min(front, USEFUL) } : sizes;
}
