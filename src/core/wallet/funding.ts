import { and, count, eq, sql } from "drizzle-orm";
import { type Actor, recordAudit } from "../audit/record.ts";
import type { MinorUnits, PartnerId } from "../kernel/brand.ts";
import { isoTime, isoTimeOrNull } from "../kernel/clock.ts";
import { newId, randomAlphanumeric } from "../kernel/ids.ts";
import { formatMoney, minorUnits, requireCurrency } from "../kernel/money.ts";
import { invalid, notFound, Problem } from "../kernel/problem.ts";
import { assertMove, type Transitions } from "../kernel/state-machine.ts";
import { insert, updateRow } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import type { FundingStatus } from "../store/schema/values.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { creditWallet } from "./fund.ts";

/** A partner announces money by a request; the operator credits it once it has arrived, or cancels the request. */
export const fundingTransitions: Transitions<FundingStatus> = {
  requested: ["credited", "cancelled"],
  credited: [],
  cancelled: [],
};

/** Most requests of a partner that wait. */
const MAX_OPEN_FUNDING = 20;

type FundingRow = Row<"fundingRequests">;

/** A request as its partner sees it. */
export function toFundingRequest({ reference, amount_cents, currency, status, requested_by, ...times }: FundingRow) {
  const created_at = isoTime(times.created_at);
  return {
    reference,
    amount_cents,
    currency,
    status,
    requested_by,
    created_at,
    settled_at: isoTimeOrNull(times.settled_at),
  };
}

export type FundingRequest = ReturnType<typeof toFundingRequest>;

const open = statement((db, t, slot: Slots<{ partner_id: PartnerId }>) => {
  const { partner_id, status } = t.fundingRequests;
  return (
    db
      .select({ requests: count() })
      .from(t.fundingRequests)
      // Must match the partial index predicate exactly.
      .where(and(eq(partner_id, slot.partner_id), sql`${status} = 'requested'`))
  );
});

/**
 * Announces money. The record's reference is what the transfer has to name. Throws `validation` for an amount that is
 * not positive or an unknown currency, `conflict` where too many wait already.
 */
export async function requestFunding(
  tx: Tx,
  input: { partnerId: PartnerId; amount: number; currency: string; actor: Actor },
): Promise<FundingRequest> {
  const { partnerId: partner_id, amount, currency, actor } = input;
  requireCurrency(currency);
  if (!Number.isSafeInteger(amount) || amount <= 0) throw invalid({ amount_cents: ["must be a positive integer"] });
  if ((first(await open(tx, { partner_id }))?.requests ?? 0) >= MAX_OPEN_FUNDING) {
    throw new Problem(
      "conflict",
      `${MAX_OPEN_FUNDING} funding requests wait already. Ask the operator to settle them.`,
    );
  }
  const row: FundingRow = {
    id: newId(tx),
    reference: await newReference(tx),
    partner_id,
    amount_cents: amount,
    currency,
    status: "requested",
    requested_by: actor,
    created_at: tx.now,
    settled_at: null,
    transaction_id: null,
  };
  await insert(tx, "fundingRequests", [row]);
  await audit(tx, row, { act: "request", actor });
  return toFundingRequest(row);
}

async function newReference(tx: Tx): Promise<string> {
  for (;;) {
    const reference = `FND-${randomAlphanumeric(tx.ids, 8)}`;
    if ((await find(tx, reference)) === null) return reference;
  }
}

const byReference = statement((db, t, slot: Slots<{ reference: string }>) =>
  db.select().from(t.fundingRequests).where(eq(t.fundingRequests.reference, slot.reference)),
);

/** The row of a request of any partner. Throws `not_found`. */
export async function requireFunding(q: Read, reference: string): Promise<FundingRow> {
  const row = await find(q, reference);
  if (row === null) throw notFound("funding_request");
  return row;
}

async function find(q: Read, reference: string): Promise<FundingRow | null> {
  return first(await byReference(q, { reference: reference.trim().toUpperCase() }));
}

/** A request that was credited, and the ledger's transaction, which has its reference. */
export interface CreditedFunding {
  request: FundingRequest;
  transaction_id: string;
  balance_after_cents: number;
}

/** Which request to credit, and what arrived at the bank (minor units), where it was compared with that. */
export interface FundingCredit {
  reference: string;
  arrived?: number;
  actor: Actor;
}

/**
 * Credits the wallet with a request's amount, once. Throws `not_found`; `conflict` where it is settled; `validation`
 * where another amount arrived; `duplicate` where the wallet was credited with its reference in another way.
 */
export async function creditFunding(tx: Tx, { reference, arrived, actor }: FundingCredit): Promise<CreditedFunding> {
  const row = await requireOpen(tx, reference);
  if (arrived !== undefined && arrived !== row.amount_cents) throw otherAmount(row, arrived);
  const { partner_id: partnerId, currency } = row;
  // Checked as it was requested.
  const amount: MinorUnits = minorUnits(row.amount_cents);
  const funded = await creditWallet(tx, { partnerId, amount, currency, reference: row.reference, actor });
  const { transaction_id, balance_after_cents } = funded;
  const request = await settle(tx, row, { status: "credited", transaction_id });
  await audit(tx, row, { act: "credit", actor });
  return { request, transaction_id, balance_after_cents };
}

function otherAmount({ reference, amount_cents, currency }: FundingRow, arrived: number): Problem {
  const words = (amount: number) => `${formatMoney(amount, currency)} ${currency}`;
  return invalid({ amount: [`is ${words(arrived)}, and ${reference} announced ${words(amount_cents)}`] });
}

/** Ends a request without money. Throws `not_found`, and `conflict` where it is settled. */
export async function cancelFunding(
  tx: Tx,
  { reference, actor }: { reference: string; actor: Actor },
): Promise<FundingRequest> {
  const row = await requireOpen(tx, reference);
  const request = await settle(tx, row, { status: "cancelled" });
  await audit(tx, row, { act: "cancel", actor });
  return request;
}

async function requireOpen(tx: Tx, reference: string): Promise<FundingRow> {
  const row = await requireFunding(tx, reference);
  const { status, settled_at } = row;
  if (status === "requested") return row;
  const day = isoTime(settled_at ?? row.created_at).slice(0, 10);
  throw new Problem("conflict", `${row.reference} was ${status} on ${day}.`);
}

async function settle(tx: Tx, row: FundingRow, change: Partial<FundingRow> & { status: FundingStatus }) {
  assertMove(fundingTransitions, row.status, change.status);
  const settled = { ...change, settled_at: tx.now };
  await updateRow(tx, "fundingRequests", { id: row.id }, settled);
  return toFundingRequest({ ...row, ...settled });
}

async function audit(tx: Tx, row: FundingRow, { act, actor }: { act: string; actor: Actor }): Promise<void> {
  const { reference: targetId, partner_id: partnerId } = row;
  await recordAudit(tx, { actor, action: `funding.${act}`, targetKind: "funding_request", targetId, partnerId });
}
