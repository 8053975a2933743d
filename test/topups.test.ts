import { describe, expect, test } from "vitest";
import { updateCredential } from "../src/core/credentials/update.ts";
import { purgeSandboxStep } from "../src/core/orders/purge-sandbox.ts";
import { updateRow } from "../src/core/store/rows.ts";
import type { Row } from "../src/core/store/schema/tables.ts";
import type { Read } from "../src/core/store/store.ts";
import { createProviders } from "../src/daemon/gateways/suppliers/providers.ts";
import { createTopups } from "../src/daemon/workers/topups.ts";
import type { Caller } from "./support/platform.ts";
import { settled } from "./support/pool.ts";
import { advance, at, buy, eventsOf, openShop, order, report, type Shop } from "./support/sandbox.ts";

const key = (name = crypto.randomUUID()) => ({ "idempotency-key": name });

const topUp = (caller: Caller, iccid: string, body: object, headers: object = {}) =>
  caller.send("POST", `/api/v1/esims/${iccid}/topups`, body, { ...key(), ...headers });

const productsFor = async (caller: Caller, iccid: string) => {
  const { body } = await caller.get(`/api/v1/esims/${iccid}/topup-products`);
  expect(body.count).toBe(body.data.length);
  return body.data.map(({ sku }: { sku: string }) => sku);
};

/** Makes products of the catalog top-ups. */
async function mark({ store, products }: Shop, skus: string[], change: Partial<Row<"products">> = {}) {
  await store.write(async (tx) => {
    for (const [sku, id] of Object.entries(products)) {
      // The ids are those of products.
      const product = { id: id as Row<"products">["id"] };
      if (skus.includes(sku)) await updateRow(tx, "products", product, { purpose: "topup", ...change });
    }
    await tx.touch();
  }, null);
}

/** Runs the worker of the sandbox, which reaches no provider. */
async function work({ store, clock }: Shop) {
  const providers = createProviders({ store, now: clock.now });
  const log = { error: console.error, warn: () => undefined, info: () => undefined };
  await settled(createTopups({ store, providers, log }));
}

const kindsOf = async (shop: Shop) =>
  (await eventsOf(shop, "sandbox")).map(({ kind }) => kind).filter((kind) => kind.startsWith("esim."));

describe("a sandbox eSIM", () => {
  test("is topped up with its own product while the catalog has no top-ups, without charge", async () => {
    const shop = await openShop();
    const { partner, products } = shop;
    const { id, iccid } = await buy(shop, partner, products.WEEK);
    await report(partner, iccid, { event: "activated" });
    await report(partner, iccid, { event: "usage", used_mb: 4200 });
    expect(await productsFor(partner, iccid)).toEqual(["WEEK"]);
    const once = key();
    const made = await topUp(partner, iccid, { product_id: products.WEEK, max_total_cents: 100 }, once);
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: expect.any(String),
        iccid,
        product_id: products.WEEK,
        product_sku: "WEEK",
        price_cents: 100,
        currency: "AUD",
        status: "paid",
        wallet_balance_after_cents: 1_000_000,
        created_at: at(0),
        applied_at: null,
        failure_reason: null,
      },
    ]);
    expect(made.headers.get("location")).toBe(`/api/v1/topups/${made.body.id}`);
    await work(shop);
    const { body: applied } = await partner.get(`/api/v1/topups/${made.body.id}`);
    expect(applied).toEqual({ ...made.body, status: "applied", applied_at: at(0) });
    const again = await topUp(partner, iccid, { product_id: products.WEEK, max_total_cents: 100 }, once);
    expect([again.status, again.body, again.headers.get("idempotent-replayed")]).toEqual([200, applied, "true"]);
    const { body: status } = await partner.get(`/api/v1/esims/${iccid}/status`);
    expect(status).toMatchObject({
      expires_at: at(14),
      data_usage: { total_mb: 10_240, used_mb: 4200, remaining_mb: 6040 },
    });
    expect((await partner.get("/api/v1/balance")).body.balances[0].balance_cents).toBe(1_000_000);
    const events = (await eventsOf(shop, "sandbox")).filter(({ kind }) => kind === "esim.topped_up");
    const usage = { total_mb: 10_240, used_mb: 4200, remaining_mb: 6040 };
    const data = { iccid, order_id: id, topup_id: made.body.id, product_sku: "WEEK", data_usage: usage };
    expect(events.map((event) => event.data)).toEqual([data]);
  });

  test("is topped up with what is marked as a top-up and covers its countries", async () => {
    const shop = await openShop();
    const { partner, products } = shop;
    const { iccid } = await buy(shop, partner, products.EU5);
    await mark(shop, ["API"], { coverage_key: " DE ES FR " });
    await mark(shop, ["PUSH"], { coverage_key: " DE " });
    await mark(shop, ["MAIL"], { coverage_key: " DE FR ", status: "inactive" });
    expect(await productsFor(partner, iccid)).toEqual(["API"]);
    for (const other of [products.EU5, products.PUSH, products.MAIL, crypto.randomUUID()]) {
      const { status, body } = await topUp(partner, iccid, { product_id: other });
      expect([status, Object.keys(body.errors)]).toEqual([400, ["product_id"]]);
    }
    expect((await topUp(partner, iccid, { product_id: products.API })).status).toBe(201);
    await work(shop);
    const { body: page } = await partner.get(`/api/v1/esims/${iccid}/topups?limit=1`);
    expect([page.data[0].status, page.pagination]).toEqual([
      "applied",
      { has_more: false, next_cursor: null, count: 1 },
    ]);
  });

  test("that has expired or is suspended is not topped up", async () => {
    const shop = await openShop();
    const { partner, products } = shop;
    const { iccid } = await buy(shop, partner, products.WEEK);
    const refused = async () => {
      const { status, body } = await topUp(partner, iccid, { product_id: products.WEEK });
      return [status, body.type.split("/").at(-1), body.reason];
    };
    await report(partner, iccid, { event: "activated" });
    await report(partner, iccid, { event: "suspended" });
    expect(await refused()).toEqual([409, "esim_not_toppable", "suspended"]);
    expect(await productsFor(partner, iccid)).toEqual([]);
    await report(partner, iccid, { event: "resumed" });
    const { body: paid } = await topUp(partner, iccid, { product_id: products.WEEK });
    await advance(partner, "P8D");
    expect(await refused()).toEqual([409, "esim_not_toppable", "expired"]);
    // It expired before the worker came to it.
    await work(shop);
    const { body } = await partner.get(`/api/v1/topups/${paid.id}`);
    expect([body.status, body.failure_reason]).toEqual(["failed", "the eSIM expired before"]);
  });

  test("meets the scenarios of the sandbox", async () => {
    const shop = await openShop();
    const { partner, live, products } = shop;
    const { iccid } = await buy(shop, partner, products.EU5);
    const asked = (scenario: string) => ({ "x-sandbox-scenario": scenario });
    const body = { product_id: products.EU5 };
    const poor = await topUp(partner, iccid, body, asked("insufficient_balance"));
    expect([poor.status, poor.body.balance_cents, poor.body.required_cents]).toEqual([402, 0, 100]);
    expect((await topUp(partner, iccid, body, asked("stock_short"))).status).toBe(400);
    expect((await topUp(live, iccid, body, asked("supplier_refused"))).body.type).toMatch(/sandbox_only$/);
    const once = key();
    const refused = await topUp(partner, iccid, body, { ...once, ...asked("supplier_refused") });
    const silent = await topUp(partner, iccid, body, asked("supplier_timeout"));
    await work(shop);
    const read = async (id: string) => (await partner.get(`/api/v1/topups/${id}`)).body;
    expect(await read(refused.body.id)).toMatchObject({
      status: "failed",
      failure_reason: "the supplier refused: Refused, as the sandbox scenario asks.",
    });
    expect(await read(silent.body.id)).toMatchObject({ status: "paid", failure_reason: null, applied_at: null });
    expect((await topUp(partner, iccid, body, once)).body.status).toBe("failed");
    expect(await kindsOf(shop)).toEqual(["esim.topup_failed"]);
    expect((await partner.get(`/api/v1/esims/${iccid}/topups`)).body.pagination.count).toBe(2);
  });
});

test("a key is for one content, another's eSIM is 403, another's top-up 404", async () => {
  const shop = await openShop();
  const { partner, products } = shop;
  const other = await shop.caller();
  const one = await buy(shop, partner, products.EU5);
  const two = await buy(shop, partner, products.EU5);
  const once = key();
  const body = { product_id: products.EU5 };
  const { body: made } = await topUp(partner, one.iccid, body, once);
  for (const [iccid, sent] of [
    [one.iccid, { ...body, max_total_cents: 100 }],
    [two.iccid, body],
  ] as const) {
    const { status, body: refusal } = await topUp(partner, iccid, sent, once);
    expect([status, refusal.type]).toEqual([409, expect.stringMatching(/idempotency_conflict$/)]);
  }
  const dear = await topUp(partner, one.iccid, { ...body, max_total_cents: 99 });
  expect(dear.body).toMatchObject({ status: 409, total_price_cents: 100, max_total_cents: 99, currency: "AUD" });
  expect((await partner.send("POST", `/api/v1/esims/${one.iccid}/topups`, body)).status).toBe(400);
  for (const path of ["topups", "topup-products"]) {
    expect((await other.get(`/api/v1/esims/${one.iccid}/${path}`)).status).toBe(403);
  }
  expect((await topUp(other, one.iccid, body)).status).toBe(403);
  expect((await other.get(`/api/v1/topups/${made.id}`)).status).toBe(404);
  expect((await shop.live.get(`/api/v1/topups/${made.id}`)).status).toBe(404);
});

test("top-up products are listed only where they are asked for, and cannot be ordered", async () => {
  const shop = await openShop();
  const { partner, products } = shop;
  await mark(shop, ["API"]);
  const skus = async (query: string) =>
    (await partner.get(`/api/v1/products${query}`)).body.data.map(({ sku }: { sku: string }) => sku).sort();
  expect(await skus("")).toEqual(["EU5", "MAIL", "PUSH", "WEEK"]);
  expect(await skus("?purpose=plan")).toEqual(["EU5", "MAIL", "PUSH", "WEEK"]);
  expect(await skus("?purpose=topup")).toEqual(["API"]);
  const marked = (await partner.get("/api/v1/products?purpose=topup")).body.data[0];
  expect(marked.purpose).toBe("topup");
  expect((await partner.get(`/api/v1/products/${products.API}`)).body.purpose).toBe("topup");
  const { iccid } = await buy(shop, partner, products.EU5);
  expect((await partner.get(`/api/v1/esims/${iccid}/topup-products`)).body.data).toEqual([marked]);
  expect((await partner.get("/api/v1/products")).body.data[0]).not.toHaveProperty("purpose");
  expect((await partner.get(`/api/v1/products/${products.EU5}`)).body).not.toHaveProperty("purpose");
  const { body: sync } = await partner.get("/api/v1/catalog/sync?platform=generic");
  expect(JSON.stringify(sync)).not.toContain("API");
  const { body: topups } = await partner.get("/api/v1/catalog/sync?purpose=topup");
  expect(topups.products.map(({ sku }: { sku: string }) => sku)).toEqual(["API"]);
  const { body: refusal } = await order(partner, products.API);
  expect(refusal.errors).toEqual({
    "line_items.0.product_id": ["API is a top-up of an eSIM and cannot be ordered"],
  });
  expect((await partner.get(`/api/v1/products/${products.API}`)).status).toBe(200);
});

test("caps that are set in the middle of a day count the top-ups of that day", async () => {
  const shop = await openShop();
  const { partner, products } = shop;
  const { iccid } = await buy(shop, partner, products.EU5);
  const body = { product_id: products.EU5 };
  expect((await topUp(partner, iccid, body)).status).toBe(201);
  await shop.store.write(updateCredential, {
    clientId: partner.clientId,
    perDay: "3.00",
    currency: "AUD",
    actor: "test",
  });
  expect((await topUp(partner, iccid, body)).status).toBe(201);
  const { status, body: refusal } = await topUp(partner, iccid, body);
  expect([status, refusal.spent_cents, refusal.cap_cents]).toEqual([403, 300, 300]);
});

test("top-ups of the sandbox are deleted with their order", async () => {
  const shop = await openShop();
  const { partner, products, store, clock } = shop;
  const { iccid } = await buy(shop, partner, products.EU5);
  await topUp(partner, iccid, { product_id: products.EU5 });
  await work(shop);
  clock.advance(91 * 24 * 3_600_000);
  while ((await store.write(purgeSandboxStep, null)).rows > 0);
  const left = async (table: "topups" | "esims" | "orders") =>
    store.read(async (q) => (await q.db.select().from(q.t[table] as Read["t"]["orders"])).length, null);
  expect([await left("topups"), await left("esims"), await left("orders")]).toEqual([0, 50, 0]);
});
