import type { Cost } from "../../../../core/kernel/brand.ts";
import type { Reply } from "../reply.ts";
import { wholeCatalog } from "./catalog.ts";
import type { Client } from "./client.ts";

/** So long (ms) prices are taken as they were read: Airalo's pages advise to read the whole catalog once an hour. */
const FRESH_MS = 3_600_000;
/** With a token before it this ends within the lease of a unit. */
const TIMEOUT_MS = 60_000;

/** What plans cost, as this account saw it last. */
export interface Prices {
  /** Reads the catalog first where that was long ago; null: it does not have the plan. */
  of(plan: string): Promise<Reply<Cost | null>>;
  /** Keeps what the answer to an order shows. */
  keep(plan: string, cost: Cost): void;
}

/** Makes the prices of one account. Purchases at the same time share one reading of the catalog. */
export function createPrices(client: Client, now: () => number): Prices {
  let costs = new Map<string, Cost>();
  let freshUntil = 0;
  let reading: Promise<Reply<unknown>> | null = null;

  async function read(): Promise<Reply<unknown>> {
    const reply = await wholeCatalog(client.send, TIMEOUT_MS);
    if (reply.kind !== "done") return reply;
    costs = new Map(reply.value.plans.map(({ plan, cost }) => [plan, cost]));
    freshUntil = now() + FRESH_MS;
    return reply;
  }

  return {
    async of(plan) {
      if (now() >= freshUntil) {
        reading ??= read().finally(() => {
          reading = null;
        });
        const reply = await reading;
        if (reply.kind !== "done") return reply;
      }
      return { kind: "done", value: costs.get(plan) ?? null, at: null };
    },
    keep: (plan, cost) => void costs.set(plan, cost),
  };
}
