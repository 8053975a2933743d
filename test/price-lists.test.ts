import fc from "fast-check";
import { describe, expect } from "vitest";
import { updateProduct } from "../src/core/catalog/import.ts";
import { findProductBySku } from "../src/core/catalog/product.ts";
import { createPriceList } from "../src/core/prices/lists.ts";
import { setRate } from "../src/core/prices/rates.ts";
import type { TypedRule } from "../src/core/prices/rule-input.ts";
import { updateRow } from "../src/core/store/rows.ts";
import type { Store } from "../src/core/store/store.ts";
import { addProducts } from "./support/catalog.ts";
import { type Caller, type Platform, startPlatform } from "./support/platform.ts";
import { listed, renewed, rule } from "./support/price-lists.ts";
import { type PriceModel, priceModel, skus, starts } from "./support/price-model.ts";
import { create, createBulk, customer, lines, quote, quoteBulk } from "./support/quotes.ts";
import { property } from "./support/rounds.ts";
import { onPostgres } from "./support/store.ts";

const DAY = 86_400_000;
const actor = "test";

const cost = (store: Store, sku: string, amount: number | null, cost_currency: string | null) =>
  store.write(async (tx) => {
    const row = await findProductBySku(tx, sku);
    if (row !== null) await updateRow(tx, "products", { id: row.id }, { cost: amount, cost_currency });
    await tx.touch();
  }, null);

interface Listed {
  id: string;
  sku: string;
  price_cents: number;
}

/** Every product of the list, page by page. */
async function all(caller: Caller, query: string): Promise<Listed[]> {
  const found: Listed[] = [];
  for (let cursor = ""; ; ) {
    const { status, body } = await caller.get(`/api/v1/products?limit=2&${query}${cursor}`);
    expect(status, JSON.stringify(body)).toBe(200);
    found.push(...body.data);
    if (!body.pagination.has_more) return found;
    cursor = `&cursor=${body.pagination.next_cursor}`;
  }
}

describe("one SKU, two partners with two price lists", () => {
  const FIRST = Date.parse("2026-03-02T22:00:00Z");
  const dayAt = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const lists = ["gold", "silver"] as const;

  const near = fc.option(fc.integer({ min: -1, max: 4 }));
  const scope = {
    list: fc.constantFrom(...lists),
    min: fc.constantFrom(1, 1, 3, 10),
    from: near,
    to: near,
  };
  const step = fc.oneof(
    fc.record({ kind: fc.constant("price" as const), at: fc.nat({ max: 4 }), cents: fc.nat({ max: 1_500 }), ...scope }),
    fc.record({
      kind: fc.constant("markup" as const),
      region: fc.constantFrom("Europe", "ASIA", "world"),
      points: fc.nat({ max: 9_999 }),
      ...scope,
    }),
    fc.record({
      kind: fc.constant("rate" as const),
      pair: fc.constantFrom("USD AUD", "USD EUR", "AUD EUR", "EUR JPY"),
      rate: fc.integer({ min: 1, max: 30_000 }).map((n) => (n / 10_000).toFixed(4)),
      from: fc.integer({ min: -2, max: 3 }),
    }),
    fc.record({
      kind: fc.constant("cost" as const),
      at: fc.nat({ max: 4 }),
      amount: fc.option(fc.nat({ max: 200_000 }), { freq: 4 }),
      currency: fc.constantFrom("USD", "AUD", "EUR"),
    }),
    fc.record({ kind: fc.constant("own" as const), at: fc.nat({ max: 4 }), cents: fc.nat({ max: 1_500 }) }),
    fc.record({ kind: fc.constant("midnight" as const) }),
    fc.record({ kind: fc.constant("midnight" as const) }),
  );
  type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

  async function take(platform: Platform, other: Store, known: PriceModel, one: Step): Promise<void> {
    const today = platform.clock.now();
    const day = (away: number | null) => (away === null ? null : dayAt(today + away * DAY));
    if (one.kind === "midnight") return platform.clock.advance(DAY);
    if (one.kind === "own") {
      known.own[one.at] = one.cents;
      await other.write(updateProduct, { sku: skus[one.at] ?? "", price_cents: one.cents, actor });
      return;
    }
    if (one.kind === "cost") {
      known.costs[one.at] = one.amount === null ? null : { amount: one.amount, currency: one.currency };
      return cost(other, skus[one.at] ?? "", one.amount, one.amount === null ? null : one.currency);
    }
    if (one.kind === "rate") {
      const from = day(one.from) ?? "";
      const [base = "", to = ""] = one.pair.split(" ");
      if (Number(one.rate) === 0) return;
      known.rates.set(`${one.pair} ${from}`, { pair: one.pair, from, rate: one.rate });
      await other.write(setRate, { from: base, to, rate: one.rate, day: from, actor });
      return;
    }
    const [from, to] = [day(one.from), day(one.to)];
    if (from !== null && to !== null && to <= from) return;
    const days = { ...(from === null ? {} : { from }), ...(to === null ? {} : { to }) };
    const typed: TypedRule = { min_quantity: String(one.min), ...days };
    const scoped = { list: one.list, min: one.min, from, to };
    if (one.kind === "price") {
      const { currency = "" } = starts[one.at] ?? {};
      const sku = skus[one.at] ?? "";
      const price = currency === "JPY" ? String(one.cents) : (one.cents / 100).toFixed(2);
      known.put({ ...scoped, sku, region: null, cents: one.cents, points: null }, JSON.stringify([sku, scoped]));
      await rule(other, one.list, { ...typed, sku, price });
    } else {
      const region = one.region.toLowerCase();
      const markup = (one.points / 100).toFixed(2);
      known.put({ ...scoped, sku: null, region, cents: null, points: one.points }, JSON.stringify([region, scoped]));
      await rule(other, one.list, { ...typed, region: one.region, markup });
    }
  }

  interface Seen {
    etag: string;
    text: string;
  }

  interface Checked {
    platform: Platform;
    caller: Caller;
    list: string;
    known: PriceModel;
    ids: Record<string, string>;
    quantity: number;
    seen: Map<string, Seen>;
  }

  /** Everything that a partner reads or pays says the same price. */
  async function agree({ platform, caller, list, known, ids, quantity, seen }: Checked): Promise<void> {
    const day = dayAt(platform.clock.now());
    const expected = skus.map((sku, at) => ({
      id: ids[sku] ?? "",
      sku,
      price_cents: known.price(list, at, { quantity: 1, day }).cents,
    }));
    const plain = (rows: Listed[]) => rows.map(({ id, sku, price_cents }) => ({ id, sku, price_cents }));
    const byName = await all(caller, "sort_by=name&sort_order=asc");
    expect(plain(byName)).toEqual(expected);
    const byPrice = expected.toSorted((a, b) => a.price_cents - b.price_cents || (a.id < b.id ? -1 : 1));
    expect(plain(await all(caller, "sort_by=price_cents&sort_order=asc"))).toEqual(byPrice);
    expect(plain(await all(caller, "sort_by=price_cents&sort_order=desc"))).toEqual(byPrice.toReversed());
    const asia = byPrice.filter(({ sku }) => sku === "C" || sku === "D");
    expect(plain(await all(caller, "sort_by=price_cents&sort_order=asc&region=asia"))).toEqual(asia);
    for (const { id, price_cents } of expected) {
      expect((await caller.get(`/api/v1/products/${id}`)).body.price_cents).toBe(price_cents);
    }
    const { body: synced } = await caller.get("/api/v1/catalog/sync?format=generic");
    const wholesale = synced.products.map((one: { wholesale_price_cents: number }) => one.wholesale_price_cents);
    expect(wholesale).toEqual(expected.map(({ price_cents }) => price_cents));

    const path = "/api/v1/products?sort_by=name";
    const before = seen.get(list);
    const now = await caller.get(path);
    const text = JSON.stringify(now.body);
    const etag = now.headers.get("etag") ?? "";
    if (before !== undefined) {
      expect(etag === before.etag).toBe(text === before.text);
      const again = await caller.get(path, { "if-none-match": before.etag });
      expect(again.status).toBe(text === before.text ? 304 : 200);
    }
    seen.set(list, { etag, text });

    await ordered({ platform, caller, list, known, ids, quantity, seen }, day);
  }

  async function ordered({ platform, caller, list, known, ids, quantity }: Checked, day: string): Promise<void> {
    const asked = [0, 1, 2].map((at) => ({ at, quantity: at === 0 ? quantity : 1 }));
    const body = lines(...asked.map((one): [string, number] => [ids[skus[one.at] ?? ""] ?? "", one.quantity]));
    const priced = asked.map((one) => ({ ...one, ...known.price(list, one.at, { quantity: one.quantity, day }) }));
    const total = priced.reduce((sum, one) => sum + one.cents * one.quantity, 0);
    const units = priced.map(({ cents }) => cents);
    const unitsIn = (rows: { unit_price_cents: number }[]) => rows.map(({ unit_price_cents }) => unit_price_cents);
    const quoted = await quote(caller, body);
    expect(quoted.status, JSON.stringify(quoted.body)).toBe(200);
    expect([unitsIn(quoted.body.line_items), quoted.body.total_price_cents]).toEqual([units, total]);
    const item = { external_order_id: crypto.randomUUID(), customer, ...body };
    const many = await quoteBulk(caller, [item]);
    expect(many.body.results[0].total_price_cents).toBe(total);
    if (total > 0) {
      const refused = await create(caller, { ...body, max_total_cents: total - 1 });
      expect([refused.status, refused.body.total_price_cents]).toEqual([409, total]);
    }
    const balance = async () => {
      const { body: held } = await caller.get("/api/v1/balance");
      return held.balances.find(({ currency }: { currency: string }) => currency === "AUD").balance_cents;
    };
    const first = await balance();
    const placed = await create(caller, { ...body, max_total_cents: total });
    expect([placed.status, unitsIn(placed.body.line_items)]).toEqual([201, units]);
    expect(placed.body.total_price_cents).toBe(total);
    expect(first - (await balance())).toBe(total);
    const { body: bulk } = await createBulk(caller, [item]);
    expect(bulk.results[0].total_price_cents).toBe(total);
    expect(first - (await balance())).toBe(2 * total);
    const { body: shown } = await caller.get(`/api/v1/orders/${placed.body.id}`);
    expect(shown.total_price_cents).toBe(total);
    expect(JSON.stringify(shown)).not.toMatch(/cost|fx_rate|price_list/);
    const { body: moved } = await caller.get("/api/v1/wallet/transactions?limit=2");
    const amounts = moved.data.map(({ amount_cents }: { amount_cents: number }) => Math.abs(amount_cents));
    if (total > 0) expect(amounts).toEqual([total, total]);
    const { body: statement } = await caller.get(`/api/v1/statements/${day.slice(0, 7)}?currency=AUD`);
    expect(statement.closing_cents).toBe(await balance());
    const charged = statement.movements
      .slice(-2)
      .map(({ kind, amount_cents, order_id }: Record<string, unknown>) => [kind, amount_cents, order_id]);
    const orders = [placed.body.id, bulk.results[0].service_order_id];
    if (total > 0) expect(charged).toEqual(orders.map((id) => ["charge", -total, id]));
    await frozen(platform, placed.body.id, { known, priced, day });
  }

  interface Frozen {
    known: PriceModel;
    priced: { at: number; list: string | null }[];
    day: string;
  }

  async function frozen(platform: Platform, id: string, { known, priced, day }: Frozen): Promise<void> {
    const rows = await platform.store.read(async (q) => q.db.select().from(q.t.orderLines), null);
    const own = rows.filter((row) => row.order_id === id).sort((a, b) => a.position - b.position);
    const kept = own.map(({ price_list, cost, cost_currency, fx_rate }) => ({
      price_list,
      cost,
      cost_currency,
      fx_rate,
    }));
    expect(kept).toEqual(
      priced.map(({ at, list: price_list }) => {
        const costs = known.costs[at];
        if (!costs) return { price_list, cost: null, cost_currency: null, fx_rate: null };
        const fx_rate = known.rateOf(costs.currency, starts[at]?.currency ?? "", day);
        return { price_list, cost: costs.amount, cost_currency: costs.currency, fx_rate };
      }),
    );
  }

  property(
    "pay what list, product, catalog, quote, order and statement show, after each change and midnight",
    onPostgres ? { few: 1, many: 2 } : { few: 1, many: 8 },
    async (numRuns) => {
      const steps = fc.array(step, { minLength: 4, maxLength: 12 });
      await fc.assert(
        fc.asyncProperty(steps, fc.constantFrom(1, 2, 3, 9, 10, 11), async (drawn, quantity) => {
          const platform = await startPlatform({ start: new Date(FIRST).toISOString() });
          const other = await platform.again();
          const shipped = { product_type: "physical_sim", delivery_method: "shipping" } as const;
          const ids: Record<string, string> = await addProducts(
            platform.store,
            skus.map((sku, at) => ({ sku, name: sku, ...shipped, ...starts[at] })),
          );
          const partners = new Map<string, Caller>();
          for (const list of lists) {
            await platform.store.write(createPriceList, { name: list, actor });
            partners.set(list, await platform.caller({ slug: list, live: true }));
            await listed(platform, list, list);
            const { partnerId } = partners.get(list) ?? { partnerId: null };
            if (partnerId !== null) await platform.fund(partnerId, 100_000_000);
          }
          const known = priceModel();
          const seen = new Map<string, Seen>();
          for (const one of drawn) {
            await take(platform, other, known, one);
            for (const list of lists) {
              const caller = partners.get(list);
              if (caller === undefined) throw new Error("a partner is missing");
              const fresh = await renewed(platform, caller);
              await agree({ platform, caller: fresh, list, known, ids, quantity, seen });
            }
          }
        }),
        { numRuns },
      );
    },
  );
});
