import { deliveredEsims } from "../esims/delivered.ts";
import type { Lease } from "../platform/lease.ts";
import { findByKey, updateRow } from "../store/rows.ts";
import type { Tx } from "../store/store.ts";
import { topupLeases } from "./due.ts";
import { applyTopup, failTopup } from "./end.ts";
import { whyNotToppable } from "./toppable.ts";
import type { TopupRow } from "./topup.ts";

/** Ends a leased top-up of the sandbox as its scenario asks, without any supplier, unless the lease was lost. */
export async function playTopup(tx: Tx, lease: Lease<"topups">): Promise<void> {
  if ((await topupLeases.heldUntil(tx, lease)) === null) return;
  const topup = await findByKey(tx, "topups", { id: lease.id });
  if (topup === null || topup.status !== "paid") return;
  if (topup.scenario === "supplier_refused") {
    await failTopup(tx, topup, "the supplier refused: Refused, as the sandbox scenario asks.");
  } else if (topup.scenario === "supplier_timeout") {
    const reason = "the supplier gave no final answer in time";
    await updateRow(tx, "topups", { id: topup.id }, { reason, due_at: null, leased_until: null, updated_at: tx.now });
  } else if (await hasEnded(tx, topup)) {
    await failTopup(tx, topup, "the eSIM expired before");
  } else {
    await applyTopup(tx, topup);
  }
}

/** Whether the validity of its eSIM ended meanwhile, as an advanced clock has it. */
async function hasEnded(tx: Tx, { iccid, esim_id }: TopupRow): Promise<boolean> {
  const known = (await deliveredEsims(tx, iccid)).find(({ esim }) => esim.id === esim_id);
  return known !== undefined && (await whyNotToppable(tx, known)) === "expired";
}
