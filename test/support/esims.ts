import { importStock } from "../../src/core/esims/import-stock.ts";
import type { ProductId } from "../../src/core/kernel/brand.ts";
import type { Caller, Platform } from "./platform.ts";
import { create, lines } from "./quotes.ts";
import type { Visitor } from "./visitor.ts";

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

/** The path of an eSIM of the sandbox in the portal of a partner, where its person is from now on. */
export async function sandboxEsimPage(platform: Platform, slug: string, who: Visitor): Promise<string> {
  const sandbox = await platform.credential(slug, {});
  const { body } = await sandbox.get("/api/v1/products?limit=100");
  const { body: order } = await create(sandbox, lines([body.data[0].id, 1]));
  await platform.fulfill();
  const { body: delivered } = await sandbox.get(`/api/v1/orders/${order.id}/esims`);
  await who.send(await who.get("/portal"), { environment: "sandbox" }, "/environment");
  return `/portal/esims/${delivered.esims[0].iccid}`;
}
