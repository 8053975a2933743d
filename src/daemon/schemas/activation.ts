import { type Static, Type } from "typebox";
import { bulkStatuses } from "../../core/activations/bulk.ts";
import { identityFields, simFields } from "../../core/kernel/identity-fields.ts";
import { activationStatuses, processingModes, processingStatuses } from "../../core/store/schema/values.ts";
import {
  BulkSummary,
  CivilDate,
  Nullable,
  named,
  OneOf,
  Pagination,
  pageQuery,
  shownAs,
  Timestamp,
  UuidOf,
} from "./common.ts";

const ActivationId = UuidOf<"activation">("The activation request");

const Iccid = Type.String({
  pattern: "^\\d{13,20}$",
  errorMessage: "must be 13-20 digits",
  examples: ["8961032200826199583"],
});

const Note = { maxLength: 1000, description: "Your own note; carriers do not see it" };

/** A text field that may be left out. */
const text = (maxLength: number, example: string) => Type.Optional(Type.String({ maxLength, examples: [example] }));

/** Contract: Physical-SIM activation request. Which identity fields are needed is the carrier's to say. */
export const NewActivation = Type.Object(
  {
    iccid: Iccid,
    activation_date: CivilDate("A day in Sydney: today or later"),
    first_name: text(identityFields.first_name.max, "Philippa"),
    last_name: text(identityFields.last_name.max, "Underwold"),
    title: text(identityFields.title.max, "Ms"),
    date_of_birth: text(identityFields.date_of_birth.max, "1964-07-16"),
    passport_no: text(identityFields.passport_no.max, "342075096"),
    passport_country: text(identityFields.passport_country.max, "GBR"),
    passport_expiry: text(identityFields.passport_expiry.max, "2029-12-20"),
    address: text(identityFields.address.max, "Flat 4/102 Currawong Drive"),
    suburb: text(identityFields.suburb.max, "Braddon"),
    state: text(identityFields.state.max, "ACT"),
    postcode: text(identityFields.postcode.max, "2612"),
    sim_last4: text(simFields.sim_last4.max, "9583"),
    puk: text(simFields.puk.max, "22542821"),
    customer_email: Type.Optional(
      Type.String({ format: "email", maxLength: 254, examples: ["philippa.underwold@example.com"] }),
    ),
    customer_phone: text(20, "+61491570156"),
    plan_name: text(100, "Visitor 35 GB"),
    note: Type.Optional(Type.String(Note)),
    confirm_date_change: Type.Optional(
      Type.Boolean({ description: "Replaces your pending request for this ICCID that has another date" }),
    ),
  },
  named("NewActivation"),
);

const shared = {
  id: ActivationId,
  iccid: Type.String({ examples: ["8961032200826199583"] }),
  carrier: Type.String({ examples: ["Carrier A (Australia)"] }),
  activation_date: Type.String({ format: "date", examples: ["2027-11-01"] }),
  customer_name: Type.String({ examples: ["Philippa Underwold"] }),
  status: OneOf(activationStatuses),
  processing_status: OneOf(processingStatuses),
  processing_mode: OneOf(processingModes, { examples: ["scheduled"] }),
};

/** Contract: Activation creation result. */
export const CreatedActivation = Type.Object(
  {
    ...shared,
    message: Type.String({ description: "For people", examples: ["The carrier gets the request on 2027-11-01."] }),
    created_at: Timestamp,
  },
  named("CreatedActivation"),
);

/** Contract: Activation detail record. */
export const Activation = Type.Object(
  {
    ...shared,
    mobile_number: Nullable(Type.String({ examples: ["+61491570156"] })),
    confirmation_number: Nullable(Type.String()),
    error_type: Nullable(Type.String()),
    error_message: Nullable(Type.String()),
    plan_name: Nullable(Type.String()),
    note: Nullable(Type.String()),
    customer_email: Nullable(Type.String()),
    created_at: Timestamp,
    updated_at: Timestamp,
    submitted_at: Nullable(Timestamp),
    confirmed_at: Nullable(Timestamp),
    activated_at: Nullable(Timestamp),
    cancelled_at: Nullable(Timestamp),
  },
  named("Activation", {
    examples: [
      {
        id: "0199a0b1-0000-7000-8000-000000000002",
        iccid: "8961032200826199583",
        carrier: "Carrier A (Australia)",
        activation_date: "2027-11-01",
        customer_name: "Philippa Underwold",
        status: "completed",
        processing_status: "completed",
        processing_mode: "scheduled",
        mobile_number: "+61491570156",
        confirmation_number: "CN-20417",
        error_type: null,
        error_message: null,
        plan_name: "Visitor 35 GB",
        note: null,
        customer_email: "philippa.underwold@example.com",
        created_at: "2027-10-12T02:14:07.000Z",
        updated_at: "2027-10-31T13:02:41.000Z",
        submitted_at: "2027-10-31T13:00:02.000Z",
        confirmed_at: "2027-10-31T13:00:03.000Z",
        activated_at: "2027-10-31T13:02:41.000Z",
        cancelled_at: null,
      },
    ],
  }),
);

export const ActivationPage = Type.Object(
  {
    data: Type.Array(Activation),
    count: Type.Integer({ description: "Records on this page", examples: [1] }),
    pagination: Pagination,
  },
  named("ActivationPage"),
);

export const ActivationQuery = Type.Object({
  ...pageQuery(),
  iccid: Type.Optional(Type.String({ minLength: 1, maxLength: 40 })),
  status: Type.Optional(OneOf(activationStatuses)),
  processing_status: Type.Optional(OneOf(processingStatuses)),
  activation_from: Type.Optional(CivilDate("Activation dates from this day in Sydney on")),
  activation_to: Type.Optional(CivilDate("Activation dates up to this day, which is included")),
});

export const ActivationParams = Type.Object({ id: ActivationId });

export const IccidParams = Type.Object({
  iccid: Type.String({ minLength: 1, maxLength: 100, description: "ICCID of your open request" }),
});

const edit = {
  requested_activation_date: Type.Optional(CivilDate("The new day in Sydney")),
  note: Type.Optional(Nullable(Type.String({ ...Note, description: "null clears it" }))),
};

/** Contract: body of PATCH /activations/{id}; at least one field, which the handler sees to. */
export const ActivationEdit = Type.Object(edit, named("ActivationEdit"));

/** A text field that may be corrected; null clears it. */
const corrected = (maxLength: number, example: string) =>
  Type.Optional(Nullable(Type.String({ maxLength, examples: [example] })));

/** Body of PATCH /activations/{id}/identity, beyond the contract; at least one field, which the handler sees to. */
export const ActivationIdentity = Type.Object(
  {
    first_name: corrected(identityFields.first_name.max, "Philippa"),
    last_name: corrected(identityFields.last_name.max, "Underwold"),
    title: corrected(identityFields.title.max, "Ms"),
    date_of_birth: corrected(identityFields.date_of_birth.max, "1964-07-16"),
    passport_no: corrected(identityFields.passport_no.max, "342075096"),
    passport_country: corrected(identityFields.passport_country.max, "GBR"),
    passport_expiry: corrected(identityFields.passport_expiry.max, "2029-12-20"),
    address: corrected(identityFields.address.max, "Flat 4/102 Currawong Drive"),
    suburb: corrected(identityFields.suburb.max, "Braddon"),
    state: corrected(identityFields.state.max, "ACT"),
    postcode: corrected(identityFields.postcode.max, "2612"),
    sim_last4: corrected(simFields.sim_last4.max, "9583"),
    puk: corrected(simFields.puk.max, "22542821"),
    customer_email: Type.Optional(
      Nullable(Type.String({ format: "email", maxLength: 254, examples: ["philippa.underwold@example.com"] })),
    ),
    customer_phone: corrected(20, "+61491570156"),
    plan_name: corrected(100, "Visitor 35 GB"),
  },
  named("ActivationIdentity", { examples: [{ passport_no: "342075097", last_name: "Underwood" }] }),
);

const Reason = Type.Optional(
  Type.String({ maxLength: 500, description: "Kept with the request", examples: ["The trip is off"] }),
);

/** The body of a cancellation, which may be left out. */
export const Cancellation = Type.Optional(Type.Object({ reason: Reason }, named("Cancellation")));

/** How a line of a bulk submission may end. */
const submitStatuses = ["submitted", "failed"] as const;

/** Most items of one bulk request (contract: Limits). */
export const BULK_LIMIT = 200;

const AnyIccid = Type.String({ minLength: 1, maxLength: 40, examples: ["8961032200826199583"] });

export const BulkCancel = Type.Object(
  {
    activation_ids: Type.Optional(Type.Array(ActivationId, { maxItems: BULK_LIMIT })),
    iccids: Type.Optional(Type.Array(AnyIccid, { maxItems: BULK_LIMIT })),
    reason: Reason,
  },
  named("ActivationBulkCancel", { examples: [{ iccids: ["8961032200826199583"], reason: "The trip is off" }] }),
);

const RescheduleItem = Type.Object(
  {
    activation_id: Type.Optional(ActivationId),
    iccid: Type.Optional(AnyIccid),
    ...edit,
  },
  named("RescheduleItem", { examples: [{ iccid: "8961032200826199583", requested_activation_date: "2027-11-08" }] }),
);

export const BulkReschedule = Type.Object(
  {
    items: Type.Array(RescheduleItem, { minItems: 1, maxItems: BULK_LIMIT }),
  },
  named("ActivationBulkReschedule"),
);

/** A line is checked by itself, so that a wrong one refuses no other; the document shows what is checked. */
const SubmittedLine = Type.Unsafe<Static<typeof NewActivation>>({ type: "object", ...shownAs(NewActivation) });

export const BulkSubmit = Type.Object(
  {
    lines: Type.Array(SubmittedLine, { minItems: 1, maxItems: BULK_LIMIT }),
    again: Type.Optional(
      Type.Boolean({ description: "Also submits lines whose request for the same date was cancelled or failed" }),
    ),
  },
  named("ActivationBulkSubmit", {
    examples: [
      {
        lines: [
          {
            iccid: "8961032200826199583",
            activation_date: "2027-11-01",
            first_name: "Philippa",
            last_name: "Underwold",
            date_of_birth: "1964-07-16",
            passport_no: "342075096",
            passport_country: "GBR",
            passport_expiry: "2029-12-20",
            address: "Flat 4/102 Currawong Drive",
            sim_last4: "9583",
            puk: "22542821",
          },
          { iccid: "8961032200826199591", activation_date: "2027-11-01", sim_last4: "9591", puk: "61034471" },
        ],
      },
    ],
  }),
);

const SubmittedOutcome = Type.Object(
  {
    iccid: Nullable(Type.String({ description: "As it was sent; null where it is no text of at most 40 characters" })),
    status: OneOf(submitStatuses),
    replayed: Type.Boolean({ description: "The request for this ICCID and date was there before; nothing changed" }),
    reason: Type.Optional(
      Type.String({
        description:
          "Why it failed: pool_empty, passport_expired, differs (from the request that is there), " +
          "ended_before:<status>, internal or another type of problem",
        examples: ["pool_empty"],
      }),
    ),
    message: Type.Optional(
      Type.String({ description: "The same in words", examples: ["puk must be 4 to 20 digits."] }),
    ),
    activation: Type.Optional(Activation),
  },
  named("SubmittedOutcome", {
    examples: [
      {
        iccid: "8961032200826199583",
        status: "failed",
        replayed: false,
        reason: "pool_empty",
        message: "The pool has no passport left for Carrier A (Australia).",
      },
    ],
  }),
);

export const BulkSubmitResult = Type.Object(
  { results: Type.Array(SubmittedOutcome), summary: BulkSummary },
  named("BulkSubmitResult"),
);

const BulkActivationOutcome = Type.Object(
  {
    activation_id: Type.Optional(ActivationId),
    iccid: Type.Optional(Type.String()),
    status: OneOf(bulkStatuses),
    reason: Type.Optional(
      Type.String({
        description:
          "Why it failed: not_found, not_cancellable:<status>, not_editable:<status> or another type of problem",
        examples: ["not_cancellable:processing"],
      }),
    ),
    activation: Type.Optional(Activation),
  },
  named("BulkActivationOutcome", {
    examples: [{ iccid: "8961032200826199583", status: "failed", reason: "not_cancellable:processing" }],
  }),
);

export const BulkActivationResult = Type.Object(
  {
    results: Type.Array(BulkActivationOutcome),
    summary: BulkSummary,
  },
  named("BulkActivationResult"),
);
