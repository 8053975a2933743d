import { createHash } from "node:crypto";
import type { EsimId, OrderId, OrderLineId, PartnerId, ProductId } from "../kernel/brand.ts";
import { luhnDigit } from "../kernel/check-digits.ts";
import { newId } from "../kernel/ids.ts";
import { insertRow } from "../store/rows.ts";
import type { Tx } from "../store/store.ts";

/** The SM-DP+ of synthetic eSIMs: a name that can never resolve (RFC 6761). */
const SANDBOX_SMDP_ADDRESS = "smdp.sandbox.invalid";

/** The ICCID of a sandbox order's eSIM: 8999, 14 digits of order and index, Luhn digit. Always the same. */
function sandboxIccid(orderId: OrderId, index: number): string {
  const hash = createHash("sha256").update(`${orderId}:${index}`).digest();
  const digits = `8999${(hash.readBigUInt64BE() % 10n ** 14n).toString().padStart(14, "0")}`;
  return digits + luhnDigit(digits);
}

/** Which eSIMs of a sandbox order to write, and whose they are. */
export interface SyntheticEsims {
  orderId: OrderId;
  lineId: OrderLineId;
  productId: ProductId;
  partnerId: PartnerId;
  /** The devices they are for, in order; shorter or null where there is none. */
  eids: (string | null)[];
  /** Index of the first within its order, and how many. */
  from: number;
  count: number;
}

/** Writes synthetic eSIMs of a sandbox order (contract: Sandbox rules). */
export async function addSyntheticEsims(tx: Tx, input: SyntheticEsims): Promise<void> {
  for (let index = input.from; index < input.from + input.count; index++) {
    const iccid = sandboxIccid(input.orderId, index);
    await insertRow(tx, "esims", {
      id: newId<EsimId>(tx),
      iccid,
      product_id: input.productId,
      order_id: input.orderId,
      line_id: input.lineId,
      partner_id: input.partnerId,
      environment: "sandbox",
      eid: input.eids[index - input.from] ?? null,
      smdp_address: SANDBOX_SMDP_ADDRESS,
      matching_id: `SANDBOX-${iccid.slice(4)}`,
      status: "inactive",
      created_at: tx.now,
      assigned_at: tx.now,
    });
  }
}
