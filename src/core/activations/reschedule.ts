import { changesOf } from "../audit/changes.ts";
import type { Actor } from "../audit/record.ts";
import { givenNames } from "../audit/set-row.ts";
import type { Owner } from "../kernel/owner.ts";
import { invalid, Problem } from "../kernel/problem.ts";
import { limitsOfPartner } from "../platform/partner-limits.ts";
import type { Tx } from "../store/store.ts";
import {
  type Activation,
  type ActivationRow,
  auditActivation,
  requireEditable,
  requireOwnActivation,
  type Target,
  toActivation,
} from "./activation.ts";
import { checkActivationDate, scheduleFor } from "./calendar.ts";
import { openKycIfReadable } from "./identity.ts";
import { type Change, progressActivation } from "./states.ts";

/** What may be edited; at least one is there. A null note clears it. */
export interface Edit {
  requested_activation_date?: string | undefined;
  note?: string | null | undefined;
}

/**
 * Changes date or note of a request that was not picked up yet (contract: PATCH, by id and by ICCID). A note alone, or
 * the date it already has, is not checked against the calendar. Throws `not_found`, `not_editable`,
 * `invalid_activation_date`, and `validation` when the passport expires before the new date, and
 * `conflict` when that cannot be read.
 */
export async function rescheduleActivation(
  tx: Tx,
  input: { owner: Owner; target: Target; edit: Edit; actor: Actor },
): Promise<Activation> {
  const row = await requireOwnActivation(tx, input.owner, input.target);
  requireEditable(row);
  const { max_days_ahead } = await limitsOfPartner(tx, row.partner_id);
  const change = changeOf(tx, row, input.edit, max_days_ahead);
  const edited = await progressActivation(tx, row, change);
  const fields = givenNames(input.edit);
  // The note is the partner's own words: only its name is kept, so that it can be erased.
  const dateOf = ({ activation_date }: ActivationRow) => ({ requested_activation_date: activation_date });
  const changes = changesOf<Edit>(dateOf(row), dateOf(edited), ["requested_activation_date"]);
  await auditActivation(tx, row, { action: "activations.edit", actor: input.actor, fields, changes });
  return toActivation(tx, edited);
}

function changeOf(
  tx: Tx,
  row: ActivationRow,
  { requested_activation_date: date, note }: Edit,
  daysAhead: number | null,
): Change {
  const noted = note === undefined ? {} : { note: note === "" ? null : note };
  if (date === undefined || date === row.activation_date) return noted;
  checkActivationDate(date, tx.now, daysAhead);
  const identity = openKycIfReadable(tx, row);
  if (identity === "unreadable") {
    throw new Problem("conflict", "The identity data of this request cannot be read, so its date cannot be checked.", {
      members: { reason: "identity_unreadable" },
    });
  }
  const expiry = identity?.reveal().passport_expiry ?? null;
  if (expiry !== null && expiry < date) {
    const errors = { requested_activation_date: ["is later than the passport is valid"] };
    throw invalid(errors, { reason: "passport_expired" });
  }
  return { ...noted, activation_date: date, ...scheduleFor(date, tx.now) };
}
