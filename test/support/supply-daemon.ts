import type { ProductId } from "../../src/core/kernel/brand.ts";
import { systemClock } from "../../src/core/kernel/clock.ts";
import { randomIds } from "../../src/core/kernel/ids.ts";
import { openStore } from "../../src/core/store/open/open.ts";
import type { ProviderAdapter } from "../../src/core/store/schema/values.ts";
import { readMasterKey } from "../../src/core/store/sealing/key-files.ts";
import { simulateEsimgo } from "../../src/daemon/simulators/esimgo.ts";
import type { SimulatedProvider } from "../../src/daemon/simulators/provider.ts";
import { locationOf } from "./database.ts";
import { addRate } from "./rates.ts";
import { keyFileOf, openShop, type Shop } from "./shop.ts";
import { temporaryDirectory } from "./store.ts";
import { addSources, type Double, startDouble } from "./supply.ts";

/** A shop that a daemon can serve, with the simulated providers of its product JP1, in their order. */
export interface ServedSupplyShop {
  shop: Shop;
  doubles: Double[];
  product: ProductId;
}

/**
 * A provider that grants every call, for processes that are killed before the answer: what a limit refused then was not
 * done, and is looked for all minutes in which it might be found.
 */
export function granting(provider: SimulatedProvider): SimulatedProvider {
  return provider.name === "esimgo" ? simulateEsimgo({ tokens: 10_000 }) : provider;
}

/** Makes one, in which costs in USD can be priced; of each provider it sells what `made` makes of it. */
export async function openSupplyShop(
  adapters: readonly ProviderAdapter[],
  url: string | undefined,
  made?: Parameters<typeof startDouble>[2],
): Promise<ServedSupplyShop> {
  const folder = temporaryDirectory();
  const shop = await openShop({ folder, url, stock: {}, priceCents: 1_000, fundsCents: 100_000_000 });
  const doubles: Double[] = [];
  for (const adapter of adapters) doubles.push(await startDouble(adapter, Date.now, made));
  const { served } = shop;
  const masterKey = readMasterKey(keyFileOf(served));
  const store = await openStore(locationOf(served), { clock: systemClock, ids: randomIds(), masterKey });
  const product = await addSources(store, adapters, doubles);
  await addRate(store, { from: "USD", to: "AUD", day: "2026-01-01", rate: "1.52" });
  await store.close();
  return { shop, doubles, product };
}
