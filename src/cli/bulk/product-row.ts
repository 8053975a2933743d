import { checkImportedProduct, type ProductInput } from "../../core/catalog/product-input.ts";
import { type Checked, fieldSentences } from "../../core/kernel/checked.ts";
import { currencyDecimals, parseMoney } from "../../core/kernel/money.ts";
import { Problem } from "../../core/kernel/problem.ts";
import type { CsvRow } from "../csv/open.ts";

/** Checks one row of a product file: its texts become what the API's names and types say. */
export function checkProductRow(row: Pick<CsvRow, "values">): Checked<ProductInput> {
  const { price = "", coverage = "", features = "", compatible_devices = "", ...texts } = row.values;
  const problems: string[] = [];
  const given: Record<string, unknown> = {
    ...texts,
    currency: (texts.currency ?? "").toUpperCase(),
    coverage: [coverage],
    features: parts(features),
    compatible_devices: parts(compatible_devices),
    data_amount_mb: wholeNumber(texts.data_amount_mb),
    validity_days: wholeNumber(texts.validity_days),
    price_cents: priceOf(texts.price_cents ?? "", price, (texts.currency ?? "").toUpperCase(), problems),
  };
  return checked(given, problems);
}

/** Checks one product as it is in a JSON file. */
export function checkProductRecord(record: unknown): Checked<ProductInput> {
  if (typeof record !== "object" || record === null || Array.isArray(record)) {
    return { problems: ["must be an object with the fields of a product"] };
  }
  return checked({ ...record }, []);
}

function checked(given: Record<string, unknown>, problems: string[]): Checked<ProductInput> {
  const checked = checkImportedProduct(given);
  if ("ok" in checked) return problems.length === 0 ? checked : { problems };
  const named = problems.length === 0 ? checked.problems : { ...checked.problems, price_cents: [] };
  return { problems: [...problems, ...fieldSentences(named)] };
}

/** Lists in a cell are written with | between. */
function parts(cell: string): string[] {
  return cell.split("|").map((part) => part.trim());
}

/** A cell's whole number; anything else stays as it is, for the check to name. */
function wholeNumber(cell: string | undefined): number | string | undefined {
  return cell !== undefined && /^\d+$/.test(cell) ? Number(cell) : cell;
}

function priceOf(cents: string, price: string, currency: string, problems: string[]) {
  if (price === "") return wholeNumber(cents);
  if (cents !== "") problems.push("price and price_cents are both given");
  // The currency's own fault is named with the currency.
  if (currencyDecimals(currency) === null) return 0;
  try {
    return parseMoney(price, currency, "price");
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    problems.push(...(error.errors?.price ?? []).map((words) => `price ${words}`));
    return 0;
  }
}
