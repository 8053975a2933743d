import type { Logger } from "pino";
import { Problem } from "../../core/kernel/problem.ts";
import type { Store } from "../../core/store/store.ts";
import { supplierContact } from "../../core/suppliers/supplier.ts";
import { applyLooks, claimLooks, type LookClaim, postponeLooks, waitingLooks } from "../../core/supply/looks.ts";
import type { Providers } from "../gateways/suppliers/providers.ts";
import { claimEach, createPool, type Pool, type PoolWork } from "./pool.ts";
import type { Bounds, Lane } from "./share.ts";

/** What looking up needs. */
interface LookDependencies {
  store: Store;
  providers: Providers;
  /** The clock, in ms. */
  now(): number;
  log: Pick<Logger, "error" | "warn">;
}

/** One look of a supplier at a time: purchases share its limits, and come first. */
const BOUNDS: Bounds = { overall: 8, production: 8, sandbox: 0, perKey: 1, perLane: 1 };
/** eSIMs that one look asks for: no provider answers for more at once. */
const AT_ONCE = 10;
/** How long a supplier without a usable answer is left alone. */
const UNREACHABLE_MS = 5 * 60_000;

/** Looks up what became of sold eSIMs, where their suppliers show it: a lane for each supplier. */
export function createLooks(deps: LookDependencies): Pool {
  const { store, now, log } = deps;
  /** Suppliers that gave no usable answer, and until when they are not asked. */
  const resting = new Map<string, number>();
  const work: PoolWork<Lane, LookClaim, never> = {
    name: "esim looks",
    bounds: BOUNDS,
    async due() {
      const { due, waitMs } = await store.read(waitingLooks, null);
      const asked = due.filter((supplier) => (resting.get(supplier) ?? 0) <= now());
      return { lanes: asked.map((supplier) => ({ id: supplier, key: supplier, sandbox: false })), waitMs };
    },
    turn: (rooms) =>
      claimEach(
        rooms,
        async ({ id: supplier }) => {
          const claim = await store.write(claimLooks, { supplier, limit: AT_ONCE });
          return claim === null ? [] : [claim];
        },
        log,
      ),
    async work(claim) {
      if (await look(deps, claim)) resting.delete(claim.supplier);
      else resting.set(claim.supplier, now() + UNREACHABLE_MS);
      return null;
    },
    async release(claims) {
      for (const claim of claims) await store.write(postponeLooks, { claim, delayMs: 0 });
    },
  };
  return createPool(work, log);
}

/** Whether the supplier gave a usable answer. */
async function look({ store, providers, log }: LookDependencies, claim: LookClaim): Promise<boolean> {
  const { supplier } = claim;
  try {
    const contact = await store.read(supplierContact, supplier);
    const provider = contact === null ? null : providers.of(contact);
    const refs = claim.esims.map(({ ref }) => ref);
    if (provider === null)
      throw new Problem("supplier_unreachable", "It has no secret, or no address that may be used.");
    await store.write(applyLooks, { claim, reports: await provider.look(refs) });
    return true;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    log.warn({ event: "looks_postponed", supplier, reason: error.message }, "eSIMs could not be looked up");
    await store.write(postponeLooks, { claim, delayMs: UNREACHABLE_MS });
    return false;
  }
}
