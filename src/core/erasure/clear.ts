import { and, eq, isNotNull } from "drizzle-orm";
import type { ActivationRow } from "../activations/activation.ts";
import { dropTravelerMail } from "../after-sale/traveler-mail-queue.ts";
import { type Actor, recordAudit } from "../audit/record.ts";
import type { ActivationId, OrderId, OrderItemId } from "../kernel/brand.ts";
import { counted } from "../kernel/counted.ts";
import {
  emailTrace,
  jsonWithoutTraces,
  nameTrace,
  numberTrace,
  phoneKey,
  phoneTrace,
  withoutTraces,
} from "../kernel/traces.ts";
import { customerOf, indexOrder, travelerOf } from "../orders/customer.ts";
import type { ItemRow } from "../orders/items.ts";
import { linesOfOrder, type OrderRow, requireOrder } from "../orders/order.ts";
import { updateRow } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import type { Traveler } from "../store/schema/values.ts";
import { sealedTraveler, unindexRecord } from "../store/sealing/people.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { noteErasure } from "../store/stored-value.ts";
import { clearEvents } from "../webhooks/clear-events.ts";

/** Who clears, and in which of the two ways: by time, or for one person. */
export interface Clearing {
  actor: Actor;
  verb: "purge" | "erase";
}

/** What is cleared of an activation, for the audit trail. */
export const activationFields = [
  "customer_name",
  "customer_email",
  "customer_phone",
  "identity",
  "note",
  "mobile_number",
  "error_message",
  "cancel_reason",
];
/** What is cleared of an order's item. */
export const itemFields = ["customer_name", "customer_email", "customer_phone", "eid_number", "error_message"];
/** What is cleared of an order. */
export const orderFields = ["customer", "reason"];

/** What is cleared of a mail to a traveler, which is then not sent. */
export const mailFields = ["address"];

/** Words of a carrier or supplier stay where they are a code. */
function codeOnly(errorType: string | null): string | null {
  return errorType !== null && /^[a-z][a-z0-9_]{0,63}$/.test(errorType) ? errorType : null;
}

const activationAnswers = statement((db, t, slot: Slots<{ id: ActivationId }>) =>
  db
    .update(t.activationAttempts)
    .set({ answer: null })
    .where(and(eq(t.activationAttempts.activation_id, slot.id), isNotNull(t.activationAttempts.answer))),
);

/** Clears all that is personal of a request that has ended; its SIM, dates, states and carrier stay. */
export async function clearActivation(tx: Tx, row: ActivationRow, { actor, verb }: Clearing): Promise<void> {
  await updateRow(
    tx,
    "activations",
    { id: row.id },
    {
      customer_sealed: null,
      mobile_number_sealed: null,
      note: null,
      sealed: null,
      passport_index: null,
      error_type: codeOnly(row.error_type),
      error_message: null,
      cancel_reason: null,
    },
  );
  await unindexRecord(tx, row.id);
  await activationAnswers(tx, { id: row.id });
  await noteErasure(tx);
  const events = await clearEvents(tx, row.id);
  await recordAudit(tx, {
    actor,
    action: `activations.${verb}`,
    targetKind: "activation",
    targetId: row.id,
    partnerId: row.partner_id,
    fields: activationFields,
    note: counted(events, "event"),
  });
}

const itemAnswers = statement((db, t, slot: Slots<{ id: OrderItemId }>) =>
  db
    .update(t.itemAttempts)
    .set({ answer: null })
    .where(and(eq(t.itemAttempts.item_id, slot.id), isNotNull(t.itemAttempts.answer))),
);

const pushedTo = statement((db, t, slot: Slots<{ order_id: OrderId; eid: string }>) =>
  db
    .update(t.esims)
    .set({ eid: null })
    .where(and(eq(t.esims.order_id, slot.order_id), eq(t.esims.eid, slot.eid))),
);

/** Clears the traveler of an item that has ended, and what its order repeats of them; the date stays. */
export async function clearItem(tx: Tx, row: ItemRow, { actor, verb }: Clearing): Promise<void> {
  const order = await requireOrder(tx, row.order_id);
  const traveler = travelerOf(tx, row);
  const left = row.traveller_sealed === null ? null : withoutPerson(traveler);
  await updateRow(
    tx,
    "orderItems",
    { id: row.id },
    {
      traveller_sealed: left && sealedTraveler.seal(tx, row.id, left),
      error_type: codeOnly(row.error_type),
      error_message: null,
    },
  );
  await unindexRecord(tx, row.id);
  await itemAnswers(tx, { id: row.id });
  await noteErasure(tx);
  // Kept responses may name the person.
  await tx.touch();
  const eid = traveler?.eid_number ?? null;
  if (eid !== null) await pushedTo(tx, { order_id: row.order_id, eid });
  if (traveler !== null) await clearOrderTexts(tx, order, tracesOf(traveler, eid));
  const events = await clearEvents(tx, row.id);
  await recordAudit(tx, {
    actor,
    action: `items.${verb}`,
    targetKind: "order_item",
    targetId: row.id,
    partnerId: order.partner_id,
    fields: itemFields,
    note: counted(events, "event"),
  });
}

/** What an item keeps of its traveler: when and with which plan. The contract has texts where these are empty. */
function withoutPerson(traveler: Traveler | null): Traveler {
  const unreadable = { activation_date: "", timezone: "", selected_plan_id: null };
  const noPerson = { customer_email: "", customer_name: "", customer_phone: null, eid_number: null };
  return { ...unreadable, ...traveler, ...noPerson };
}

/** Clears the customer of an order that has ended, and what the order repeats of them. Its money and number stay. */
export async function clearCustomer(tx: Tx, row: OrderRow, { actor, verb }: Clearing): Promise<void> {
  const known = customerOf(tx, row);
  await updateRow(tx, "orders", { id: row.id }, { customer_sealed: null });
  await indexOrder(tx, { ...row, customer_sealed: null }, await linesOfOrder(tx, row.id));
  await noteErasure(tx);
  // Kept responses may name the person.
  await tx.touch();
  if (known !== null) {
    const { email, name, phone } = known;
    const customer = { customer_email: email, customer_name: name, customer_phone: phone };
    await clearOrderTexts(tx, row, tracesOf(customer, null));
  }
  await recordAudit(tx, {
    actor,
    action: `orders.${verb}`,
    targetKind: "order",
    targetId: row.id,
    partnerId: row.partner_id,
    fields: orderFields,
  });
}

type Named = Pick<Traveler, "customer_email" | "customer_name" | "customer_phone">;

/** How a text repeats who a person is. */
function tracesOf({ customer_email, customer_name, customer_phone }: Named, eid: string | null): RegExp[] {
  return [
    ...emailTrace(customer_email),
    ...nameTrace(customer_name),
    ...phoneTrace(phoneKey(customer_phone)),
    ...numberTrace(eid ?? ""),
  ];
}

/** Whether an order has ended, so that it needs no personal data any more. */
export function hasEnded({ status }: Pick<OrderRow, "status">): boolean {
  return status === "fulfilled" || status === "failed" || status === "cancelled";
}

/**
 * Clears what an order repeats of a person: in its metadata and the partner's own number, and, once it has ended, the
 * words of its end.
 */
async function clearOrderTexts(tx: Tx, order: OrderRow, traces: readonly RegExp[]): Promise<void> {
  // An object stays an object.
  const metadata = jsonWithoutTraces(order.metadata, traces) as OrderRow["metadata"];
  const changed = JSON.stringify(metadata) !== JSON.stringify(order.metadata);
  const ended = hasEnded(order);
  const external_order_id = order.external_order_id && withoutTraces(order.external_order_id, traces);
  await updateRow(
    tx,
    "orders",
    { id: order.id },
    {
      ...(changed ? { metadata } : {}),
      ...(external_order_id === order.external_order_id ? {} : { external_order_id }),
      ...(ended ? { reason: null } : {}),
    },
  );
  if (ended) await clearEvents(tx, order.id, ["order.cancelled", "order.failed"]);
}

/** Clears the address that a mail waits for, which is not sent any more. */
export async function clearMail(tx: Tx, row: Row<"travelerMails">, { actor, verb }: Clearing): Promise<void> {
  await dropTravelerMail(tx, row.id);
  await noteErasure(tx);
  await recordAudit(tx, {
    actor,
    action: `traveler_mails.${verb}`,
    targetKind: "traveler_mail",
    targetId: row.id,
    partnerId: row.partner_id,
    fields: mailFields,
  });
}
