import { sql } from "drizzle-orm";
import type { ActivationId, PartnerId, PassportId } from "../../kernel/brand.ts";
import type { Environment } from "../../kernel/environment.ts";
import { attemptColumns, iccidEnd, type Kit, leaseColumns, NOTHING_DUE } from "./kit.ts";
import type { partnersTables } from "./partners.ts";
import type { ActivationStatus, CarrierAdapter, KycField, ProcessingMode, ProcessingStatus } from "./values.ts";

/** Physical-SIM activation requests, and what was exchanged with carriers about them. */
export function activationsTables(k: Kit, { partners }: Pick<ReturnType<typeof partnersTables>, "partners">) {
  const activations = k.table(
    "activations",
    {
      /** Also the idempotency reference that carriers see. */
      id: k.text("id").$type<ActivationId>().primaryKey(),
      partner_id: k
        .text("partner_id")
        .$type<PartnerId>()
        .notNull()
        .references(() => partners.id),
      environment: k.text("environment").$type<Environment>().notNull(),
      iccid: k.text("iccid").notNull(),
      /** The carrier as it was when the request came; its row may change since. */
      carrier_prefix: k.text("carrier_prefix").notNull(),
      carrier: k.text("carrier").notNull(),
      activation_date: k.text("activation_date").notNull(),
      /** Whom the SIM is for, an `ActivationCustomer` sealed by the vault; null once purged. */
      customer_sealed: k.text("customer_sealed"),
      plan_name: k.text("plan_name"),
      note: k.text("note"),
      /** All identity fields, SIM digits and PUK as one JSON text, sealed by the vault; null once purged. */
      sealed: k.text("sealed"),
      /** Blind index of the normalized passport number; null without one and once purged. */
      passport_index: k.text("passport_index"),
      /** The passport of the pool that was drawn for it. */
      passport_id: k.text("passport_id").$type<PassportId>(),
      status: k.text("status").$type<ActivationStatus>().notNull(),
      processing_status: k.text("processing_status").$type<ProcessingStatus>().notNull(),
      processing_mode: k.text("processing_mode").$type<ProcessingMode>().notNull(),
      /** The number that the carrier gave the SIM, a `MobileNumber` sealed by the vault. */
      mobile_number_sealed: k.text("mobile_number_sealed"),
      confirmation_number: k.text("confirmation_number"),
      error_type: k.text("error_type"),
      error_message: k.text("error_message"),
      cancel_reason: k.text("cancel_reason"),
      /** It is not picked up before: a typo can be cancelled. */
      not_before: k.int("not_before").notNull(),
      /** When a worker should look at it, or its lease ends; null: its date has not come, or it waits for people. */
      due_at: k.int("due_at"),
      ...leaseColumns(k),
      /** Temporary faults in a row. */
      faults: k.int("faults").notNull(),
      /** Exchanges since it was picked up or retried by the operator. */
      exchanges: k.int("exchanges").notNull(),
      /** When the carrier's final answer is overdue. */
      deadline_at: k.int("deadline_at"),
      /** Since when it is in the operator's queue. */
      queued_at: k.int("queued_at"),
      created_at: k.int("created_at").notNull(),
      updated_at: k.int("updated_at").notNull(),
      submitted_at: k.int("submitted_at"),
      confirmed_at: k.int("confirmed_at"),
      activated_at: k.int("activated_at"),
      cancelled_at: k.int("cancelled_at"),
      /** Completed, failed or cancelled: retention counts from here. */
      finished_at: k.int("finished_at"),
      /** The HTTP request that asked for it. */
      request_id: k.text("request_id"),
      /** Who submitted it, as the audit trail names actors; null: it is from before the column. */
      created_by: k.text("created_by"),
    },
    (t) => [
      // One SIM, one request, of all partners and environments, until it is cancelled or failed for good.
      k
        .uniqueIndex("activations_holder")
        .on(t.iccid)
        .where(sql`status in ('pending', 'processing', 'completed') or processing_status = 'manual_required'`),
      k.index("activations_iccid").on(t.iccid, t.created_at, t.id),
      k.index("activations_list").on(t.partner_id, t.environment, t.created_at, t.id),
      k.index("activations_list_status").on(t.partner_id, t.environment, t.status, t.created_at, t.id),
      k.index("activations_date").on(t.partner_id, t.environment, t.activation_date, t.id),
      // What holds an ICCID and has not ended: the bound of open requests counts these.
      k
        .index("activations_open")
        .on(t.partner_id, t.environment)
        .where(sql`status in ('pending', 'processing') or processing_status = 'manual_required'`),
      k.index("activations_iccid_end").on(iccidEnd, t.id),
      k.index("activations_list_iccid").on(t.partner_id, t.environment, t.iccid, t.created_at, t.id),
      k.index("activations_due").on(t.due_at, t.id).where(sql`due_at is not null`),
      k.index("activations_pickup").on(t.environment, t.due_at, t.activation_date, t.id).where(sql`status = 'pending'`),
      k
        .index("activations_exchange")
        .on(t.environment, t.carrier_prefix, t.due_at, t.id)
        .where(sql`status = 'processing' and due_at is not null`),
      k.index("activations_deadline").on(t.deadline_at, t.id).where(sql`deadline_at is not null`),
      k.index("activations_queue").on(t.queued_at, t.id),
      k.index("activations_queue_carrier").on(t.carrier_prefix, t.queued_at, t.id),
      k.index("activations_passport").on(t.passport_index, t.id),
      k.index("activations_request").on(t.request_id, t.id),
      // What retention looks for: ended, and not cleared yet.
      k.index("activations_finished").on(t.finished_at, t.id).where(sql`sealed is not null`),
      // What has ended, or is left to staff, is not worked by itself, whatever a command does.
      k.check("activations_ended", sql`status in ('pending', 'processing') or ${NOTHING_DUE}`),
    ],
  );

  const activationAttempts = k.table(
    "activation_attempts",
    {
      ...attemptColumns(k),
      activation_id: k
        .text("activation_id")
        .$type<ActivationId>()
        .notNull()
        .references(() => activations.id),
    },
    (t) => [
      k.index("activation_attempts_of").on(t.activation_id, t.at, t.id),
      k.index("activation_attempts_request").on(t.request_id, t.id).where(sql`request_id is not null`),
    ],
  );

  return { activations, activationAttempts };
}

/** Carriers of physical SIMs, by the prefix of their ICCIDs. */
export function carriersTables(k: Kit) {
  const carriers = k.table("carriers", {
    /** Digits; the longest one that an ICCID begins with decides. */
    prefix: k.text("prefix").primaryKey(),
    name: k.text("name").notNull(),
    region: k.text("region").notNull(),
    /** Carriers of one brand share the cap on passport uses. */
    brand: k.text("brand").notNull(),
    required_fields: k.json<KycField[]>("required_fields").notNull(),
    adapter: k.text("adapter").$type<CarrierAdapter>().notNull(),
    /** Where requests are posted; only the http adapter has one. */
    url: k.text("url"),
    /** Whether the operator allows an address beyond loopback without TLS. */
    insecure: k.flag("insecure").notNull().default(sql`0`),
    /** The key of both signatures, sealed by the vault. */
    secret_sealed: k.text("secret_sealed"),
    /** How long one exchange may take. */
    timeout_ms: k.int("timeout_ms").notNull(),
    /** How long after acceptance the final answer may take. */
    answer_within_ms: k.int("answer_within_ms").notNull(),
    created_at: k.int("created_at").notNull(),
    updated_at: k.int("updated_at").notNull(),
  });
  return { carriers };
}
