/** The columns of every file that commands read in bulk. Design: terminal, "Files it reads". */

import type { CsvSpec } from "../../core/csv/columns.ts";
import { identityNames, passportNames, requiredFields, simNames } from "../../core/kernel/identity-fields.ts";
import { ruleFields } from "../../core/prices/rule-input.ts";

/** Keeps the column names as types, so that `row.values` knows them. */
function spec<const C extends string>(it: CsvSpec<C>): CsvSpec<C> {
  return it;
}

/** `products import`. */
export const productsCsv = spec({
  columns: [
    "sku",
    "name",
    "description",
    "region",
    "coverage",
    "data_amount_mb",
    "validity_days",
    "price_cents",
    "price",
    "currency",
    "type",
    "status",
    "product_type",
    "delivery_method",
    "supplier",
    "features",
    "activation_policy",
    "network_type",
    "compatible_devices",
  ],
  needs: [
    "sku",
    "name",
    "region",
    "coverage",
    "data_amount_mb",
    "validity_days",
    [["price_cents"], ["price"]],
    "currency",
    "type",
    "product_type",
    "delivery_method",
  ],
});

/** `prices import`: each row is one rule. */
export const pricesCsv = spec({
  columns: ruleFields,
  needs: [
    [["sku"], ["region"]],
    [["price"], ["markup"]],
  ],
  samples: { region: "", price: "3.10", min_quantity: "10", from: "", to: "" },
});

/** `stock import`. */
export const stockCsv = spec({
  columns: ["iccid", "smdp_address", "matching_id", "confirmation_code", "activation_code"],
  needs: ["iccid", [["smdp_address", "matching_id"], ["activation_code"]]],
});

/** `passports import`. */
export const passportsCsv = spec({
  columns: passportNames,
  needs: requiredFields,
  foreign: { iccid: "SIMs to be activated go in by esimctl activations submit; leave the column out otherwise." },
});

/** `passports verify --file`. */
export const passportVerdictsCsv = spec({
  columns: ["passport_country", "passport_no", "result", "onshore", "reason"],
  needs: ["passport_country", "passport_no", "result"],
});

/** `activations submit`. */
export const activationsCsv = spec({
  columns: [
    "iccid",
    "activation_date",
    ...identityNames,
    ...simNames,
    "customer_email",
    "customer_phone",
    "plan_name",
    "note",
    "confirm_date_change",
  ],
  needs: ["iccid", "activation_date"],
});

/** `activations cancel --file` and `activations reschedule --file`. */
export const activationChangesCsv = spec({
  columns: ["activation_id", "iccid", "requested_activation_date", "note"],
  needs: [[["activation_id"], ["iccid"]]],
});

/** `esims usage import`. */
export const usageCsv = spec({
  columns: ["iccid", "used_mb", "total_mb", "country", "network", "at"],
  needs: ["iccid", "used_mb"],
});

/** `orders bulk`: rows with the same external_order_id are lines of one order. */
export const bulkOrdersCsv = spec({
  columns: ["external_order_id", "sku", "product_id", "quantity", "customer_email", "customer_name", "customer_phone"],
  needs: ["external_order_id", [["sku"], ["product_id"]], "quantity", "customer_email", "customer_name"],
});
