import type { ProviderAdapter } from "../../../core/store/schema/values.ts";
import { createAiralo } from "./airalo/adapter.ts";
import { createEsimaccess } from "./esimaccess/adapter.ts";
import { createEsimgo } from "./esimgo/adapter.ts";
import type { Provider, ProviderParts } from "./provider.ts";

/** Every provider's adapter. */
export const adapters: Record<ProviderAdapter, (parts: ProviderParts) => Provider> = {
  esimaccess: createEsimaccess,
  airalo: createAiralo,
  esimgo: createEsimgo,
};
