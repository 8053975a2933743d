import type { PartnerId } from "../kernel/brand.ts";
import type { Environment } from "../kernel/environment.ts";
import { type Named, searchForPerson } from "../kernel/person-search.ts";
import { digestsOf, indexScopes } from "../store/sealing/people.ts";
import type { Read } from "../store/store.ts";

/** The customer that a list is narrowed to. */
export interface CustomerFilter {
  /** What leads to the records that may be meant (see `namedIn`); null: too little was typed, any record may be. */
  digests: string | null;
  /** Whether a customer is meant, whom `known` opens where that must be known. */
  fits(known: () => Named | null): boolean;
}

/** The records whose customer has this address, or a name with words that begin so; of one partner or of all. */
export async function customerFilter(
  q: Read,
  typed: string | undefined,
  whose: { partnerId?: PartnerId | undefined; environment: Environment },
): Promise<CustomerFilter> {
  if (typed === undefined) return { digests: null, fits: () => true };
  const search = searchForPerson(typed);
  if (search === null) return { digests: null, fits: () => false };
  // Every word of three letters or more is also under its beginning.
  const keys = search.passes.at(-1);
  const isShort = !typed.includes("@") && search.passes.length === 1;
  return {
    digests: keys === undefined || isShort ? null : digestsOf(q, await indexScopes(q, whose), keys),
    fits(known) {
      const named = known();
      return named !== null && search.fits(named);
    },
  };
}
