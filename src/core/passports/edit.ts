import { recordAudit } from "../audit/record.ts";
import type { PassportId } from "../kernel/brand.ts";
import { civilDateAt } from "../kernel/civil-date.ts";
import type { Owner } from "../kernel/owner.ts";
import { invalid, Problem } from "../kernel/problem.ts";
import { updateRow } from "../store/rows.ts";
import type { Tx } from "../store/store.ts";
import { checkChange, type PassportChange } from "./check.ts";
import {
  columnsOf,
  indexPassport,
  type NewPassport,
  openPassport,
  type PassportRow,
  passportInPool,
  requireAgent,
  requireOwnPassport,
} from "./passport.ts";

/** A change of any of these voids the operator's verdict (contract: Identity pool); the country is the number's. */
const verifiedFields = [
  "first_name",
  "last_name",
  "date_of_birth",
  "passport_no",
  "passport_country",
  "passport_expiry",
] as const;

/** By these it is found. */
const names = ["first_name", "last_name"] as const;

/** Refuses to touch a passport that a request used. Throws `passport_in_use`. */
export function refuseInUse(row: PassportRow): void {
  if (row.use_count > 0) throw new Problem("passport_in_use", "This passport was already used for an activation.");
}

/**
 * Changes a passport of the caller's pool (contract: PATCH /kyc/passports/{id}); another number, name, date of birth or
 * expiry must be verified again. Throws `validation`, `not_found`, `passport_in_use`, `passport_conflict` and
 * `no_agent_record`.
 */
export async function editPassport(
  tx: Tx,
  input: { owner: Owner; id: PassportId; change: PassportChange; actor: string },
): Promise<{ ok: true; id: PassportId }> {
  const { owner, id, actor } = input;
  await requireAgent(tx, owner.partnerId);
  const checked = checkChange(input.change, civilDateAt(tx.now));
  if ("problems" in checked) throw invalid(checked.problems);
  const row = await requireOwnPassport(tx, owner, id);
  refuseInUse(row);
  const before = openPassport(tx, row);
  const after: NewPassport = { ...before, ...checked.ok };
  const columns = columnsOf(tx, id, after);
  await refuseTaken(tx, owner, row, columns);
  const changed = verifiedFields.some((field) => before[field] !== after[field]);
  const verdict = changed ? ({ verification: "pending", rejection: null, drawable: false } as const) : {};
  await updateRow(tx, "passports", { id }, { ...columns, ...verdict, updated_at: tx.now });
  if (names.some((field) => before[field] !== after[field])) await indexPassport(tx, id, owner, after);
  await recordAudit(tx, {
    actor,
    action: "passports.edit",
    targetKind: "passport",
    targetId: id,
    partnerId: owner.partnerId,
    fields: Object.keys(checked.ok),
  });
  return { ok: true, id };
}

async function refuseTaken(tx: Tx, owner: Owner, row: PassportRow, columns: ReturnType<typeof columnsOf>) {
  const { passport_country: country, number_index } = columns;
  const other = await passportInPool(tx, owner, { country, number_index });
  if (other !== null && other !== row.id) {
    throw new Problem("passport_conflict", "Another record of your pool has this country and passport number.");
  }
}
