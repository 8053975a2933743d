import { onTestFinished } from "vitest";
import type { ProductId } from "../../src/core/kernel/brand.ts";
import type { ProviderAdapter } from "../../src/core/store/schema/values.ts";
import type { Store } from "../../src/core/store/store.ts";
import { waitingItems } from "../../src/core/supplier-requests/due.ts";
import { setSupplier } from "../../src/core/suppliers/set.ts";
import { addSource } from "../../src/core/supply/sources.ts";
import type { SimulatedProvider } from "../../src/daemon/simulators/provider.ts";
import { serveSimulator, simulators } from "../../src/daemon/simulators/serve.ts";
import type { Steered } from "../../src/daemon/simulators/steering.ts";
import { addProducts } from "./catalog.ts";
import { type Caller, type Platform, startPlatform } from "./platform.ts";
import { settled } from "./pool.ts";
import { placeOrder, supplyWorker } from "./supplies.ts";

/** A plan of one gigabyte for a week in Japan, as each provider names it, and what it costs there (1/10,000 USD). */
export const plans: Record<ProviderAdapter, { supplierSku: string; cost: number }> = {
  esimaccess: { supplierSku: "CJP101", cost: 7_000 },
  airalo: { supplierSku: "hinode-7days-1gb", cost: 36_000 },
  esimgo: { supplierSku: "esim_1GB_7D_JP_V2", cost: 21_000 },
};

/** A simulated provider, served on loopback. */
export interface Double {
  url: string;
  secret: string;
  steer(steered: Partial<Steered> & Pick<Steered, "on" | "outcome">): Promise<void>;
  state(): Promise<{ calls: number; bought: number; balance: string; by: Record<string, number> }>;
  phone(played: { iccid: string; state?: string; used_mb?: number; repeat?: boolean }): Promise<unknown>;
  /** What was steered and is not used up is forgotten. */
  release(): Promise<void>;
  /** Ends it: connections to it are refused from then on. */
  close(): Promise<void>;
  /** Serves it again where it was, with what it sold before. */
  reopen(): Promise<void>;
}

/** Serves a provider's double, or what is made of it, with a clock; ended with the test. */
export async function startDouble(
  name: ProviderAdapter,
  now: () => number,
  made: (provider: SimulatedProvider) => SimulatedProvider = (provider) => provider,
): Promise<Double> {
  const load = simulators.get(name);
  if (load === undefined) throw new Error(`${name} is not simulated`);
  const provider = made(await load());
  let served = await serveSimulator(provider, { port: 0, now });
  onTestFinished(() => served.close());
  const { url, port } = served;
  const control = async (method: string, path: string, body?: object) => {
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${url}/_simulate${path}`, { method, ...init });
    const read = await response.json();
    if (response.status !== 200) throw new Error(`${response.status} ${JSON.stringify(read)}`);
    return read;
  };
  return {
    url,
    secret: provider.secret,
    async steer(steered) {
      await control("POST", "", steered);
    },
    state: () => control("GET", ""),
    phone: (played) => control("POST", "/phone", played),
    release: () => control("DELETE", "/steering"),
    close: () => served.close(),
    async reopen() {
      served = await serveSimulator(provider, { port, now });
    },
  };
}

/** A shop whose product JP1 is sold by real adapters of simulated providers, named as their adapters. */
export interface SupplyShop {
  platform: Platform;
  caller: Caller;
  doubles: Record<string, Double>;
  product: ProductId;
  order(quantity?: number): Promise<string>;
  /** Works off all that is due now. */
  work(): Promise<void>;
  /** Works on, and moves the clock to what is due next, until nothing is or `forMs` have passed. */
  settle(forMs?: number): Promise<void>;
  show(id: string): Promise<{ status: string; refunded_cents?: number }>;
  balance(): Promise<number>;
}

/** Puts JP1 into the catalog, with a source at each of these providers: the first has priority 1. Answers its id. */
export async function addSources(
  store: Store,
  adapters: readonly ProviderAdapter[],
  doubles: readonly Pick<Double, "url" | "secret">[],
): Promise<ProductId> {
  const supplied = { product_type: "esim_qr_api", delivery_method: "supplier_api" } as const;
  const ids = await addProducts(store, [{ sku: "JP1", price_cents: 1_000, supplier: adapters[0] ?? "", ...supplied }]);
  for (const [at, adapter] of adapters.entries()) {
    const { url = "", secret = "" } = doubles[at] ?? {};
    await store.write(setSupplier, { name: adapter, settings: { adapter, url, secret }, actor: "test" });
    const plan = { ...plans[adapter], days: null, currency: "USD" };
    await store.write(addSource, { sku: "JP1", supplier: adapter, priority: at + 1, ...plan, actor: "test" });
  }
  if (ids.JP1 === undefined) throw new Error("no product");
  return ids.JP1;
}

/** Starts it: the first adapter has priority 1, the next one 2, … */
export async function supplyShop(adapters: readonly ProviderAdapter[]): Promise<SupplyShop> {
  const platform = await startPlatform({ start: "2026-03-02T01:00:00.000Z" });
  const { store, clock } = platform;
  const doubles: Record<string, Double> = {};
  for (const adapter of adapters) doubles[adapter] = await startDouble(adapter, clock.now);
  const product = await addSources(store, adapters, Object.values(doubles));
  const caller = await platform.caller({ live: true, slug: "acme" });
  await platform.fund(caller.partnerId, 1_000_000);
  const pool = supplyWorker(store, clock.now);
  const work = async () => {
    await platform.fulfill();
    await settled(pool);
    await platform.fulfill();
  };
  return {
    platform,
    caller,
    doubles,
    product,
    order: (quantity = 1) => placeOrder(caller, product, quantity),
    work,
    async settle(forMs = 3_600_000) {
      const end = clock.now() + forMs;
      for (;;) {
        await work();
        const { due, waitMs } = await store.read(waitingItems, null);
        if (due.length === 0 && (waitMs === null || clock.now() + waitMs > end)) return;
        if (clock.now() > end) throw new Error("it does not settle");
        clock.advance(due.length > 0 ? 50 : Math.max(waitMs ?? 0, 1));
      }
    },
    show: async (id) => (await caller.get(`/api/v1/orders/${id}`)).body,
    balance: async () => (await caller.get("/api/v1/balance")).body.balances[0].balance_cents,
  };
}
