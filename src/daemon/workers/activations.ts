import cron from "node-cron";
import type { Logger } from "pino";
import {
  type CarrierExchange,
  type CarrierQueue,
  claimExchanges,
  isAnswerOverdue,
  leaveOverdueToStaff,
  mayExchange,
  releaseExchanges,
  waitingExchanges,
} from "../../core/activations/carrier-exchange.ts";
import { applyOutcome } from "../../core/activations/outcome.ts";
import { isPickupDue, pickUpDue, releaseScheduled } from "../../core/activations/pickup.ts";
import { type Environment, productionFirst } from "../../core/kernel/environment.ts";
import type { Store } from "../../core/store/store.ts";
import type { Reported } from "../gateways/carrier-response.ts";
import type { CarrierGateway } from "../gateways/carriers.ts";
import type { Cron } from "./cron-lease.ts";
import { drained, startWorker, type Worker } from "./loop.ts";
import { claimEach, createPool, type Pool, type PoolWork, startPool } from "./pool.ts";
import { noteExchange } from "./reach.ts";
import type { Bounds, Lane } from "./share.ts";

/** What the worker for activations needs. */
export interface ActivationDependencies {
  store: Store;
  gateway: CarrierGateway;
  log: Pick<Logger, "error" | "warn" | "info">;
  /** Whether the clock is too far off to take leases; left out: it never is. */
  isClockOff?: (() => boolean) | undefined;
}

/** Exchanges with carriers in flight at the same time. Those of the sandbox are real: they share a carrier's room. */
const BOUNDS: Bounds = { overall: 64, production: 56, sandbox: 32, perKey: 32, perLane: 16 };

/** Requests written in one transaction; fewer of the sandbox, since production's writes wait for each. */
const BATCH = { production: 100, sandbox: 20 };

type CarrierLane = Lane & CarrierQueue;

/** Makes the exchanges that are due: a lane for each carrier and environment. */
export function createExchanges(deps: ActivationDependencies): Pool {
  const { store, log } = deps;
  const work: PoolWork<CarrierLane, CarrierExchange, never> = {
    name: "activations",
    bounds: BOUNDS,
    async due() {
      const { due, waitMs } = await store.read(waitingExchanges, null);
      return { lanes: due.map(laneOf), waitMs };
    },
    turn: (rooms) =>
      claimEach(
        rooms,
        ({ environment, carrier }, room) => store.write(claimExchanges, { environment, carrier, room }),
        log,
      ),
    work: (claimed) => exchange(deps, claimed),
    release: (exchanges) =>
      store.write(
        releaseExchanges,
        exchanges.map(({ lease }) => lease),
      ),
  };
  return createPool(work, log);
}

function laneOf({ environment, carrier }: CarrierQueue): CarrierLane {
  return { environment, carrier, id: `${environment} ${carrier}`, key: carrier, sandbox: environment === "sandbox" };
}

async function exchange(deps: ActivationDependencies, work: CarrierExchange): Promise<null> {
  const { store, gateway, log } = deps;
  const { id, lease, carrier } = work;
  try {
    if (!(await store.read(mayExchange, lease))) return null;
    const reported = await gateway.exchange(work);
    const { outcome, statusCode, latencyMs, answer } = reported;
    const report = { id, leaseNo: lease.no, outcome, source: "request", statusCode, latencyMs, answer } as const;
    await store.write(applyOutcome, { ...report, actor: `carrier:${carrier.name}` });
    if (carrier.adapter === "manual") return null;
    await noteExchange(deps, { kind: "carrier", name: carrier.prefix, error: faultOf(reported) });
  } catch (error) {
    // The lease ends by itself: then it is asked again, under the same reference.
    log.error({ err: error, activation_id: id }, "activation exchange failed");
  }
  return null;
}

/** Why an exchange failed, without anything of a response, which may repeat identity data; null: it did not. */
function faultOf({ outcome, statusCode, answer }: Reported): string | null {
  if (outcome.kind !== "temporary") return null;
  if (statusCode !== null) return `it answered ${statusCode}`;
  if (answer === "no_answer") return "no answer";
  return answer ?? "it asked for a retry";
}

/** What the calendar and the clock made due. */
export interface Prepared {
  /** Requests that went from pending to processing. */
  pickedUp: number;
  /** Requests left to staff, since the carrier's final answer is overdue. */
  overdue: number;
}

/** Picks up the requests that are due, and leaves those to staff whose final answer is overdue. */
export async function prepareExchanges(
  store: Store,
  signal: AbortSignal,
  environments: readonly Environment[] = productionFirst,
): Promise<Prepared> {
  let pickedUp = 0;
  for (const environment of environments) {
    const limit = BATCH[environment];
    if (!(await store.read(isPickupDue, environment))) continue;
    pickedUp += await drained(signal, () => store.write(pickUpDue, { environment, limit }), limit);
  }
  const batch = { limit: BATCH.production };
  const overdue = (await store.read(isAnswerOverdue, null))
    ? await drained(signal, () => store.write(leaveOverdueToStaff, batch), batch.limit)
    : 0;
  return { pickedUp, overdue };
}

/** The calendar run: what came due by a midnight of Sydney, also by one that passed while nothing ran. */
export async function releaseByCalendar(store: Store, signal: AbortSignal): Promise<number> {
  let released = 0;
  for (const environment of productionFirst) {
    const limit = BATCH[environment];
    released += await drained(signal, () => store.write(releaseScheduled, { environment, limit }), limit);
  }
  return released;
}

/** Calls `run` again and again until it is stopped. */
export type Ticker = (run: () => void) => { stop(): Promise<void> };

/** Each full minute of the wall clock. */
const minutes: Ticker = (run) => {
  const task = cron.schedule("* * * * *", run);
  return { stop: async () => void (await task.destroy()) };
};

/**
 * Runs activations by themselves: due requests are picked up every second; scheduled ones are made due by the
 * calendar, each minute, and at the start for what was missed.
 */
export function startActivations(
  deps: ActivationDependencies & { calendar: Cron },
  everyMinute: Ticker = minutes,
): Worker {
  const { store, log, isClockOff, calendar } = deps;
  let calendarIsDue = true;
  const worker = startPool(createExchanges(deps), {
    log,
    isClockOff,
    async before(signal) {
      if (calendarIsDue) {
        calendarIsDue = false;
        await calendar.run("activation_calendar", signal, (held) => releaseByCalendar(store, held));
      }
      await prepareExchanges(store, signal, ["production"]);
    },
  });
  // Beside it: however many of the sandbox come due at midnight, production's exchanges do not wait for them.
  const sandbox = startWorker({
    name: "sandbox activations",
    pollMs: 1_000,
    log,
    isClockOff,
    async step(signal) {
      const { pickedUp } = await prepareExchanges(store, signal, ["sandbox"]);
      if (pickedUp > 0) worker.wake();
    },
  });
  const look = () => {
    calendarIsDue = true;
    worker.wake();
  };
  calendar.onTaken(look);
  const ticking = everyMinute(look);
  return {
    wake() {
      worker.wake();
      sandbox.wake();
    },
    async stop() {
      await ticking.stop();
      await Promise.all([worker.stop(), sandbox.stop()]);
      await deps.gateway.close();
    },
  };
}
