import { onTestFinished } from "vitest";
import { findProductBySku } from "../../../src/core/catalog/product.ts";
import type { Row } from "../../../src/core/store/schema/tables.ts";
import type { Store } from "../../../src/core/store/store.ts";
import { setSupplier } from "../../../src/core/suppliers/set.ts";
import { callbackPath, isProvider, supplierContact } from "../../../src/core/suppliers/supplier.ts";
import { noticeEsims } from "../../../src/core/supply/looks.ts";
import { addSource } from "../../../src/core/supply/sources.ts";
import { createProviders } from "../../../src/daemon/gateways/suppliers/providers.ts";
import type { SimulatedProvider } from "../../../src/daemon/simulators/provider.ts";
import { createLooks } from "../../../src/daemon/workers/esim-looks.ts";
import { addProducts } from "../catalog.ts";
import { startPages } from "../pages.ts";
import { type Caller, type Platform, startPlatform } from "../platform.ts";
import { settled } from "../pool.ts";
import { placeOrder, supplyWorker } from "../supplies.ts";
import { startProvider } from "./start.ts";

/** The supplier's name, and the product's. */
export const SUPPLIER = "skyline";
const SKU = "JP-7D";
/** What one unit costs the partner. */
export const PRICE_CENTS = 900;

/** A plan of the provider, and what it costs (1/10,000 USD). */
interface Offer {
  plan: string;
  cost: number;
}

/** A platform with a product that is bought from a simulated provider, and a partner with money; one clock for all. */
export async function startProviderShop(
  double: SimulatedProvider,
  { start, pages, ...offer }: Offer & { start?: string; pages?: true },
) {
  const options = start === undefined ? {} : { start };
  const platform = await (pages ? startPages(options) : startPlatform(options));
  const { store, clock } = platform;
  const provider = await startProvider(double, { now: clock.now });
  const product = await sell(store, { double, url: provider.url, offer });
  const buyer = await platform.caller({ live: true });
  await platform.fund(buyer.partnerId, 100_000);
  const providers = createProviders({ store, now: clock.now });
  onTestFinished(() => providers.close());
  const log = { error: (...words: unknown[]) => console.error(...words), warn() {} };
  const looks = createLooks({ store, providers, now: clock.now, log });
  const path = (await store.read(callbackPath, SUPPLIER))?.reveal();
  /** The partner with a token that is valid now. */
  const current = () => platform.credential("partner-1", { live: true });
  return {
    ...platform,
    provider,
    providers,
    buyer,
    current,
    callback: `${platform.url}/callbacks/suppliers/${SUPPLIER}/${path}`,
    buy: (quantity = 1) => bought(platform, buyer, { product, quantity }),
    /** The same one by one, in orders of one unit. */
    async buyEach(count: number): Promise<string[]> {
      const iccids: string[] = [];
      for (let one = 0; one < count; one++)
        iccids.push(...(await bought(platform, buyer, { product, quantity: 1 })).iccids);
      return iccids;
    },
    /** Makes every look that is due; answers how many. */
    look: () => settled(looks),
    row: (iccid: string) => rowOf(store, iccid),
    status: async (iccid: string) => (await (await current()).get(`/api/v1/esims/${iccid}/status`)).body,
    events: () => eventsIn(store),
    /** Has an eSIM looked up as a notice does. */
    notice: (iccid: string) => store.write(noticeEsims, { supplier: SUPPLIER, esims: [{ iccid, reference: null }] }),
    /** The provider's API, as the daemon reaches it. */
    async api() {
      const contact = await store.read(supplierContact, SUPPLIER);
      const api = contact === null ? null : providers.of(contact);
      if (api === null) throw new Error("no provider");
      return api;
    },
    /** Adds a product that is delivered from stock. */
    addStocked: async () => (await addProducts(store, [{ sku: "EU5" }])).EU5,
  };
}

/** Sets the provider up as a supplier, with one product that is bought there. */
async function sell(store: Store, { double, url, offer }: { double: SimulatedProvider; url: string; offer: Offer }) {
  const { name: adapter, secret } = double;
  if (!isProvider(adapter)) throw new Error("a double is a provider");
  await store.write(setSupplier, { name: SUPPLIER, settings: { adapter, url, secret }, actor: "test" });
  const fields = { product_type: "esim_qr_api", delivery_method: "supplier_api", supplier: SUPPLIER } as const;
  const size = { price_cents: PRICE_CENTS, validity_days: 7, data_amount_mb: 1024 };
  await addProducts(store, [{ sku: SKU, ...fields, ...size }]);
  const source = { sku: SKU, supplier: SUPPLIER, supplierSku: offer.plan, priority: 1, days: null, cost: offer.cost };
  await store.write(addSource, { ...source, currency: "USD", actor: "test" });
  return (await store.read(findProductBySku, SKU))?.id;
}

/** Orders units and has them bought; the order's id and the ICCIDs. */
async function bought(
  platform: Platform,
  buyer: Caller,
  { product, quantity }: { product: string | undefined; quantity: number },
): Promise<{ order: string; iccids: string[] }> {
  const { store, clock } = platform;
  const supplies = supplyWorker(store, clock.now);
  const order = await placeOrder(buyer, product, quantity);
  await platform.fulfill();
  for (let round = 0; round < 60 + 10 * quantity; round++) {
    await settled(supplies);
    const { body } = await buyer.get(`/api/v1/orders/${order}/esims`);
    if (body.count === quantity) return { order, iccids: body.esims.map(({ iccid }: { iccid: string }) => iccid) };
    clock.advance(2_000);
  }
  const attempts = await store.read(async (q) => q.db.select().from(q.t.itemAttempts), null);
  throw new Error(`it was not delivered: ${attempts.map(({ outcome, answer }) => `${outcome} ${answer}`).join(", ")}`);
}

async function rowOf(store: Store, iccid: string): Promise<Row<"esims">> {
  const all = await store.read(async (q) => q.db.select().from(q.t.esims), null);
  const found = all.filter((one) => one.iccid === iccid).at(-1);
  if (found === undefined) throw new Error(`no eSIM ${iccid}`);
  return found;
}

/** The events of eSIMs and refunds. */
async function eventsIn(store: Store) {
  const all = await store.read(async (q) => q.db.select().from(q.t.events), null);
  return all
    .filter(({ kind }) => kind.startsWith("esim.") || kind === "order.refunded")
    .map(({ kind, data }) => ({ kind, data }));
}
