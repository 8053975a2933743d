import type { Actor } from "../audit/record.ts";
import { requireCarrier } from "../carriers/carrier.ts";
import { normalizePassportNumber } from "../kernel/identity.ts";
import type { Owner } from "../kernel/owner.ts";
import { Problem } from "../kernel/problem.ts";
import { releaseDraw } from "../passports/draw.ts";
import { updateRow } from "../store/rows.ts";
import { kycFields } from "../store/schema/values.ts";
import { sealedActivationCustomer } from "../store/sealing/people.ts";
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
import { customerOf, indexActivation } from "./customer.ts";
import { checkKyc, type Kyc, openKycIfReadable, requireKyc, type SentKyc, sealKyc } from "./identity.ts";
import { customerName, refuseBadFields, refuseExpired } from "./submit.ts";

/** What may be corrected of a pending request. Left out: it stays; null or empty: it is cleared. */
export interface IdentityEdit extends SentKyc {
  customer_email?: string | null | undefined;
  customer_phone?: string | null | undefined;
  plan_name?: string | null | undefined;
}

const contactFields = ["customer_email", "customer_phone", "plan_name"] as const;

/**
 * Corrects the identity of a request that was not picked up yet, with the checks of a submission; a drawn passport
 * whose document is replaced goes back to the pool. Throws `not_found`, `not_editable`, `validation`, `missing_kyc`,
 * and `conflict` when the stored identity cannot be read.
 */
export async function editIdentity(
  tx: Tx,
  { owner, target, edit, actor }: { owner: Owner; target: Target; edit: IdentityEdit; actor: Actor },
): Promise<Activation> {
  const row = await requireOwnActivation(tx, owner, target);
  requireEditable(row);
  const before = storedKyc(tx, row);
  const kyc = merged(tx, before, edit);
  requireKyc(await requireCarrier(tx, row.carrier_prefix), kyc);
  refuseExpired(kyc.passport_expiry, row.activation_date);
  const fields = changedFields(tx, row, { before, kyc, edit });
  if (fields.length === 0) return toActivation(tx, row);

  const { customer_email: email, customer_phone: phone } = customerOf(tx, row);
  const { customer_email = email, customer_phone = phone } = edit;
  const contact = { customer_email: customer_email || null, customer_phone: customer_phone || null };
  const replaced = row.passport_id !== null && isOtherDocument(before, kyc);
  const changed = {
    ...sealKyc(tx, row.id, kyc),
    customer_sealed: sealedActivationCustomer.seal(tx, row.id, { customer_name: customerName(kyc), ...contact }),
    plan_name: edit.plan_name === undefined ? row.plan_name : edit.plan_name || null,
    passport_id: replaced ? null : row.passport_id,
    updated_at: tx.now,
  };
  await updateRow(tx, "activations", { id: row.id }, changed);
  const next = { ...row, ...changed };
  await indexActivation(tx, next);
  if (replaced) await releaseDraw(tx, { requestId: row.id, actor });
  await auditActivation(tx, row, { action: "activations.edit_identity", actor, fields });
  return toActivation(tx, next);
}

function storedKyc(tx: Tx, row: ActivationRow): Kyc {
  const opened = openKycIfReadable(tx, row);
  const isCustomerReadable = sealedActivationCustomer.open(tx, row.id, row.customer_sealed) !== null;
  if (opened !== null && opened !== "unreadable" && isCustomerReadable) return opened.reveal();
  const words = "The identity data of this request cannot be read, so it cannot be corrected; cancel it instead.";
  throw new Problem("conflict", words, { members: { reason: "identity_unreadable" } });
}

/** The stored identity with what the edit says. Throws `validation`. */
function merged(tx: Tx, before: Kyc, edit: IdentityEdit): Kyc {
  const { fields, errors } = checkKyc(edit, tx.now);
  const sent = kycFields.filter((field) => edit[field] !== undefined);
  const kyc: Kyc = { ...before, ...Object.fromEntries(sent.map((field) => [field, fields[field] ?? null])) };
  refuseBadFields(errors, kyc);
  return kyc;
}

interface Changing {
  before: Kyc;
  kyc: Kyc;
  edit: IdentityEdit;
}

function changedFields(tx: Tx, row: ActivationRow, { before, kyc, edit }: Changing): string[] {
  const stored = { ...customerOf(tx, row), plan_name: row.plan_name };
  return [
    ...kycFields.filter((field) => kyc[field] !== before[field]),
    ...contactFields.filter((field) => edit[field] !== undefined && (edit[field] || null) !== stored[field]),
  ];
}

function isOtherDocument(before: Kyc, { passport_no, passport_country }: Kyc): boolean {
  const number = (kyc: Pick<Kyc, "passport_no">) => normalizePassportNumber(kyc.passport_no ?? "");
  return number(before) !== number({ passport_no }) || before.passport_country !== passport_country;
}
