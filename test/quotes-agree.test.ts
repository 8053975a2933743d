import fc from "fast-check";
import { describe, expect } from "vitest";
import type { ProductInput } from "../src/core/catalog/product-input.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { type Caller, type Platform, startPlatform } from "./support/platform.ts";
import { create, createBulk, customer, lines, quote, quoteBulk, refusalOf, traveler } from "./support/quotes.ts";
import { property } from "./support/rounds.ts";

describe("with nothing between, a quote and the order agree", () => {
  interface World {
    catalog: Partial<ProductInput>[];
    stock: number[];
    funds: { AUD: number; EUR: number };
    live: boolean;
    orders: { lines: [number, number][]; travelers: "right" | "none" | "past"; max: number | null; again: number }[];
  }

  const method = fc.constantFrom<Partial<ProductInput>>(
    { delivery_method: "stock" },
    { delivery_method: "stock" },
    { delivery_method: "shipping", product_type: "physical_sim" },
    { delivery_method: "supplier_api", product_type: "esim_qr_api", supplier: "northwind" },
    { delivery_method: "supplier_email", product_type: "esim_qr_api", supplier: "kestrel" },
    { delivery_method: "eid_push", product_type: "esim_eid_push", supplier: "northwind" },
  );
  const product = fc
    .record({
      method,
      status: fc.constantFrom("active", "active", "active", "inactive", "out_of_stock"),
      currency: fc.constantFrom("AUD", "AUD", "EUR"),
      price_cents: fc.integer({ min: 0, max: 500 }),
    })
    .map(({ method, ...fields }) => ({ ...fields, ...method }) as Partial<ProductInput>);
  const line = fc.tuple(fc.nat({ max: 4 }), fc.integer({ min: 1, max: 4 }));
  const order = fc.record({
    lines: fc.array(line, { minLength: 1, maxLength: 3 }),
    travelers: fc.constantFrom("right" as const, "right" as const, "none" as const, "past" as const),
    max: fc.option(fc.integer({ min: 0, max: 4_000 }), { freq: 3 }),
    /** The key of an order before it, counted back; 0: its own. */
    again: fc.constantFrom(0, 0, 0, 1, 2),
  });
  const world: fc.Arbitrary<World> = fc.record({
    catalog: fc.array(product, { minLength: 4, maxLength: 4 }),
    stock: fc.array(fc.nat({ max: 6 }), { minLength: 4, maxLength: 4 }),
    funds: fc.record({ AUD: fc.nat({ max: 4_000 }), EUR: fc.nat({ max: 1_000 }) }),
    live: fc.boolean(),
    orders: fc.array(order, { minLength: 1, maxLength: 6 }),
  });

  /** A fresh catalog, stock and wallet on the platform, and the bodies that its orders send. */
  async function build(platform: Platform, { catalog, stock, funds, live, orders }: World) {
    const run = crypto.randomUUID().slice(0, 8);
    const skus = catalog.map((_, at) => `P${at}-${run}`);
    const ids = await addProducts(
      platform.store,
      catalog.map((fields, at) => ({ sku: skus[at] ?? "", ...fields })),
    );
    const stocked = catalog.map(({ delivery_method }) => delivery_method === "stock");
    for (const [at, sku] of skus.entries()) if (stocked[at]) await addStock(platform.store, sku, stock[at] ?? 0);
    const caller = await platform.caller({ live });
    if (funds.AUD > 0) await platform.fund(caller.partnerId, funds.AUD);
    if (funds.EUR > 0) await platform.fund(caller.partnerId, funds.EUR, "EUR");
    // The fifth product is none of the catalog.
    const idOf = (at: number) => ids[skus[at] ?? ""] ?? "0199a0b1-0000-7000-8000-000000000001";
    const bodies = orders.map(({ lines: asked, travelers, max }) => {
      const scheduled = asked.filter(([at]) => /email|eid/.test(catalog[at]?.delivery_method ?? ""));
      const more = travelers === "past" ? { activation_date: "2026-03-01" } : {};
      const eid_number = "89049032000000000000000000000024";
      const requests = scheduled.flatMap(([at, quantity]) =>
        Array.from({ length: quantity }, () => traveler(idOf(at), { eid_number, ...more })),
      );
      return {
        ...lines(...asked.map(([at, quantity]): [string, number] => [idOf(at), quantity])),
        ...(travelers === "none" ? {} : { activation_requests: requests }),
        ...(max === null ? {} : { max_total_cents: max }),
      };
    });
    return { caller, bodies };
  }

  const RUNS = { few: 6, many: 15 };

  property("single orders, on outcome, total and delivery", RUNS, async (numRuns) => {
    const platform = await startPlatform();
    await fc.assert(
      fc.asyncProperty(world, async (drawn) => {
        const { caller, bodies } = await build(platform, drawn);
        for (const body of bodies) {
          const quoted = await quote(caller, body);
          const created = await create(caller, body);
          if (created.status === 201) {
            expect(quoted).toMatchObject({ status: 200, body: { shortfall_cents: 0 } });
            const { total_price_cents, currency, quantity } = created.body;
            expect(quoted.body).toMatchObject({ total_price_cents, currency, quantity });
            await platform.fulfill();
            const { body: after } = await caller.get(`/api/v1/orders/${created.body.id}`);
            const kinds = quoted.body.line_items.map(({ delivery }: { delivery: string }) => delivery);
            expect(after.status === "waiting_review", JSON.stringify(kinds)).toBe(kinds.includes("review"));
          } else if (created.status === 402) {
            const { shortfall_cents, balance_cents, required_cents: total_price_cents, currency } = created.body;
            const body = { shortfall_cents, balance_cents, total_price_cents, currency };
            expect(quoted).toMatchObject({ status: 200, body });
          } else {
            expect(refusalOf(quoted)).toEqual(refusalOf(created));
          }
        }
      }),
      { numRuns },
    );
  });

  property("bulk orders, each on outcome, total and words, and the wallet on what is left", RUNS, async (numRuns) => {
    const platform = await startPlatform();
    await fc.assert(
      fc.asyncProperty(world, async (drawn) => {
        const { caller, bodies } = await build(platform, drawn);
        const orders = bodies.map((body, at) => {
          const external_order_id = `order-${Math.max(0, at - (drawn.orders[at]?.again ?? 0))}`;
          return { external_order_id, customer, ...body };
        });
        const before = await balancesOf(caller);
        const { body: quoted } = await quoteBulk(caller, orders);
        const { body: created } = await createBulk(caller, orders);
        expect(quoted.summary).toEqual(created.summary);
        const spent: Record<string, number> = {};
        for (const [at, one] of created.results.entries()) {
          const { status, replayed, error, total_price_cents, currency } = one;
          expect(quoted.results[at]).toMatchObject({ status, replayed, ...(error === undefined ? {} : { error }) });
          if (status === "failed") continue;
          expect(quoted.results[at]).toMatchObject({ total_price_cents, currency });
          if (!replayed && drawn.live) spent[currency] = (spent[currency] ?? 0) + total_price_cents;
        }
        const after = await balancesOf(caller);
        for (const [currency, cents] of Object.entries(before)) {
          expect(after[currency]).toBe(cents - (spent[currency] ?? 0));
        }
        // What is missing is named exactly: with it, none fails for want of money.
        const short = quoted.totals.filter((one: { shortfall_cents: number }) => one.shortfall_cents > 0);
        const poor = created.results.some((one: { error?: { code: string } }) => {
          return one.error?.code === "insufficient_balance";
        });
        expect(short.length > 0).toBe(poor);
      }),
      { numRuns },
    );
  });

  async function balancesOf(caller: Caller): Promise<Record<string, number>> {
    const { body } = await caller.get("/api/v1/balance");
    const each = body.balances.map((one: { currency: string; balance_cents: number }) => [
      one.currency,
      one.balance_cents,
    ]);
    return Object.fromEntries(each);
  }
});
