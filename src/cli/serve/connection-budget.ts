import { usageError } from "../kernel/errors.ts";

/**
 * Connections of a node to PostgreSQL over all its processes, unless the operator sets another number: three nodes fit
 * into the 100 of PostgreSQL's own default, with room for its reserved ones and for terminal commands.
 */
export const DEFAULT_CONNECTIONS = 30;

/** More than this are of no use to a process, unless a budget asks for them. */
const USEFUL = 12;
/** Of a process, beside its pool: to ask whether the server answers, and to vacuum. */
const ASIDE = 1;
/** One that writes, one that reads. */
const LEAST = 2;

/**
 * How many connections the pool of each process may open. With `workers` over 1 these are the processes that answer
 * HTTP and the main one. Throws a usage error when the budget is too small for them.
 */
export function connectionsPerProcess(budget: number | undefined, workers: number): number {
  const processes = workers === 1 ? 1 : workers + 1;
  const least = processes * (LEAST + ASIDE);
  if (budget !== undefined && budget < least) {
    throw usageError(
      `--database-connections ${budget} is too few for ${processes} ${processes === 1 ? "process" : "processes"}.`,
      `Each needs ${LEAST + ASIDE}: give at least ${least}, or fewer --workers.`,
    );
  }
  // Many workers without a budget of their own: as few as they can do with.
  const share = Math.max(Math.floor((budget ?? DEFAULT_CONNECTIONS) / processes) - ASIDE, LEAST);
  return budget === undefined ? Math.min(share, USEFUL) : share;
}
