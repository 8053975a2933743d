import { statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { type Partner, requirePartner, toPartner } from "./partner.ts";

const all = statement((db, t, _slot) => db.select().from(t.partners).orderBy(t.partners.slug));

/** Every partner, by slug. */
export async function listPartners(q: Read, _input: null): Promise<Partner[]> {
  return (await all(q, {})).map(toPartner);
}

/** One partner. Throws `not_found`. */
export async function showPartner(q: Read, slug: string): Promise<Partner> {
  return toPartner(await requirePartner(q, slug));
}
