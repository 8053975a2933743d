import { type DeliveredEsim, deliveredEsims } from "../esims/delivered.ts";
import { dataUsage } from "../esims/status.ts";
import { changeEsim } from "../esims/synthetic.ts";
import { takeUsage } from "../esims/usage.ts";
import { minorUnits } from "../kernel/money.ts";
import { recordEvent } from "../outbox/record.ts";
import { nowOf } from "../platform/sandbox-clock.ts";
import { findByKey, updateRow } from "../store/rows.ts";
import type { Tx } from "../store/store.ts";
import { releaseHold } from "../supply/hold.ts";
import { postMovement } from "../wallet/post.ts";
import type { TopupRow } from "./topup.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

const ENDED = { due_at: null, leased_until: null } as const;

/** Ends a top-up that is on its eSIM, with esim.topped_up. In production the next report shows what it added. */
export async function applyTopup(tx: Tx, topup: TopupRow): Promise<TopupRow> {
  const at = await nowOf(tx, topup);
  const applied = await endTopup(tx, topup, { status: "applied", reason: null, applied_at: at });
  const esim = await esimOf(tx, topup);
  if (topup.environment === "sandbox") await addInSandbox(tx, topup, { esim, at });
  // Its supplier is asked for the new allowance soon; one that cannot be asked reports it by itself.
  else if (topup.supplier !== null) await changeEsim(tx, esim.esim, { look_at: tx.now });
  await announce(tx, "esim.topped_up", applied);
  return applied;
}

/** Ends a top-up that was not bought: its price goes back to the wallet, with esim.topup_failed. */
export async function failTopup(tx: Tx, topup: TopupRow, reason: string): Promise<TopupRow> {
  const failed = await endTopup(tx, topup, { status: "failed", reason });
  const { id, partner_id: partnerId, currency, price_cents } = topup;
  if (topup.environment === "production" && price_cents > 0) {
    const back = { kind: "refund", partnerId, currency, amount: minorUnits(price_cents), reference: id } as const;
    await postMovement(tx, back);
  }
  await announce(tx, "esim.topup_failed", failed);
  return failed;
}

async function endTopup(tx: Tx, topup: TopupRow, change: Partial<TopupRow>): Promise<TopupRow> {
  const after = { ...change, ...ENDED, updated_at: await nowOf(tx, topup) };
  await updateRow(tx, "topups", { id: topup.id }, after);
  await releaseHold(tx, { holder: topup.id });
  return { ...topup, ...after };
}

async function esimOf(tx: Tx, { esim_id, iccid }: TopupRow): Promise<DeliveredEsim> {
  const known = (await deliveredEsims(tx, iccid)).find(({ esim }) => esim.id === esim_id);
  if (known === undefined) throw new Error("the eSIM of a top-up is always delivered");
  return known;
}

/** What no supplier of the sandbox does: more data, and a longer validity where it has begun. */
async function addInSandbox(tx: Tx, topup: TopupRow, { esim: known, at }: { esim: DeliveredEsim; at: number }) {
  const product = await findByKey(tx, "products", { id: topup.product_id });
  if (product === null) throw new Error("a top-up's product is always there");
  const { esim } = known;
  const { total_mb, used_mb } = dataUsage(esim, known.product.data_amount_mb);
  if (esim.expires_at !== null) {
    // Notices that it expires begin again.
    const expires_at = esim.expires_at + product.validity_days * DAY_MS;
    await changeEsim(tx, esim, { expires_at, expiry_notice: null });
  }
  // 0 is unlimited, to which nothing can be added.
  const isUnlimited = total_mb === 0 || product.data_amount_mb === 0;
  const more = { used_mb, total_mb: isUnlimited ? 0 : total_mb + product.data_amount_mb };
  const then = esim.usage_at === null ? at : Math.max(at, esim.usage_at + 1);
  await takeUsage(tx, known, { iccid: esim.iccid, ...more, country: null, network: null, at: then });
}

async function announce(tx: Tx, kind: "esim.topped_up" | "esim.topup_failed", topup: TopupRow): Promise<void> {
  const { esim, product } = await esimOf(tx, topup);
  const { id: topup_id, iccid, order_id, product_sku, partner_id: partnerId, environment } = topup;
  const data = { iccid, order_id, topup_id, product_sku, data_usage: dataUsage(esim, product.data_amount_mb) };
  await recordEvent(tx, { kind, partnerId, environment, subjectId: esim.id, data });
  tx.signal("deliveries");
}
