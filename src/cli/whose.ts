import type { PartnerId } from "../core/kernel/brand.ts";
import type { Environment } from "../core/kernel/environment.ts";
import { partnerById } from "../core/partners/partner.ts";
import type { Store } from "../core/store/store.ts";

/** What belongs to a partner; null: to none yet. */
interface Owned {
  partner_id: PartnerId | null;
  environment: Environment;
}

/** "acme, production": whose something is, for whoever confirms what is done to it. */
export async function whose(store: Store, owned: Owned): Promise<string> {
  const { partner_id, environment } = owned;
  return partner_id === null ? environment : `${(await store.read(partnerById, partner_id)).slug}, ${environment}`;
}
