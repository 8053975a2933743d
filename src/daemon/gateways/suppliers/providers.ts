import { hash } from "node:crypto";
import { Agent } from "undici";
import { isRefused } from "../../../core/kernel/http-url.ts";
import type { ProviderAdapter } from "../../../core/store/schema/values.ts";
import type { Store } from "../../../core/store/store.ts";
import { isProvider, type SupplierContact } from "../../../core/suppliers/supplier.ts";
import { createAiralo } from "./airalo/adapter.ts";
import { createProviderCalls } from "./calls.ts";
import { createEsimaccess } from "./esimaccess/adapter.ts";
import { createEsimgo } from "./esimgo/adapter.ts";
import type { Provider, ProviderParts } from "./provider.ts";

/** Providers' APIs over connections that are kept alive. */
export interface Providers {
  /** The API of a supplier, as it is set now; null: it is no provider, or lacks its secret or a safe address. */
  of(contact: SupplierContact): Provider | null;
  close(): Promise<void>;
}

/** How long a connection may take to open (ms). */
const CONNECT_MS = 10_000;

/** What reaching providers needs: where the limits are that all share, and the clock (ms). */
interface ProvidersNeed {
  store: Pick<Store, "read" | "write">;
  now: () => number;
}

/** Reaches providers for one piece of work, and ends the connections after it. */
export async function usingProviders<T>(need: ProvidersNeed, work: (providers: Providers) => Promise<T>): Promise<T> {
  const providers = createProviders(need);
  try {
    return await work(providers);
  } finally {
    await providers.close();
  }
}

/** Makes the APIs of providers. */
export function createProviders({ store, now }: ProvidersNeed): Providers {
  const dispatcher = new Agent({ connect: { timeout: CONNECT_MS } });
  /** Each as it was made last: what its requests share stays shared. */
  const made = new Map<string, { of: string; provider: Provider }>();
  return {
    of({ name: supplier, adapter, url, insecure, secret }) {
      if (!isProvider(adapter) || url === null || secret === null || isRefused({ url, insecure })) return null;
      const of = hash("sha256", [adapter, url, secret.reveal()].join("\n"));
      const known = made.get(supplier);
      if (known?.of === of) return known.provider;
      const base = url.replace(/\/+$/, "");
      const calls = createProviderCalls({ store, dispatcher, supplier, url: base });
      const provider = adapters[adapter]({ calls, secret, url: base, now });
      made.set(supplier, { of, provider });
      return provider;
    },
    close: () => dispatcher.close(),
  };
}

/** Every provider's adapter. */
export const adapters: Record<ProviderAdapter, (parts: ProviderParts) => Provider> = {
  esimaccess: createEsimaccess,
  airalo: createAiralo,
  esimgo: createEsimgo,
};
