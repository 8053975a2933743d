import { importStock } from "../../src/core/esims/import-stock.ts";
import type { ProductId } from "../../src/core/kernel/brand.ts";
import type { Caller, Platform } from "./platform.ts";

/** A published eSIM of a test profile. */
export interface Delivered {
  iccid: string;
  orderId: string;
  installUrl: string;
}

/** Buys one eSIM of a stocked product for `caller`, who has money; `iccid` is what is in stock, and the only one. */
export async function deliverEsim(
  platform: Platform,
  caller: Caller,
  { sku, product, iccid }: { sku: string; product: ProductId | undefined; iccid: string },
): Promise<Delivered> {
  const row = { iccid, smdp_address: "smdp.example.net", matching_id: "K2-7YTQ1-AB", confirmation_code: "0731" };
  await platform.store.write(importStock, { sku, rows: [row], actor: "test" });
  const line_items = [{ product_id: product, quantity: 1 }];
  const { body: order } = await caller.send("POST", "/api/v1/orders", { line_items }, { "idempotency-key": iccid });
  await platform.fulfill();
  const { body } = await caller.get(`/api/v1/orders/${order.id}/esims`);
  return { iccid, orderId: order.id, installUrl: body.esims[0].install_url };
}
