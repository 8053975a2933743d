import type { Topup } from "../client/answers.ts";
import { type Result, recordResult } from "../output/result.ts";
import { moment, shown } from "../output/words.ts";

/** The keys of a top-up. */
export const TOPUP_JSON =
  "{id, iccid, product_id, product_sku, price_cents, currency, status, wallet_balance_after_cents, created_at, " +
  "applied_at, failure_reason}";

/** A top-up for people. */
export function topupResult(topup: Topup): Result {
  return recordResult(topup, (sheet) => ({
    id: topup.id,
    iccid: topup.iccid,
    product: topup.product_sku,
    price: sheet.money(topup.price_cents, topup.currency),
    status: topup.status,
    "wallet after": sheet.money(topup.wallet_balance_after_cents, topup.currency),
    created: moment(topup.created_at),
    applied: moment(topup.applied_at),
    why: shown(topup.failure_reason),
  }));
}
