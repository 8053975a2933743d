import type { Checked } from "../kernel/checked.ts";
import { currencyDecimals } from "../kernel/money.ts";
import type { FieldErrors } from "../kernel/problem.ts";
import {
  type DeliveryMethod,
  deliveryMethods,
  type PlanType,
  type ProductStatus,
  type ProductType,
  planTypes,
  productStatuses,
  productTypes,
} from "../store/schema/values.ts";
import { resolveCoverage } from "./coverage.ts";

/** A product to be imported: the API's names and types. */
export interface ProductInput {
  sku: string;
  name: string;
  description: string | null;
  region: string;
  coverage: string[];
  data_amount_mb: number;
  validity_days: number;
  price_cents: number;
  currency: string;
  type: PlanType;
  status: ProductStatus;
  product_type: ProductType;
  delivery_method: DeliveryMethod;
  supplier: string | null;
  features: string[] | null;
  activation_policy: string | null;
  network_type: string | null;
  compatible_devices: string[] | null;
}

/** Which deliveries fit which kind of product. */
const deliveriesOf: Readonly<Record<ProductType, readonly DeliveryMethod[]>> = {
  physical_sim: ["shipping"],
  esim_qr_pregen: ["stock"],
  esim_qr_api: ["supplier_api", "supplier_email"],
  esim_eid_push: ["eid_push", "supplier_email"],
};

const NEEDS_SUPPLIER: readonly DeliveryMethod[] = ["supplier_api", "supplier_email", "eid_push"];

/** Checks one product of an import; names every bad field in words. Unknown fields are ignored. */
export function checkProduct(given: Record<string, unknown>): Checked<ProductInput, FieldErrors> {
  const errors: FieldErrors = {};
  const read = fieldReader(given, errors);
  const product: ProductInput = {
    sku: read.text("sku", 100),
    name: read.text("name", 200),
    description: read.optionalText("description", 5000),
    region: read.text("region", 100),
    coverage: read.texts("coverage") ?? read.missing("coverage", []),
    data_amount_mb: read.integer("data_amount_mb", 0),
    validity_days: read.integer("validity_days", 1),
    price_cents: read.integer("price_cents", 0),
    currency: read.text("currency", 3),
    type: read.oneOf("type", planTypes),
    status: read.oneOf("status", productStatuses, "active"),
    product_type: read.oneOf("product_type", productTypes),
    delivery_method: read.oneOf("delivery_method", deliveryMethods),
    supplier: read.optionalText("supplier", 100),
    features: read.texts("features"),
    activation_policy: read.optionalText("activation_policy", 1000),
    network_type: read.optionalText("network_type", 100),
    compatible_devices: read.texts("compatible_devices"),
  };
  if (Object.keys(errors).length === 0) checkTogether(product, errors);
  return Object.keys(errors).length === 0 ? { ok: product } : { problems: errors };
}

/** The same for a row of an import, whose coverage becomes ISO codes; what is no country is named. */
export function checkImportedProduct(given: Record<string, unknown>): Checked<ProductInput, FieldErrors> {
  const checked = checkProduct(given);
  const listed: unknown = given.coverage;
  if (!Array.isArray(listed) || !listed.every((entry) => typeof entry === "string")) return checked;
  const coverage = resolveCoverage(listed);
  if ("ok" in coverage) {
    return "ok" in checked && coverage.ok.length > 0 ? { ok: { ...checked.ok, coverage: coverage.ok } } : checked;
  }
  const others = "ok" in checked ? {} : checked.problems;
  return { problems: { ...others, coverage: [...coverage.problems] } };
}

function checkTogether(product: ProductInput, errors: FieldErrors): void {
  if (currencyDecimals(product.currency) === null) errors.currency = ["must be an ISO 4217 code such as AUD"];
  const fitting = deliveriesOf[product.product_type];
  if (!fitting.includes(product.delivery_method)) {
    errors.delivery_method = [`must be ${fitting.join(" or ")} for ${product.product_type}`];
  } else if (NEEDS_SUPPLIER.includes(product.delivery_method) && product.supplier === null) {
    errors.supplier = [`is required for ${product.delivery_method}`];
  }
}

function fieldReader(given: Record<string, unknown>, errors: FieldErrors) {
  const refuse = <T>(field: string, words: string, instead: T): T => {
    errors[field] = [words];
    return instead;
  };
  const absent = (field: string) => given[field] === undefined || given[field] === null || given[field] === "";
  const optionalText = (field: string, max: number): string | null => {
    if (absent(field)) return null;
    const value = given[field];
    if (typeof value !== "string") return refuse(field, "must be text", null);
    const text = value.trim();
    if (/\0/.test(text) || !text.isWellFormed()) return refuse(field, "has characters that are no text", null);
    return text.length > max ? refuse(field, `must be at most ${max} characters`, null) : text || null;
  };
  return {
    optionalText,
    missing: <T>(field: string, instead: T): T => (errors[field] ? instead : refuse(field, "is required", instead)),
    text(field: string, max: number): string {
      const text = optionalText(field, max);
      return text ?? this.missing(field, "");
    },
    texts(field: string): string[] | null {
      if (absent(field)) return null;
      const value: unknown = given[field];
      const list = Array.isArray(value) ? value : null;
      if (list === null || !list.every((item): item is string => typeof item === "string")) {
        return refuse(field, "must be a list of texts", null);
      }
      const kept = list.map((item) => item.trim()).filter((item) => item !== "");
      return kept.length === 0 ? null : kept;
    },
    integer(field: string, least: number): number {
      if (absent(field)) return refuse(field, "is required", 0);
      const value = given[field];
      if (typeof value !== "number" || !Number.isSafeInteger(value) || value < least) {
        return refuse(field, `must be a whole number of at least ${least}`, 0);
      }
      return value;
    },
    oneOf<T extends string>(field: string, allowed: readonly [T, ...T[]], otherwise?: T): T {
      if (absent(field)) return otherwise ?? refuse(field, "is required", allowed[0]);
      const found = allowed.find((value) => value === given[field]);
      return found ?? refuse(field, `must be one of ${allowed.join(", ")}`, allowed[0]);
    },
  };
}
