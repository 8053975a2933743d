import { priceOfCost } from "../kernel/cost.ts";
import { countryName, coverageKey } from "../kernel/country.ts";
import { regionKey } from "../kernel/search-keys.ts";
import type { Row } from "../store/schema/tables.ts";
import type { SupplierRow } from "../suppliers/supplier.ts";
import type { Plan } from "../supply/provider.ts";

/** For how many days a daily plan is offered. */
const DAILY_DAYS = [1, 3, 5, 7, 10, 15, 30] as const;

/** A top-up plan of a supplier as a product is made from it. */
export interface PricedPlan {
  plan: Plan;
  /** How many days a daily plan is bought for; null: the plan has its own validity. */
  days: number | null;
  /** The cost of all days, in 1/10,000 of the plan's currency. */
  cost: number;
  price_cents: number;
  currency: string;
}

/** How a supplier's costs become prices. */
export interface Pricing {
  supplier: Pick<SupplierRow, "name" | "markup_points" | "sku_prefix">;
  currency: string;
  /** Units of the currency for one of the plan's; null: no rate is known. */
  rateFrom: (currency: string) => string | null;
}

/** A plan with its price, a daily one once for each number of days; none where its cost cannot be converted. */
export function pricedPlans(plan: Plan, { supplier, currency, rateFrom }: Pricing): PricedPlan[] {
  const rate = rateFrom(plan.currency);
  if (rate === null) return [];
  const markupPoints = supplier.markup_points ?? 0;
  return (plan.daily ? DAILY_DAYS : [null]).flatMap((days) => {
    const cost = plan.cost * (days ?? 1);
    const price_cents = Number.isSafeInteger(cost) ? priceOfCost({ cost, rate, markupPoints, currency }) : null;
    return price_cents === null ? [] : [{ plan, days, cost, price_cents, currency }];
  });
}

/** The SKUs that a plan's product may have, the first that is free: the plan may be sold in several currencies. */
export function skusOf({ plan, days, currency }: PricedPlan, { name, sku_prefix }: Pricing["supplier"]): string[] {
  const sku = `${sku_prefix ?? ""}${plan.plan}${days === null ? "" : `-${days}`}`;
  return [sku, `${sku}-${currency}`, `${sku}-${name}-${currency}`];
}

/** What the product of a top-up plan says, beside its ID, SKU and moments. */
export function topupProduct({ plan, days, cost, price_cents, currency }: PricedPlan, supplier: string) {
  const [country] = plan.coverage;
  const region = plan.region ?? (country === undefined ? "Global" : countryName(country));
  return {
    name: days === null ? plan.name : `${plan.name}, ${days} ${days === 1 ? "day" : "days"}`,
    description: null,
    region,
    region_key: regionKey(region),
    coverage: plan.coverage,
    coverage_key: coverageKey(plan.coverage),
    data_amount_mb: plan.unlimited ? 0 : plan.dataMb * (days ?? 1),
    validity_days: plan.validityDays * (days ?? 1),
    price_cents,
    currency,
    type: plan.voice ? "voice_data" : "data_only",
    status: "active",
    product_type: "esim_qr_api",
    delivery_method: "supplier_api",
    supplier,
    purpose: "topup",
    sourced: true,
    cost,
    cost_currency: plan.currency,
    held: null,
    features: plan.notes.length === 0 ? null : plan.notes,
    activation_policy: plan.activation,
    network_type: plan.speed,
    compatible_devices: null,
    low_stock: null,
    when_short: null,
  } as const satisfies Omit<Row<"products">, "id" | "sku" | "created_at" | "updated_at">;
}
