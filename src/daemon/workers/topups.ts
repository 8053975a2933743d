import type { Logger } from "pino";
import { costOf } from "../../core/kernel/cost.ts";
import type { Memory } from "../../core/store/schema/values.ts";
import type { Store } from "../../core/store/store.ts";
import { knownPurchases } from "../../core/supply/costs.ts";
import type { Step } from "../../core/supply/provider.ts";
import {
  type ClaimedTopup,
  claimTopups,
  postponeTopup,
  releaseTopups,
  type TopupQueue,
  topupContact,
  waitingTopups,
} from "../../core/topups/due.ts";
import { playTopup } from "../../core/topups/play.ts";
import { applyTopupStep, type TopupStep } from "../../core/topups/step.ts";
import type { Providers } from "../gateways/suppliers/providers.ts";
import { claimEach, createPool, type Pool, type PoolWork } from "./pool.ts";
import { noteExchange } from "./reach.ts";
import { runSteps } from "./run-steps.ts";
import type { Bounds, Lane } from "./share.ts";

/** What the worker for top-ups needs. */
export interface TopupDependencies {
  store: Store;
  providers: Providers;
  log: Pick<Logger, "error" | "warn" | "info">;
}

const BOUNDS: Bounds = { overall: 32, production: 28, sandbox: 16, perKey: 16, perLane: 16 };
const FAULT_DELAY_MS = 60_000;

type TopupLane = Lane & TopupQueue;

/** Buys top-ups of their suppliers, step by step: a lane for each supplier, and one for the sandbox. */
export function createTopups(deps: TopupDependencies): Pool {
  const { store, log } = deps;
  const work: PoolWork<TopupLane, ClaimedTopup, never> = {
    name: "topups",
    bounds: BOUNDS,
    async due() {
      const { due, waitMs } = await store.read(waitingTopups, null);
      return { lanes: due.map(laneOf), waitMs };
    },
    turn: (rooms) => claimEach(rooms, ({ supplier }, room) => store.write(claimTopups, { supplier, room }), log),
    async work(claimed) {
      await topUp(deps, claimed);
      return null;
    },
    release: (claimed) =>
      store.write(
        releaseTopups,
        claimed.map(({ lease }) => lease),
      ),
  };
  return createPool(work, log);
}

function laneOf({ supplier }: TopupQueue): TopupLane {
  // No supplier's name has a space.
  const key = supplier ?? "the sandbox";
  return { supplier, id: key, key, sandbox: supplier === null };
}

async function topUp(deps: TopupDependencies, claimed: ClaimedTopup): Promise<void> {
  const { store, log } = deps;
  const { topup, lease } = claimed;
  try {
    if (topup.supplier === null) await store.write(playTopup, lease);
    else await buy(deps, claimed, topup.supplier);
  } catch (error) {
    log.error({ err: error, topup_id: topup.id }, "top-up failed");
    await store.write(postponeTopup, { lease, delayMs: FAULT_DELAY_MS });
  }
}

/** Makes one step after the other, as long as each is noted before the next; the lease fences all of them. */
async function buy(deps: TopupDependencies, claimed: ClaimedTopup, supplier: string): Promise<void> {
  const { store } = deps;
  const { topup, lease, probe } = claimed;
  let unasked = false;
  const run = await runSteps({
    memory: topup.memory,
    async ask(state) {
      const asked = await stepOf(deps, claimed, { supplier, ...state });
      unasked = asked?.unasked ?? false;
      return asked === null ? null : asked.step;
    },
    note: async (step) => (await store.write(applyTopupStep, { lease, probe, step })) === "again",
  });
  if (run === null) return;
  const { step, before, noted } = run;
  const ended = { lease, probe, step, unasked, ...(noted ? { before } : {}) } satisfies TopupStep;
  await store.write(applyTopupStep, ended);
  await report(deps, { supplier, id: topup.id, step });
}

interface Asking {
  supplier: string;
  memory: Memory | null;
  fresh: boolean;
}

/** The supplier's next step; null: this worker has the top-up no more. */
async function stepOf(
  { store, providers }: TopupDependencies,
  { topup, lease }: ClaimedTopup,
  { supplier, memory, fresh }: Asking,
): Promise<{ step: Step; unasked: boolean } | null> {
  const reached = await store.read(topupContact, { lease, topup });
  if (reached === null) return null;
  const provider = reached.contact && providers.of(reached.contact);
  const { supplier_sku: plan } = topup;
  if (provider === null || plan === null) {
    return { step: { kind: "unsent", reason: "it is not set up (suppliers set)" }, unasked: true };
  }
  const step = await provider.topUp({
    plan,
    days: topup.days,
    reference: topup.id,
    // As its product's source had it when it was charged.
    cost: topup.cost === null ? null : costOf(topup.cost),
    memory,
    fresh,
    known: async (references) => new Set(await store.read(knownPurchases, { supplier, references, own: topup.id })),
    esim: reached.esim,
  });
  return { step, unasked: false };
}

interface Reported {
  supplier: string;
  id: string;
  step: Step;
}

/** Logs what people may have to look at, and keeps whether the supplier can be reached. */
async function report(deps: TopupDependencies, { supplier, id, step }: Reported): Promise<void> {
  if (step.kind === "busy" || step.kind === "note") return;
  const isFault = step.kind === "unsent" || step.kind === "unknown" || step.kind === "lost";
  if (isFault) deps.log.warn({ topup_id: id, supplier, outcome: step.kind, reason: step.reason }, "top-up not certain");
  if (step.kind === "refused") deps.log.warn({ topup_id: id, supplier, code: step.code }, "top-up refused");
  await noteExchange(deps, { kind: "supplier", name: supplier, error: isFault ? step.reason : null });
}
