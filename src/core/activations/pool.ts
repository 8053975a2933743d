import type { CarrierRow } from "../carriers/carrier.ts";
import { Problem } from "../kernel/problem.ts";
import type { KycField } from "../store/schema/values.ts";

/** What a drawn passport will bring: such a field is not missing from a line yet. */
export const drawableFields: Partial<Record<KycField, string>> = {
  first_name: "pool",
  last_name: "pool",
  title: "pool",
  date_of_birth: "pool",
  passport_no: "pool",
  passport_country: "pool",
  passport_expiry: "pool",
  address: "pool",
  suburb: "pool",
  state: "pool",
  postcode: "pool",
};

/** Throws `conflict`: nothing in the pool may be used for this carrier on that date. */
export function refuseEmptyPool(carrier: CarrierRow): never {
  throw new Problem(
    "conflict",
    `The pool has no passport left for ${carrier.name}: verified, onshore, valid on the date, under its cap of uses.`,
  );
}
