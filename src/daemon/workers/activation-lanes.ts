import type { Logger } from "pino";
import { applyOutcome } from "../../core/activations/apply-outcome.ts";
import { type CarrierExchange, claimExchanges } from "../../core/activations/exchange.ts";
import { carrierRows } from "../../core/carriers/carrier.ts";
import type { Store } from "../../core/store/store.ts";
import type { CarrierGateway } from "../gateways/carriers.ts";

/** What working activations takes. */
export interface ActivationDependencies {
  store: Store;
  gateway: CarrierGateway;
  log: Pick<Logger, "error">;
}

/** What was begun: exchanges, and requests whose final answer was overdue. */
export interface Begun {
  exchanged: number;
  overdue: number;
}

/** The exchanges under way, a lane for each carrier, so that a slow one keeps no other waiting. */
export interface Lanes {
  /** Begins what is due as far as there is room. Does not wait for the answers. */
  fill(): Promise<Begun>;
  /** How many are under way. */
  size(): number;
  /** Resolves when an exchange ends; at once when none is under way. */
  next(): Promise<void>;
  /** Resolves when none is under way any more. */
  idle(): Promise<void>;
}

/** Exchanges with one carrier at the same time. */
const AT_ONCE = 16;

/** Lanes of their own; `onEnd` is called as exchanges end, since there is room again. */
export function createLanes(deps: ActivationDependencies, onEnd: () => void = () => {}): Lanes {
  const lanes = new Map<string, Set<Promise<void>>>();
  const underWay = () => [...lanes.values()].flatMap((lane) => [...lane]);

  async function fillLane(carrier: string): Promise<Begun> {
    const lane = lanes.get(carrier) ?? new Set();
    lanes.set(carrier, lane);
    const room = AT_ONCE - lane.size;
    if (room === 0) return { exchanged: 0, overdue: 0 };
    const { exchanges, overdue } = await deps.store.write(claimExchanges, { carrier, limit: room });
    for (const work of exchanges) {
      const ended = exchange(deps, work).then(() => {
        lane.delete(ended);
        onEnd();
      });
      lane.add(ended);
    }
    return { exchanged: exchanges.length, overdue };
  }

  return {
    async fill() {
      const carriers = await deps.store.read(carrierRows, null);
      const begun = await Promise.all(carriers.map(({ prefix }) => fillLane(prefix)));
      const sum = (count: (one: Begun) => number) => begun.reduce((total, one) => total + count(one), 0);
      return { exchanged: sum((one) => one.exchanged), overdue: sum((one) => one.overdue) };
    },
    size: () => underWay().length,
    async next() {
      const exchanges = underWay();
      if (exchanges.length > 0) await Promise.race(exchanges);
    },
    async idle() {
      await Promise.all(underWay());
    },
  };
}

async function exchange({ store, gateway, log }: ActivationDependencies, work: CarrierExchange): Promise<void> {
  const { id, lease, carrier } = work;
  try {
    const { outcome, statusCode, latencyMs, answer } = await gateway.exchange(work);
    const actor = `carrier:${carrier.name}`;
    const report = { id, lease, outcome, source: "request", actor, statusCode, latencyMs, answer } as const;
    await store.write(applyOutcome, report);
  } catch (error) {
    // The lease runs out by itself: then it is asked again, under the same reference.
    log.error({ err: error, activation_id: id }, "activation exchange failed");
  }
}
