import { and, eq } from "drizzle-orm";
import { type Actor, isOperator, recordAudit } from "../audit/record.ts";
import type { DeliveredEsim } from "../esims/delivered.ts";
import { type EsimAsked, requireOwnEsim, soldIn } from "../esims/status.ts";
import { changeEsim } from "../esims/synthetic.ts";
import type { MinorUnits, TopupId } from "../kernel/brand.ts";
import { newId } from "../kernel/ids.ts";
import { formatMoney, minorUnits } from "../kernel/money.ts";
import { invalid, Problem } from "../kernel/problem.ts";
import { guardRails, refusePausedSupplier, refuseWhilePaused } from "../orders/guard-rails.ts";
import { requireWithinCaps, spendWithinCaps } from "../orders/spend.ts";
import { nowOf } from "../platform/sandbox-clock.ts";
import { pricesByProduct } from "../prices/unit-price.ts";
import { insert } from "../store/rows.ts";
import type { OrderScenario, SandboxScenario } from "../store/schema/values.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { drawnFor, heldWallets, walletIn } from "../wallet/held.ts";
import { postMovement } from "../wallet/post.ts";
import { insufficientBalance } from "../wallet/spendable.ts";
import { type Chosen, chooseProduct, type Offer } from "./choose.ts";
import { requireToppable } from "./toppable.ts";
import { type Topup, type TopupRow, toTopup } from "./topup.ts";

/** A top-up as a partner asks for it, its shape checked. */
export interface NewTopup extends EsimAsked {
  productId: string;
  /** The highest price that its buyer accepts, in minor units; null: any. */
  maxTotal: number | null;
  key: string;
  /** The hash of the whole payload as received, with the eSIM that it names. */
  payloadHash: string;
  /** The outcome that a sandbox top-up asks for; null: the normal one. */
  scenario: SandboxScenario | null;
  /** Who asks for it; an operator does so in the partner's name, and the audit trail says so. */
  actor: Actor;
  /** The client ID of the credential, whose caps hold; null: an operator. */
  credential: string | null;
  /** What the eSIM's supplier says can be put on it; null: it was not asked, as for the sandbox. */
  offer: Offer | null;
}

/** A top-up, and whether this request created it. */
export interface CreatedTopup {
  topup: Topup;
  /** True when the key was used before and this is its top-up as it is now. */
  replayed: boolean;
}

/**
 * Charges a top-up to the wallet and writes down that it is to be bought, in one transaction; or returns the one that
 * its key created before. Throws `idempotency_conflict`; as `esimStatus` does; `paused`, `esim_not_toppable`,
 * `validation` for a product that does not fit, `price_changed`, `spend_cap_exceeded`, `insufficient_balance`. A
 * refusal leaves the key free.
 */
export async function createTopup(tx: Tx, input: NewTopup): Promise<CreatedTopup> {
  const known = await topupToReplay(tx, input);
  if (known !== null) return { topup: toTopup(known), replayed: true };
  const rails = await guardRails.get(tx, input);
  refuseWhilePaused(rails);
  const esim = await requireOwnEsim(tx, input);
  await requireToppable(tx, esim);
  const chosen = await chooseProduct(tx, esim, input);
  const { product } = chosen;
  refusePausedSupplier(rails, [{ product: { sku: product.sku, supplier: esim.esim.supplier ?? product.supplier } }]);
  const { unit_price_cents } = await pricesByProduct(tx, rails.priceList)(product, 1);
  const bill = { currency: product.currency, total: minorUnits(unit_price_cents) };
  refuseDearer(bill, input.maxTotal);
  const purchase = { environment: input.environment, ...bill };
  if (rails.budget !== null) await requireWithinCaps(tx, rails.budget, purchase);
  const scenario = scenarioOf(input, bill);
  await refuseUnfunded(tx, input, bill);
  // From here on nothing is refused.
  if (rails.budget !== null) await spendWithinCaps(tx, rails.budget, purchase);
  const row = await insertTopup(tx, input, { id: newId<TopupId>(tx), esim, chosen, scenario, bill });
  await recordAsking(tx, input, row.id);
  tx.signal("fulfillment");
  return { topup: toTopup(row), replayed: false };
}

type Key = Pick<TopupRow, "partner_id" | "environment" | "key">;

const ofKey = statement((db, t, slot: Slots<Key>) =>
  db
    .select()
    .from(t.topups)
    .where(
      and(
        eq(t.topups.partner_id, slot.partner_id),
        eq(t.topups.environment, slot.environment),
        eq(t.topups.key, slot.key),
      ),
    ),
);

/** The top-up that the same request created before; null: the key is free. Throws `idempotency_conflict`. */
export async function topupToReplay(
  q: Read,
  { partnerId: partner_id, environment, key, payloadHash }: Pick<NewTopup, "key" | "payloadHash" | keyof EsimAsked>,
): Promise<TopupRow | null> {
  const row = first(await ofKey(q, { partner_id, environment, key }));
  if (row === null || row.payload_hash === payloadHash) return row;
  throw new Problem("idempotency_conflict", "This Idempotency-Key was used before for a different top-up.");
}

interface Bill {
  currency: string;
  total: MinorUnits;
}

function refuseDearer({ total, currency }: Bill, maxTotal: number | null): void {
  if (maxTotal === null || total <= maxTotal) return;
  const [now, most] = [total, maxTotal].map((cents) => formatMoney(cents, currency));
  throw new Problem("price_changed", `The top-up costs ${now} ${currency}, more than ${most} ${currency}.`, {
    members: { total_price_cents: total, max_total_cents: maxTotal, currency },
  });
}

/** The scenario of a sandbox top-up. Throws where it asks for an empty wallet, or for what no top-up can meet. */
function scenarioOf({ scenario }: NewTopup, { currency, total }: Bill): OrderScenario | null {
  if (scenario === "insufficient_balance") {
    throw insufficientBalance({ currency, amount: total }, { balance: 0, credit: null });
  }
  if (scenario === "stock_short") throw invalid({ "X-Sandbox-Scenario": ["is for orders: a top-up takes no stock"] });
  return scenario;
}

async function refuseUnfunded(tx: Tx, { environment, partnerId }: NewTopup, { currency, total }: Bill): Promise<void> {
  if (environment === "sandbox") return;
  drawnFor({ currency, amount: total }, walletIn(await heldWallets.get(tx, partnerId), currency));
}

/** What the wallet holds after the charge; the sandbox charges nothing. */
async function pay(tx: Tx, { environment, partnerId }: NewTopup, id: TopupId, { currency, total }: Bill) {
  if (environment === "sandbox") return walletIn(await heldWallets.get(tx, partnerId), currency)?.balance_cents ?? 0;
  const charge = { kind: "topup", partnerId, currency, amount: total, reference: id } as const;
  return (await postMovement(tx, charge)).balanceAfter;
}

interface Draft {
  id: TopupId;
  esim: DeliveredEsim;
  chosen: Chosen;
  scenario: OrderScenario | null;
  bill: Bill;
}

async function insertTopup(tx: Tx, input: NewTopup, draft: Draft): Promise<TopupRow> {
  const { id, esim: known, chosen, scenario, bill } = draft;
  const { product, source } = chosen;
  const created_at = await nowOf(tx, input);
  const wallet_balance_after_cents = await pay(tx, input, id, bill);
  const row: TopupRow = {
    id,
    partner_id: input.partnerId,
    environment: input.environment,
    esim_id: known.esim.id,
    iccid: known.esim.iccid,
    order_id: soldIn(known.esim),
    product_id: product.id,
    product_sku: product.sku,
    status: "paid",
    price_cents: bill.total,
    currency: bill.currency,
    wallet_balance_after_cents,
    key: input.key,
    payload_hash: input.payloadHash,
    supplier: source?.supplier ?? null,
    supplier_sku: source?.supplier_sku ?? null,
    days: source?.days ?? null,
    cost: source?.cost ?? null,
    cost_currency: source?.cost_currency ?? null,
    fx_rate: source?.fx_rate ?? null,
    memory: null,
    attempts: 0,
    due_at: tx.now,
    leased_until: null,
    lease_no: 0,
    scenario,
    reason: null,
    request_id: tx.requestId,
    created_by: input.actor,
    created_at,
    applied_at: null,
    updated_at: created_at,
  };
  // One of the sandbox is computed until something of it is written: the top-up refers to its row.
  await changeEsim(tx, known.esim, {});
  await insert(tx, "topups", [row]);
  return row;
}

/** The top-up itself says that its partner asked for it, unless an operator did. */
async function recordAsking(tx: Tx, { actor, partnerId }: NewTopup, targetId: TopupId): Promise<void> {
  if (!isOperator(actor)) return;
  await recordAudit(tx, { actor, action: "topups.create", targetKind: "topup", targetId, partnerId });
}
