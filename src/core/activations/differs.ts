import { normalizePassportNumber } from "../kernel/identity.ts";
import { identityNames } from "../kernel/identity-fields.ts";
import { Problem } from "../kernel/problem.ts";
import type { Row } from "../store/schema/tables.ts";
import { type KycField, kycFields } from "../store/schema/values.ts";
import type { Read } from "../store/store.ts";
import { customerOf } from "./customer.ts";
import { openKycIfReadable, type SentKyc } from "./identity.ts";

type ActivationRow = Row<"activations">;

/** What a submission says beside ICCID and date; identity fields as `checkKyc` returns them. */
export interface Said extends SentKyc {
  customer_email?: string | null | undefined;
  customer_phone?: string | null | undefined;
  plan_name?: string | null | undefined;
  note?: string | null | undefined;
}

const contactFields = ["customer_email", "customer_phone", "plan_name", "note"] as const;
type DifferingField = KycField | (typeof contactFields)[number];

/** Throws `duplicate` with `differs`, the names of the fields, where the owner's own request says something else. */
export function refuseDiffering(q: Read, holder: ActivationRow, said: Said): void {
  const differs = differingFields(q, holder, said);
  if (differs.length === 0) return;
  const members = { differs, reason: "differs", current_status: holder.status };
  throw new Problem("duplicate", differsWords(holder, differs), { members });
}

/** Whether two values of a field say the same. */
function isSame(field: DifferingField, one: string, other: string): boolean {
  if (field === "passport_no") return normalizePassportNumber(one) === normalizePassportNumber(other);
  return one.trim() === other.trim();
}

/**
 * The fields in which a submission differs from the request that is there. What the submission leaves blank is not
 * compared, nor what was cleared or cannot be read. A request that drew its passport has the pool's identity: for a
 * submission that draws too, only the other fields count.
 */
function differingFields(q: Read, row: ActivationRow, said: Said): DifferingField[] {
  const opened = openKycIfReadable(q, row);
  const kyc = opened === null || opened === "unreadable" ? null : opened.reveal();
  const drawn = row.passport_id !== null && (said.passport_no ?? "") === "";
  const names: readonly string[] = drawn ? identityNames : [];
  const compared = kyc === null ? [] : kycFields.filter((field) => !names.includes(field));
  const differing: DifferingField[] = compared.filter((field) => isOther(field, said[field], kyc?.[field]));
  if (row.customer_sealed === null) return differing;
  const stored = { ...customerOf(q, row), plan_name: row.plan_name, note: row.note };
  return [...differing, ...contactFields.filter((field) => isOther(field, said[field], stored[field]))];
}

function isOther(field: DifferingField, said: string | null | undefined, stored: string | null | undefined): boolean {
  return (said ?? "").trim() !== "" && !isSame(field, said ?? "", stored ?? "");
}

/** What to do about a submission that differs from the request that is there. */
function differsWords({ status }: Pick<ActivationRow, "status">, fields: string[]): string {
  const what = `This ICCID was already submitted for this date, with another ${fields.join(", ")}.`;
  if (status === "pending") return `${what} Correct the identity of that request, or cancel it first.`;
  const where = status === "processing" ? "It is already with the carrier (processing)" : `It is ${status}`;
  return `${what} ${where} and can no longer be changed.`;
}
