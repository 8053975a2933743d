import type { Tx } from "../store/store.ts";
import { type ClaimedDelivery, claimDeliveries, type EndpointRoom } from "./claim.ts";
import { applyOutcomes, type Outcome } from "./outcome.ts";

/** One turn of the worker in one transaction: records the attempts that ended, then leases what goes next. */
export async function takeTurn(
  tx: Tx,
  input: { outcomes: Outcome[]; rooms: EndpointRoom[] },
): Promise<ClaimedDelivery[]> {
  await applyOutcomes(tx, input.outcomes);
  return claimDeliveries(tx, input);
}
