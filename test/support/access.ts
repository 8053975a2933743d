import { createCredential } from "../../src/core/credentials/create.ts";
import type { ProductId } from "../../src/core/kernel/brand.ts";
import { partnerById } from "../../src/core/partners/partner.ts";
import { iccid, request } from "./activations.ts";
import { key } from "./generic-scenarios.ts";
import { importRecords, passport } from "./passports.ts";
import type { Caller, Platform } from "./platform.ts";

/** What one partner has in one environment: an order with its eSIM, an activation, a passport, an endpoint. */
export interface Belongings {
  product: ProductId;
  order: string;
  orderNumber: string;
  esim: string;
  topup: string;
  qr: string;
  activation: string;
  sim: string;
  passport: string;
  passportNo: string;
  endpoint: string;
  credential: string;
  event: string;
  delivery: string;
}

/** Makes an order, a request, a passport and an endpoint of `caller`, over the API. */
export async function acquire(platform: Platform, caller: Caller, product: ProductId): Promise<Belongings> {
  const lines = { line_items: [{ product_id: product, quantity: 1 }] };
  const order = await created(caller.send("POST", "/api/v1/orders", lines, key()));
  await platform.fulfill();
  const { body: delivered } = await caller.get(`/api/v1/orders/${order.id}/esims`);
  const [{ iccid: esim, qr_code_url }] = delivered.esims;
  const more = { product_id: product };
  const topup = await created(caller.send("POST", `/api/v1/esims/${esim}/topups`, more, key()));
  const sim = iccid();
  const activation = await created(caller.send("POST", "/api/v1/activations", request({ iccid: sim })));
  const document = passport();
  const [pooled = ""] = await importRecords(caller, [document]);
  const hook = { url: "https://hooks.example.com/esim", events: ["order.created"] };
  const { webhook } = await created(caller.send("POST", "/api/v1/webhooks", hook));
  const partner = (await platform.store.read(partnerById, caller.partnerId)).slug;
  const asked = { partner, live: false, scopes: ["read:products"], actor: "test" };
  const { client_id } = await platform.store.write(createCredential, asked);
  const sample = { event: "order.created" };
  const { body: sent } = await caller.send("POST", `/api/v1/webhooks/${webhook.id}/test`, sample);
  const { body: feed } = await caller.get("/api/v1/events");
  return {
    product,
    order: order.id,
    orderNumber: order.order_number,
    esim,
    topup: topup.id,
    qr: qr_code_url.split("/").at(-1).replace(".png", ""),
    activation: activation.id,
    sim,
    passport: pooled,
    passportNo: document.passport_no,
    endpoint: webhook.id,
    credential: client_id,
    event: feed.data[0].event_id,
    delivery: sent.delivery_id,
  };
}

async function created(reply: ReturnType<Caller["send"]>) {
  const { status, body } = await reply;
  if (status !== 201) throw new Error(`expected 201, not ${status}: ${JSON.stringify(body)}`);
  return body;
}

/** A request that its owner makes with success. */
export interface Ask {
  path: string;
  body?: unknown;
  /** Whether the record in the path belongs to one partner and environment. */
  owned?: true | "partner";
  /** Whether the body names such things: each is an item of the response. */
  named?: boolean;
}

type Entry = (of: Belongings) => Ask;

const open =
  (path: string): Entry =>
  () => ({ path });
const order =
  (suffix = ""): Entry =>
  (of) => ({ path: `/api/v1/orders/${of.order}${suffix}`, owned: true });

const bulkOrder = (of: Belongings) => ({
  external_order_id: crypto.randomUUID(),
  line_items: [{ product_id: of.product, quantity: 1 }],
  customer: { email: "mia@example.com", name: "Mia Chen" },
});

/** Every route of the daemon, with a request to it. A route without an entry fails the test of the access matrix. */
export const accessEntries: Readonly<Record<string, Entry>> = {
  "GET /": open("/"),
  "GET /openapi.json": open("/openapi.json"),
  "GET /healthz": open("/healthz"),
  "GET /readyz": open("/readyz"),
  "GET /docs": open("/docs"),
  "GET /docs/start.js": open("/docs/start.js"),
  "GET /docs/reference.js": open("/docs/reference.js"),
  "GET /docs/api": open("/docs/api"),
  "GET /docs/webhooks": open("/docs/webhooks"),
  "GET /docs/states": open("/docs/states"),
  "GET /docs/errors": open("/docs/errors"),
  "GET /docs/errors/:slug": open("/docs/errors/not_found"),
  "GET /.well-known/jwks.json": open("/.well-known/jwks.json"),
  "GET /.well-known/oauth-authorization-server": open("/.well-known/oauth-authorization-server"),
  "GET /qr/:token.png": (of) => ({ path: `/qr/${of.qr}.png` }),
  "GET /qr/:token.svg": (of) => ({ path: `/qr/${of.qr}.svg` }),
  "GET /install/:token": (of) => ({ path: `/install/${of.qr}` }),
  "GET /media/products/:id.png": (of) => ({ path: `/media/products/${of.product}.png` }),
  "GET /media/products/:id.svg": (of) => ({ path: `/media/products/${of.product}.svg` }),
  "POST /api/v1/oauth/token": () => ({
    path: "/api/v1/oauth/token",
    body: {
      grant_type: "client_credentials",
      client_id: "sk_test_nobody",
      client_secret: "guess",
      scope: "read:orders",
    },
  }),
  "POST /api/v1/callbacks/carriers/:prefix": (of) => ({
    path: "/api/v1/callbacks/carriers/896103",
    body: { reference: of.activation, outcome: "activated", mobile_number: "+61491570156", error_type: "x" },
  }),
  "POST /api/v1/callbacks/suppliers/:name": (of) => ({
    path: "/api/v1/callbacks/suppliers/northwind",
    body: {
      reference: of.order,
      outcome: "activated",
      esims: [{ iccid: of.sim, activation_code: "LPA:1$a.example$M" }],
    },
  }),
  "POST /api/v1/callbacks/suppliers/:name/esims": (of) => ({
    path: "/api/v1/callbacks/suppliers/northwind/esims",
    body: { iccid: of.esim, event: "usage", used_mb: 12, country: "JP", at: "2026-03-02T01:00:00Z" },
  }),
  "POST /callbacks/suppliers/:name/:secret": open("/callbacks/suppliers/northwind/guess"),
  "GET /api/v1/products": open("/api/v1/products"),
  "GET /api/v1/products/:id": (of) => ({ path: `/api/v1/products/${of.product}` }),
  "GET /api/v1/catalog/sync": open("/api/v1/catalog/sync?platform=generic"),
  "GET /api/v1/inventory/status": open("/api/v1/inventory/status"),
  "GET /api/v1/balance": open("/api/v1/balance"),
  "GET /api/v1/wallet/transactions": open("/api/v1/wallet/transactions"),
  "GET /api/v1/wallet/funding-requests": open("/api/v1/wallet/funding-requests"),
  "POST /api/v1/wallet/funding-requests": () => ({
    path: "/api/v1/wallet/funding-requests",
    body: { amount_cents: 1_000, currency: "AUD" },
  }),
  "GET /api/v1/statements": open("/api/v1/statements"),
  "GET /api/v1/statements/:month": open("/api/v1/statements/2026-01?currency=AUD"),
  "GET /api/v1/esims": open("/api/v1/esims"),
  "GET /api/v1/orders": open("/api/v1/orders"),
  "POST /api/v1/orders": (of) => ({
    path: "/api/v1/orders",
    body: { line_items: [{ product_id: of.product, quantity: 1 }] },
  }),
  "POST /api/v1/orders/bulk": (of) => ({
    path: "/api/v1/orders/bulk",
    body: { orders: [bulkOrder(of)] },
  }),
  "POST /api/v1/orders/quote": (of) => ({
    path: "/api/v1/orders/quote",
    body: { line_items: [{ product_id: of.product, quantity: 1 }] },
  }),
  "POST /api/v1/orders/bulk/quote": (of) => ({ path: "/api/v1/orders/bulk/quote", body: { orders: [bulkOrder(of)] } }),
  "GET /api/v1/orders/:id": order(),
  "GET /api/v1/orders/:id/esims": order("/esims"),
  "GET /api/v1/orders/:id/activation-status": order("/activation-status"),
  "GET /api/v1/esims/:iccid/status": (of) => ({ path: `/api/v1/esims/${of.esim}/status`, owned: true }),
  "GET /api/v1/esims/:iccid/topup-products": (of) => ({ path: `/api/v1/esims/${of.esim}/topup-products`, owned: true }),
  "GET /api/v1/esims/:iccid/topups": (of) => ({ path: `/api/v1/esims/${of.esim}/topups`, owned: true }),
  "POST /api/v1/esims/:iccid/topups": (of) => ({
    path: `/api/v1/esims/${of.esim}/topups`,
    body: { product_id: of.product },
    owned: true,
  }),
  "GET /api/v1/topups/:id": (of) => ({ path: `/api/v1/topups/${of.topup}`, owned: true }),
  "POST /api/v1/search": (of) => ({ path: "/api/v1/search", body: { query: of.orderNumber } }),
  "GET /api/v1/activations": open("/api/v1/activations"),
  "POST /api/v1/activations": () => ({ path: "/api/v1/activations", body: request() }),
  "POST /api/v1/activations/bulk": () => ({ path: "/api/v1/activations/bulk", body: { lines: [request()] } }),
  "GET /api/v1/activations/:id": (of) => ({ path: `/api/v1/activations/${of.activation}`, owned: true }),
  "PATCH /api/v1/activations/:id": (of) => ({
    path: `/api/v1/activations/${of.activation}`,
    body: { note: "call first" },
    owned: true,
  }),
  "PATCH /api/v1/activations/:id/identity": (of) => ({
    path: `/api/v1/activations/${of.activation}/identity`,
    body: { last_name: "Underwood" },
    owned: true,
  }),
  "POST /api/v1/activations/:id/cancel": (of) => ({
    path: `/api/v1/activations/${of.activation}/cancel`,
    owned: true,
  }),
  "PATCH /api/v1/activations/by-iccid/:iccid": (of) => ({
    path: `/api/v1/activations/by-iccid/${of.sim}`,
    body: { note: "call first" },
    owned: true,
  }),
  "PATCH /api/v1/activations/by-iccid/:iccid/identity": (of) => ({
    path: `/api/v1/activations/by-iccid/${of.sim}/identity`,
    body: { last_name: "Underwood" },
    owned: true,
  }),
  "POST /api/v1/activations/by-iccid/:iccid/cancel": (of) => ({
    path: `/api/v1/activations/by-iccid/${of.sim}/cancel`,
    owned: true,
  }),
  "POST /api/v1/activations/bulk/cancel": (of) => ({
    path: "/api/v1/activations/bulk/cancel",
    body: { activation_ids: [of.activation] },
    named: true,
  }),
  "POST /api/v1/activations/bulk/reschedule": (of) => ({
    path: "/api/v1/activations/bulk/reschedule",
    body: { items: [{ activation_id: of.activation, requested_activation_date: "2026-03-12" }] },
    named: true,
  }),
  "GET /api/v1/kyc/passports": open("/api/v1/kyc/passports"),
  "POST /api/v1/kyc/passports": () => ({ path: "/api/v1/kyc/passports", body: { records: [passport()] } }),
  "PATCH /api/v1/kyc/passports/:id": (of) => ({
    path: `/api/v1/kyc/passports/${of.passport}`,
    body: { first_name: "Ottilie" },
    owned: true,
  }),
  "DELETE /api/v1/kyc/passports/:id": (of) => ({ path: `/api/v1/kyc/passports/${of.passport}`, owned: true }),
  "GET /api/v1/credentials": open("/api/v1/credentials"),
  "POST /api/v1/credentials": () => ({
    path: "/api/v1/credentials",
    body: { environment: "sandbox", scopes: ["read:products"] },
  }),
  "POST /api/v1/credentials/:client_id/rotate": (of) => ({
    path: `/api/v1/credentials/${of.credential}/rotate`,
    owned: "partner",
  }),
  "DELETE /api/v1/credentials/:client_id": (of) => ({ path: `/api/v1/credentials/${of.credential}`, owned: "partner" }),
  "GET /api/v1/events": open("/api/v1/events"),
  "GET /api/v1/events/:id": (of) => ({ path: `/api/v1/events/${of.event}`, owned: true }),
  "GET /api/v1/sandbox/clock": open("/api/v1/sandbox/clock"),
  "POST /api/v1/sandbox/clock": () => ({ path: "/api/v1/sandbox/clock", body: { advance: "PT1M" } }),
  "DELETE /api/v1/sandbox/clock": open("/api/v1/sandbox/clock"),
  "POST /api/v1/sandbox/esims/:iccid": (of) => ({
    path: `/api/v1/sandbox/esims/${of.esim}`,
    body: { event: "usage", used_mb: 12 },
    owned: true,
  }),
  "GET /api/v1/webhooks": open("/api/v1/webhooks"),
  "POST /api/v1/webhooks": () => ({
    path: "/api/v1/webhooks",
    body: { url: "https://hooks.example.com/more", events: ["order.created"] },
  }),
  "GET /api/v1/webhooks/:id": (of) => ({ path: `/api/v1/webhooks/${of.endpoint}`, owned: true }),
  "PATCH /api/v1/webhooks/:id": (of) => ({
    path: `/api/v1/webhooks/${of.endpoint}`,
    body: { description: "Order desk" },
    owned: true,
  }),
  "POST /api/v1/webhooks/:id/rotate-secret": (of) => ({
    path: `/api/v1/webhooks/${of.endpoint}/rotate-secret`,
    body: { overlap_hours: 0 },
    owned: true,
  }),
  "POST /api/v1/webhooks/:id/test": (of) => ({
    path: `/api/v1/webhooks/${of.endpoint}/test`,
    body: { event: "order.created" },
    owned: true,
  }),
  "POST /api/v1/webhooks/:id/replay": (of) => ({
    path: `/api/v1/webhooks/${of.endpoint}/replay`,
    body: { since: "2026-03-01T12:00:00Z" },
    owned: true,
  }),
  "GET /api/v1/webhooks/:id/deliveries": (of) => ({
    path: `/api/v1/webhooks/${of.endpoint}/deliveries`,
    owned: true,
  }),
  "GET /api/v1/webhooks/:id/deliveries/:delivery_id": (of) => ({
    path: `/api/v1/webhooks/${of.endpoint}/deliveries/${of.delivery}`,
    owned: true,
  }),
  "POST /api/v1/webhooks/:id/deliveries/:delivery_id/redeliver": (of) => ({
    path: `/api/v1/webhooks/${of.endpoint}/deliveries/${of.delivery}/redeliver`,
    owned: true,
  }),
  "DELETE /api/v1/webhooks/:id": (of) => ({ path: `/api/v1/webhooks/${of.endpoint}`, owned: true }),
};
