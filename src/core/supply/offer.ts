import { dataWords, dayWords } from "../catalog/data-words.ts";
import { checkImportedProduct, type ProductInput } from "../catalog/product-input.ts";
import type { Cost } from "../kernel/brand.ts";
import type { Checked } from "../kernel/checked.ts";
import { costOf } from "../kernel/cost.ts";
import { countryName } from "../kernel/country.ts";
import type { Plan } from "./provider.ts";

/** For how many days daily plans are sold. */
const DAYS = [1, 3, 5, 7, 10, 15, 30] as const;

/** What a sync keeps of a product as its supplier has it; its name and its SKU are set once. */
export type Facts = Pick<
  ProductInput,
  | "region"
  | "coverage"
  | "data_amount_mb"
  | "validity_days"
  | "type"
  | "features"
  | "activation_policy"
  | "network_type"
>;

/** A plan as it is sold: a daily plan for so many days is one, another number of days is another. */
export interface Offer {
  plan: string;
  days: number | null;
  name: string;
  /** What one unit costs. */
  cost: Cost;
  currency: string;
  facts: Facts;
}

/** All that a plan is sold as. */
export function offersOf(plan: Plan): Offer[] {
  const days = plan.daily ? DAYS : [null];
  return days.flatMap((each) => offerOf(plan, each) ?? []);
}

/** A plan for a number of days, null for one with its own validity. Null: it is not sold like this. */
export function offerOf(plan: Plan, days: number | null): Offer | null {
  if (plan.daily !== (days !== null)) return null;
  const count = days ?? 1;
  const cost = plan.cost * count;
  if (!Number.isSafeInteger(cost)) return null;
  const { plan: code, currency, voice, activation, speed } = plan;
  return {
    plan: code,
    days,
    name: cut(days === null ? plan.name : `${plan.name}, ${dayWords(days)}`, 200),
    cost: costOf(cost),
    currency,
    facts: {
      region: cut(plan.region ?? plan.coverage.map(countryName).join(", "), 100),
      coverage: plan.coverage,
      data_amount_mb: plan.unlimited ? 0 : plan.dataMb * count,
      validity_days: days ?? plan.validityDays,
      type: voice ? "voice_data" : "data_only",
      features: featuresOf(plan),
      activation_policy: activation === null ? null : cut(activation, 1_000),
      network_type: speed === null ? null : cut(speed, 100),
    },
  };
}

/** What makes an offer a product of its own. */
interface Own {
  sku: string;
  supplier: string;
  price_cents: number;
  currency: string;
}

/** An offer as a product that is bought of its supplier unit by unit. */
export function productOf({ name, facts }: Offer, own: Own): ProductInput {
  return {
    ...{ ...own, ...facts, name, description: null, compatible_devices: null },
    ...{ status: "active", product_type: "esim_qr_api", delivery_method: "supplier_api" },
  };
}

/** An offer as the catalog takes it, its texts as they are stored; or in words why it takes none such. */
export function checkOffer(offer: Offer, own: Pick<Own, "sku" | "supplier">): Checked<Offer> {
  if (offer.cost === 0) return { problems: ["costs nothing there, which may be a fault of the catalog"] };
  const { currency } = offer;
  const checked = checkImportedProduct({ ...productOf(offer, { ...own, price_cents: 0, currency }) });
  if ("problems" in checked) {
    return { problems: Object.entries(checked.problems).map(([field, words]) => `${field} ${words?.join(", ")}`) };
  }
  const { ok } = checked;
  const names = Object.keys(offer.facts) as (keyof Facts)[]; // it has these keys and no others
  const facts = { ...offer.facts, ...Object.fromEntries(names.map((field) => [field, ok[field]])) };
  return { ok: { ...offer, name: ok.name, facts } };
}

/** The SKU of an offer's own product. */
export function skuOf({ plan, days }: Offer, prefix: string): string {
  return `${prefix}${plan}${days === null ? "" : `-${days}`}`;
}

function featuresOf({ daily, unlimited, dataMb, networks, notes }: Plan): string[] | null {
  const features = [
    ...(unlimited ? ["Unlimited data"] : []),
    ...(daily && !unlimited ? [`${dataWords(dataMb)} a day`] : []),
    ...(networks.length === 0 ? [] : [cut(`Networks: ${networks.join(", ")}`, 500)]),
    ...notes.map((note) => cut(note, 500)),
  ];
  const kept = features.map((one) => one.trim()).filter((one) => one !== "");
  return kept.length === 0 ? null : kept;
}

function cut(text: string, most: number): string {
  const plain = text.trim();
  return plain.length > most ? `${plain.slice(0, most - 1).trimEnd()}…` : plain;
}
