import { expect } from "vitest";
import { settleSandbox } from "../../src/daemon/workers/all.ts";
import { addProducts, addStock, suppliedProducts } from "./catalog.ts";
import { allEvents } from "./events.ts";
import type { Caller } from "./platform.ts";
import { startWebhookPlatform, type WebhookPlatform } from "./webhooks.ts";

export const DAY_MS = 86_400_000;
export const CLOCK = "/api/v1/sandbox/clock";
export const START = "2026-03-02T01:00:00.000Z";
export const running = new AbortController().signal;

export interface Shop extends WebhookPlatform {
  products: Record<string, string>;
  partner: Caller;
  live: Caller;
}

/** A platform with a partner of both environments, and products of one week, one month, and by a supplier. */
export async function openShop(): Promise<Shop> {
  const platform = await startWebhookPlatform();
  const products = await addProducts(platform.store, [
    { sku: "EU5", validity_days: 30, price_cents: 100 },
    { sku: "WEEK", validity_days: 7, price_cents: 100 },
    ...suppliedProducts,
  ]);
  await addStock(platform.store, "EU5", 50);
  const partner = await platform.caller();
  const live = await platform.credential("partner-1", { live: true });
  await platform.fund(partner.partnerId, 1_000_000);
  return { ...platform, products, partner, live };
}

export const at = (days: number, from = START) => new Date(Date.parse(from) + days * DAY_MS).toISOString();
export const advance = (caller: Caller, by: string) => caller.send("POST", CLOCK, { advance: by });
export const report = (caller: Caller, iccid: string, body: object) =>
  caller.send("POST", `/api/v1/sandbox/esims/${iccid}`, body);
export const settle = (shop: Shop) => settleSandbox(shop, running);

export async function order(caller: Caller, product: string | undefined, more: object = {}, headers: object = {}) {
  const body = { line_items: [{ product_id: product, quantity: 1 }], ...more };
  return caller.send("POST", "/api/v1/orders", body, { "idempotency-key": crypto.randomUUID(), ...headers });
}

/** Orders one unit, delivered; its order and its ICCID. */
export async function buy(shop: Shop, caller: Caller, product: string | undefined) {
  const { status, body } = await order(caller, product);
  expect(status, JSON.stringify(body)).toBe(201);
  await shop.fulfill();
  const { body: delivered } = await caller.get(`/api/v1/orders/${body.id}/esims`);
  return { id: body.id as string, iccid: delivered.esims[0].iccid as string };
}

/** The events of an environment, in the order in which they were committed. */
export function eventsOf({ store }: Shop, environment: "sandbox" | "production") {
  return allEvents(store).then((rows) => rows.filter((row) => row.environment === environment));
}

export const momentsOf = (events: { kind: string; occurred_at: number }[]) =>
  events.map(({ kind, occurred_at }) => `${kind} ${new Date(occurred_at).toISOString()}`);
