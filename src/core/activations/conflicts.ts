import type { Owner } from "../kernel/owner.ts";
import { Problem } from "../kernel/problem.ts";

import type { Read } from "../store/store.ts";
import { type ActivationRow, holderOfIccid } from "./activation.ts";

interface Asked extends Owner {
  iccid: string;
  activationDate: string;
  /** The partner agreed to have its pending request replaced. */
  confirmDateChange: boolean;
}

/**
 * Whether a new request may take its ICCID. Null: it is free. A row: the owner's own pending request, which is to be
 * cancelled for it. Throws `duplicate`, which says the same for every holder of the ICCID, or `date_conflict`.
 */
export async function requestToReplace(q: Read, asked: Asked): Promise<ActivationRow | null> {
  const holder = await holderOfIccid(q, asked.iccid);
  if (holder === null) return null;
  const own = holder.partner_id === asked.partnerId && holder.environment === asked.environment;
  if (!own || holder.status !== "pending" || holder.activation_date === asked.activationDate) {
    throw new Problem("duplicate", "This ICCID was already submitted for activation.");
  }
  if (asked.confirmDateChange) return holder;
  throw new Problem(
    "date_conflict",
    `A request for this ICCID is pending for ${holder.activation_date}; confirm_date_change: true replaces it.`,
    { members: { existing_date: holder.activation_date, existing_request_id: holder.id } },
  );
}
