import { desc, eq } from "drizzle-orm";
import type { EsimCodes } from "../esims/sealed-codes.ts";
import type { OrderItemId } from "../kernel/brand.ts";
import { newId } from "../kernel/ids.ts";
import { travelerOf } from "../orders/customer.ts";
import type { ItemRow } from "../orders/items.ts";
import { insert } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import type { AttemptSource } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";

/** An eSIM as a supplier delivers it. */
export interface SuppliedEsim extends EsimCodes {
  iccid: string;
  /** The supplier's own name for it; left out: it has none. */
  reference?: string | null;
}

/** The outcome of an exchange with a supplier, with any adapter. */
export type SupplyOutcome =
  /** Accepted; the final response comes by callback or from staff. */
  | { kind: "accepted" }
  | { kind: "confirmed"; confirmationNumber: string | null }
  /** Delivered; `esims` is empty where the profile went straight into the device. */
  | { kind: "activated"; confirmationNumber: string | null; esims: SuppliedEsim[] }
  /** Refused for good. */
  | { kind: "refused"; errorType: string; errorMessage: string }
  /** No response, or an unusable one: the request is repeated. */
  | { kind: "temporary"; reason: string };

/** One attempt to have an item delivered: our request, a callback, or a record by the operator. */
export interface Attempt {
  source: AttemptSource;
  statusCode?: number | null;
  latencyMs?: number | null;
}

/** What is recorded of an outcome. */
interface Said {
  outcome: string;
  answer: string | null;
}

const attemptsOf = statement((db, t, slot: Slots<{ item_id: OrderItemId }>) =>
  db
    .select()
    .from(t.itemAttempts)
    .where(eq(t.itemAttempts.item_id, slot.item_id))
    .orderBy(t.itemAttempts.at, t.itemAttempts.id),
);

/** The attempts of an item, oldest first. */
export function attemptsOfItem(q: Read, id: OrderItemId): Promise<Row<"itemAttempts">[]> {
  return attemptsOf(q, { item_id: id });
}

/** Records an attempt and what came of it, for support; without the answer where the traveler was cleared. */
export function recordAttempt(tx: Tx, item: ItemRow, said: Said, attempt: Attempt): Promise<void> {
  // What cannot be read may have been cleared.
  const isCleared = item.traveller_sealed !== null && (travelerOf(tx, item)?.customer_email ?? "") === "";
  return insert(tx, "itemAttempts", [
    {
      id: newId(tx),
      item_id: item.id,
      at: tx.now,
      source: attempt.source,
      outcome: said.outcome,
      status_code: attempt.statusCode ?? null,
      latency_ms: attempt.latencyMs ?? null,
      answer: isCleared ? null : said.answer,
      supplier: item.supplier,
      request_id: tx.requestId,
    },
  ]);
}

/** What an outcome says, for support. */
export function saidOf(outcome: SupplyOutcome): Said {
  return { outcome: outcome.kind, answer: answerOf(outcome) };
}

function answerOf(outcome: SupplyOutcome): string | null {
  switch (outcome.kind) {
    case "accepted":
      return null;
    case "confirmed":
      return outcome.confirmationNumber;
    case "activated":
      return outcome.esims.length === 0
        ? outcome.confirmationNumber
        : outcome.esims.map(({ iccid }) => iccid).join(", ");
    case "refused":
      return `${outcome.errorType}: ${outcome.errorMessage}`;
    case "temporary":
      return outcome.reason;
  }
}

const calledBack = statement((db, t, slot: Slots<{ request_id: string; limit: number }>) =>
  db
    .select({ id: t.itemAttempts.item_id })
    .from(t.itemAttempts)
    .where(eq(t.itemAttempts.request_id, slot.request_id))
    .orderBy(desc(t.itemAttempts.id))
    .limit(slot.limit),
);

/** The items that the newest callbacks under this HTTP request's id were about. */
export async function itemsCalledBack(q: Read, request_id: string, limit: number): Promise<OrderItemId[]> {
  return (await calledBack(q, { request_id, limit })).map(({ id }) => id);
}
