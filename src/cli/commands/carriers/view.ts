import type { Carrier } from "../../../core/carriers/carrier.ts";
import type { Column } from "../../output/sheet.ts";
import { shown, yesNo } from "../../output/words.ts";

/** The keys of a carrier. */
export const CARRIER_JSON =
  "{prefix, name, region, brand, required_fields, adapter, url, insecure, has_secret, timeout_seconds, …}";

export const carrierColumns: Column<Carrier>[] = [
  { title: "prefix", value: (one) => one.prefix },
  { title: "name", value: (one) => one.name, shrinks: true },
  { title: "brand", value: (one) => one.brand, spare: 1 },
  { title: "adapter", value: (one) => one.adapter },
  { title: "address", value: (one) => one.url, shrinks: true, spare: true },
  { title: "needs", value: (one) => one.required_fields.join(", "), wraps: true, spare: 2 },
];

/** A carrier's own fields, for people. */
export function carrierFields(one: Carrier): Record<string, string> {
  return {
    prefix: one.prefix,
    name: shown(one.name),
    region: shown(one.region),
    brand: shown(one.brand),
    adapter: one.adapter,
    address: shown(one.url),
    secret: yesNo(one.has_secret),
    needs: shown(one.required_fields.join(", ")),
    timeout: `${one.timeout_seconds} s`,
    "final answer within": `${one.answer_within_hours} h`,
  };
}
