import type { Tx } from "../store/store.ts";
import { type ClaimedDelivery, claimDeliveries, type Lane } from "./claim.ts";
import { applyOutcomes, type Outcome } from "./outcome.ts";

/** One turn of the worker in one transaction: writes what came back, then leases what goes next. */
export async function takeTurn(tx: Tx, input: { outcomes: Outcome[]; lanes: Lane[] }): Promise<ClaimedDelivery[]> {
  await applyOutcomes(tx, input.outcomes);
  return claimDeliveries(tx, input);
}
