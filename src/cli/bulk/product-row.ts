import { checkImportedProduct, type ProductInput } from "../../core/catalog/product-input.ts";
import type { CsvRow } from "../../core/csv/rows.ts";
import { type Checked, fieldSentences } from "../../core/kernel/checked.ts";
import { currencyDecimals, parseMoney } from "../../core/kernel/money.ts";
import { Problem } from "../../core/kernel/problem.ts";

/** The unit of `data_amount_mb` in a file; megabytes where none is given. */
export type DataUnit = "mb" | "gb";

const MB_A_GB = 1024;

interface RowManner {
  unit?: DataUnit | undefined;
  /** What is wrong with the row whatever its values say. */
  problems?: readonly string[];
}

/** Checks one row of a product file: its texts become what the API's names and types say. */
export function checkProductRow(row: Pick<CsvRow, "values">, manner: RowManner = {}): Checked<ProductInput> {
  const { price = "", coverage = "", features = "", compatible_devices = "", ...texts } = row.values;
  const problems = [...(manner.problems ?? [])];
  const given: Record<string, unknown> = {
    ...texts,
    currency: (texts.currency ?? "").toUpperCase(),
    coverage: [coverage],
    features: parts(features),
    compatible_devices: parts(compatible_devices),
    data_amount_mb: dataAmount(texts.data_amount_mb, manner.unit, problems),
    validity_days: wholeNumber(texts.validity_days),
    price_cents: priceOf(texts.price_cents ?? "", price, (texts.currency ?? "").toUpperCase(), problems),
  };
  return checked(given, problems);
}

interface RecordManner {
  unit?: DataUnit | undefined;
  /** Values of fields that the record may lack. */
  set?: ReadonlyMap<string, string> | undefined;
}

/** Checks one product as it is in a JSON file. */
export function checkProductRecord(
  record: unknown,
  { unit, set = new Map() }: RecordManner = {},
): Checked<ProductInput> {
  if (typeof record !== "object" || record === null || Array.isArray(record)) {
    return { problems: ["must be an object with the fields of a product"] };
  }
  const problems: string[] = [];
  const given: Record<string, unknown> = { ...Object.fromEntries(set), ...record };
  for (const field of ["data_amount_mb", "validity_days", "price_cents"]) {
    if (set.has(field) && !(field in record)) given[field] = wholeNumber(set.get(field));
  }
  const amount = given.data_amount_mb;
  if (unit === "gb" && typeof amount === "number") given.data_amount_mb = dataAmount(String(amount), unit, problems);
  return checked(given, problems);
}

/** An amount of data in megabytes; anything that is no number stays as it is, for the check to name. */
function dataAmount(cell: string | undefined, unit: DataUnit | undefined, problems: string[]) {
  if (unit !== "gb" || cell === undefined || !/^\d+(\.\d+)?$/.test(cell)) return wholeNumber(cell);
  const megabytes = Number(cell) * MB_A_GB;
  if (Number.isInteger(megabytes)) return megabytes;
  problems.push(`data_amount_mb: ${cell} GB are ${megabytes} MB, which is no whole number`);
  return 0;
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
