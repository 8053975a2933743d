import type { PartnerId } from "../../core/kernel/brand.ts";
import type { Environment } from "../../core/kernel/environment.ts";
import type { Store } from "../../core/store/store.ts";

/** What belongs to a partner; null: to none yet. */
interface Owned {
  partner_id: PartnerId | null;
  environment: Environment;
}

/** "acme, production": the owner of something, for the confirmation of an act on it. */
export async function whose(store: Store, owned: Owned): Promise<string> {
  const { partner_id, environment } = owned;
  if (partner_id === null) return environment;
  const { partnerById } = await import("../../core/partners/partner.ts");
  return `${(await store.read(partnerById, partner_id)).slug}, ${environment}`;
}
