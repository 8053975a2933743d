import { listPartners } from "../partners/partner.ts";
import type { Read } from "../store/store.ts";

/** Every partner's slug by its id. */
export async function partnerNames(q: Read): Promise<Map<string, string>> {
  return new Map((await listPartners(q, null)).map(({ id, slug }) => [id, slug]));
}
