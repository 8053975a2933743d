import { and, count, eq, sql } from "drizzle-orm";
import { type Actor, isOperator } from "../audit/record.ts";
import { type CarrierRow, carrierOfIccid } from "../carriers/carrier.ts";
import type { ActivationId, PassportId } from "../kernel/brand.ts";
import { isCivilDate } from "../kernel/calendar-day.ts";
import { isoTime } from "../kernel/clock.ts";
import { newId } from "../kernel/ids.ts";
import type { Owner } from "../kernel/owner.ts";
import { type FieldErrors, invalid, Problem, type ProblemSlug } from "../kernel/problem.ts";
import { drawPassport } from "../passports/draw.ts";
import { limitsOfPartner, type PartnerLimits } from "../platform/partner-limits.ts";
import { insert } from "../store/rows.ts";
import type { ActivationCustomer, KycField } from "../store/schema/values.ts";
import { indexRecords, keysOfActivationCustomer, sealedActivationCustomer } from "../store/sealing/people.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { type ActivationRow, auditActivation, requestToReplace } from "./activation.ts";
import { checkActivationDate, scheduleFor } from "./calendar.ts";
import { cancelRow } from "./cancel.ts";
import { customerOf } from "./customer.ts";
import { checkKyc, drawableFields, type Kyc, kycOf, requireKyc, type SentKyc, sealKyc } from "./identity.ts";
import { statusesOf } from "./states.ts";

/** Contract: Physical-SIM activation request. Shapes of the fields were checked; identity fields were not. */
export interface NewActivation extends SentKyc {
  iccid: string;
  activation_date: string;
  customer_email?: string | null | undefined;
  customer_phone?: string | null | undefined;
  plan_name?: string | null | undefined;
  note?: string | null | undefined;
  confirm_date_change?: boolean | undefined;
}

/** A request, whose it is, and who hands it in. */
export interface Submission extends Owner {
  request: NewActivation;
  actor: Actor;
  /** Take the identity from the owner's pool: for lines of a file without a passport. */
  draw: boolean;
}

/** Most characters of first and last name joined (contract: Limits). */
const CUSTOMER_NAME_LENGTH = 100;

/** Why a request may be refused while others of the same file or caller are accepted. */
export const submitRefusals = [
  "validation",
  "missing_kyc",
  "invalid_activation_date",
  "carrier_not_supported",
  "duplicate",
  "date_conflict",
  "sandbox_activations_disabled",
  "too_many_activations",
] as const satisfies ProblemSlug[];

/**
 * Takes a request into the queue (contract: POST /activations). Checks shape, carrier, identity, date, conflicts and
 * the partner's bound, in this order. Throws one of `submitRefusals`; with `draw` also `conflict` when the pool has no
 * passport for it.
 */
export async function submitActivation(tx: Tx, input: Submission) {
  const row = await enterRequest(tx, input, await checkSubmission(tx, input));
  return toCreated(tx, row);
}

/** What the checks of a request found that its entry needs. */
interface Checked {
  limits: PartnerLimits;
  fields: Partial<Record<KycField, string>>;
  carrier: CarrierRow;
}

/**
 * Checks what a request says by itself: shape, carrier, identity. Throws `sandbox_activations_disabled`, `validation`,
 * `carrier_not_supported` or `missing_kyc`.
 */
export async function checkSubmission(tx: Tx, input: Submission): Promise<Checked> {
  const { request, environment } = input;
  const limits = await limitsOfPartner(tx, input.partnerId);
  if (environment === "sandbox" && !limits.sandbox_activations) refuseSandbox();
  const { fields, errors } = checkKyc(request, tx.now);
  refuseBadFields(errors, fields);
  const carrier = await carrierOfIccid(tx, request.iccid);
  requireKyc(carrier, input.draw ? { ...drawableFields, ...fields } : fields);
  return { limits, fields, carrier };
}

/** Checks date, conflicts and bound of a request that `checkSubmission` passed, draws where asked to, and stores it. */
export async function enterRequest(tx: Tx, input: Submission, { limits, fields, carrier }: Checked) {
  const { request, environment } = input;
  checkActivationDate(request.activation_date, tx.now, limits.max_days_ahead);
  refuseExpired(fields.passport_expiry ?? null, request.activation_date);
  const replaced = await requestToReplace(tx, {
    partnerId: input.partnerId,
    environment,
    iccid: request.iccid,
    activationDate: request.activation_date,
    confirmDateChange: request.confirm_date_change === true,
    said: { ...request, ...fields },
  });
  await requireRoom(tx, input, { limits, replaced: replaced !== null });
  if (replaced !== null) {
    await cancelRow(tx, replaced, {
      reason: `replaced: date changed to ${request.activation_date}`,
      actor: input.actor,
    });
  }
  const id = newId<ActivationId>(tx);
  const drawn = input.draw ? await draw(tx, input, { id, carrier }) : null;
  const kyc = drawn?.kyc(fields) ?? kycOf(fields, null);
  if (drawn !== null) requireKyc(carrier, kyc);
  const customer = customerIn(request, kyc);
  const row = newRow(tx, input, { id, carrier, kyc, customer, passportId: drawn?.passportId ?? null });
  await insert(tx, "activations", [row]);
  const keys = keysOfActivationCustomer(customer);
  await indexRecords(tx, [{ scope: row, record: { kind: "activation", id }, keys }]);
  // The request itself says that its partner submitted it, unless an operator did.
  if (isOperator(input.actor)) await auditActivation(tx, row, { action: "activations.submit", actor: input.actor });
  tx.signal("activations");
  return row;
}

function refuseSandbox(): never {
  const words = "Activation requests are real in the sandbox too; the operator has not allowed yours there.";
  throw new Problem("sandbox_activations_disabled", words);
}

interface Beginning {
  id: ActivationId;
  carrier: CarrierRow;
}

async function draw(tx: Tx, { partnerId, environment, request, actor }: Submission, { id, carrier }: Beginning) {
  const drawn = await drawPassport(tx, {
    partnerId,
    environment,
    brand: carrier.brand,
    carrier: carrier.name,
    activationDate: request.activation_date,
    requestId: id,
    actor,
  });
  if (drawn === null) return refuseEmptyPool(carrier);
  const { passportId, identity } = drawn;
  return { passportId, kyc: (fields: Parameters<typeof kycOf>[0]) => kycOf(fields, identity.reveal()) };
}

/** Throws `conflict`: nothing in the pool may be used for this carrier on that date. */
function refuseEmptyPool(carrier: CarrierRow): never {
  throw new Problem(
    "conflict",
    `The pool has no passport left for ${carrier.name}: verified, onshore, valid on the date, under its cap of uses.`,
    { members: { reason: "pool_empty" } },
  );
}

function newRow(
  tx: Tx,
  { partnerId, environment, request, actor }: Submission,
  {
    id,
    carrier,
    kyc,
    customer,
    passportId,
  }: Beginning & { kyc: Kyc; customer: ActivationCustomer; passportId: PassportId | null },
): ActivationRow {
  return {
    id,
    partner_id: partnerId,
    environment,
    iccid: request.iccid,
    carrier_prefix: carrier.prefix,
    carrier: carrier.name,
    activation_date: request.activation_date,
    customer_sealed: sealedActivationCustomer.seal(tx, id, customer),
    plan_name: request.plan_name || null,
    note: request.note || null,
    ...sealKyc(tx, id, kyc),
    passport_id: passportId,
    ...statusesOf.pending,
    ...scheduleFor(request.activation_date, tx.now),
    ...untouched,
    request_id: tx.requestId,
    created_by: actor,
    created_at: tx.now,
    updated_at: tx.now,
  };
}

/** What nothing has happened to yet. */
const untouched = {
  mobile_number_sealed: null,
  confirmation_number: null,
  error_type: null,
  error_message: null,
  cancel_reason: null,
  leased_until: null,
  lease_no: 0,
  faults: 0,
  exchanges: 0,
  deadline_at: null,
  queued_at: null,
  submitted_at: null,
  confirmed_at: null,
  activated_at: null,
  cancelled_at: null,
  finished_at: null,
} as const;

function customerIn(request: NewActivation, kyc: Kyc): ActivationCustomer {
  return {
    customer_name: customerName(kyc),
    customer_email: request.customer_email || null,
    customer_phone: request.customer_phone || null,
  };
}

/** First and last name joined. */
export function customerName({
  first_name,
  last_name,
}: {
  first_name?: string | null;
  last_name?: string | null;
}): string {
  return [first_name, last_name].filter((name) => name).join(" ");
}

function nameFaults(fields: { first_name?: string | null; last_name?: string | null }): FieldErrors {
  if ([...customerName(fields)].length <= CUSTOMER_NAME_LENGTH) return {};
  return { last_name: [`and first_name together must be at most ${CUSTOMER_NAME_LENGTH} characters`] };
}

/** Throws `validation` where the passport expires before the activation date. */
export function refuseExpired(expiry: string | null, date: string): void {
  const errors = expiryErrors(expiry, date);
  if (errors !== null) throw invalid(errors, { reason: "passport_expired" });
}

/** What is wrong with a passport that expires before the activation date; null: nothing. */
export function expiryErrors(expiry: string | null, date: string): FieldErrors | null {
  if (expiry === null || !isCivilDate(expiry) || expiry >= date) return null;
  return { passport_expiry: ["is before the activation date"] };
}

/** Throws `validation` for the faults that `checkKyc` found, and for a name that is too long. */
export function refuseBadFields(
  errors: FieldErrors,
  fields: { first_name?: string | null; last_name?: string | null },
): void {
  const all = { ...errors, ...nameFaults(fields) };
  if (Object.keys(all).length > 0) throw invalid(all);
}

/** Contract: Activation creation result. */
function toCreated(tx: Tx, row: ActivationRow) {
  const { customer_name } = customerOf(tx, row);
  const { id, iccid, carrier, activation_date, status, processing_status, processing_mode } = row;
  const message =
    processing_mode === "immediate"
      ? "Accepted; it goes to the carrier within seconds."
      : `Accepted; it goes to the carrier on ${activation_date} (Sydney time).`;
  const about = { id, iccid, carrier, activation_date, customer_name };
  return { ...about, status, processing_status, processing_mode, message, created_at: isoTime(row.created_at) };
}

/** How many requests of an owner are open: pending, with the carrier, or left to staff. */
export async function openRequests(q: Read, { partnerId, environment }: Owner): Promise<number> {
  return first(await openOf(q, { partnerId, environment }))?.open ?? 0;
}

const openOf = statement((db, t, slot: Slots<Owner>) =>
  db
    .select({ open: count() })
    .from(t.activations)
    .where(
      and(
        eq(t.activations.partner_id, slot.partnerId),
        eq(t.activations.environment, slot.environment),
        // Must match the partial index predicate exactly.
        sql`(status in ('pending', 'processing') or processing_status = 'manual_required')`,
      ),
    ),
);

interface RoomNeeded {
  limits: PartnerLimits;
  /** One of the open requests is cancelled for the new one. */
  replaced: boolean;
}

/**
 * Throws `too_many_activations` unless the owner may have one more open request: pending, with the carrier, or left to
 * staff.
 */
async function requireRoom(q: Read, owner: Owner, { limits, replaced }: RoomNeeded): Promise<void> {
  const { environment } = owner;
  const limit = environment === "sandbox" ? limits.max_sandbox_activations : limits.max_open_activations;
  if (limit === null) return;
  const open = await openRequests(q, owner);
  if (open - (replaced ? 1 : 0) < limit) return;
  const words = `At most ${limit} activation requests may be open in ${environment}.`;
  throw new Problem("too_many_activations", words, { members: { limit } });
}
