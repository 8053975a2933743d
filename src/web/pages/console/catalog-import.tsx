import type { ComponentChildren } from "preact";
import { keptNames } from "../../../core/catalog/coverage.ts";
import { importProducts, type ProductOutcome } from "../../../core/catalog/import.ts";
import { type PriceChange, priceChanges, signed } from "../../../core/catalog/price-changes.ts";
import { checkImportedProduct, type ProductInput } from "../../../core/catalog/product-input.ts";
import { findClashes } from "../../../core/csv/clashes.ts";
import { type Checked, fieldSentences } from "../../../core/kernel/checked.ts";
import { counted } from "../../../core/kernel/counted.ts";
import { currencyDecimals, parseMoney } from "../../../core/kernel/money.ts";
import { Problem } from "../../../core/kernel/problem.ts";
import type { Read } from "../../../core/store/store.ts";
import { listSuppliers } from "../../../core/suppliers/supplier.ts";
import { type FileRow, LARGE_FILE } from "../../parts/csv-file.ts";
import { type BadLine, badLines, filePage } from "../../parts/file-page.tsx";
import { outcomeWords } from "../../parts/outcomes.ts";
import { table } from "../../parts/shown.tsx";
import { moneyWords } from "../../parts/words.ts";
import { consolePage } from "../../session/page.ts";
import type { ConsoleVisit, Shown } from "../../session/visit.ts";

/** One transaction takes them all in, and nothing else is written meanwhile. */
const MOST_ROWS = 2_000;

const needs = [
  ...["sku", "name", "region", "coverage", "data_amount_mb", "validity_days"],
  ...[["price", "price_cents"], "currency", "type", "product_type", "delivery_method"],
];

/** A cell's whole number; anything else stays as it is, for the check to name. */
function whole(cell = ""): number | string {
  return /^\d+$/.test(cell) ? Number(cell) : cell;
}

function centsOf({ price = "", price_cents = "", currency = "" }: Record<string, string>): number | string {
  if (price === "") return whole(price_cents);
  // The currency's own fault is named with the currency.
  return currencyDecimals(currency.toUpperCase()) === null ? 0 : parseMoney(price, currency.toUpperCase(), "price");
}

type CsvLine = FileRow<string>;

/** A row as the import takes it: lists are written with | between. */
function checkRow({ values }: CsvLine): Checked<ProductInput> {
  const { coverage = "", features = "", compatible_devices = "", currency = "" } = values;
  try {
    const checked = checkImportedProduct({
      ...values,
      currency: currency.toUpperCase(),
      coverage: [coverage],
      features: features.split("|"),
      compatible_devices: compatible_devices.split("|"),
      data_amount_mb: whole(values.data_amount_mb),
      validity_days: whole(values.validity_days),
      price_cents: centsOf(values),
    });
    return "ok" in checked ? checked : { problems: fieldSentences(checked.problems) };
  } catch (error) {
    if (error instanceof Problem) return { problems: fieldSentences(error.errors ?? {}) };
    throw error;
  }
}

/** What a file was checked to hold. */
interface ProductsFile {
  good: ProductInput[];
  bad: BadLine[];
}

function checkFile(lines: readonly CsvLine[]): ProductsFile {
  const twice = findClashes<CsvLine>(({ values }) => values.sku || null);
  for (const line of lines) twice.see(line);
  const found: ProductsFile = { good: [], bad: [] };
  for (const line of lines) {
    const others = twice.linesOf(line);
    const checked = checkRow(line);
    const problems = [
      ...(others === null ? [] : [`sku is on lines ${others.join(", ")}`]),
      ...("ok" in checked ? [] : checked.problems),
    ];
    if ("ok" in checked && problems.length === 0) found.good.push(checked.ok);
    else found.bad.push({ line: line.line, problems });
  }
  return found;
}

/** What a person should know before products are written. */
async function consider(q: Read, products: readonly ProductInput[]) {
  const known = new Set((await listSuppliers(q, null)).map(({ name }) => name));
  const named = products.flatMap(({ supplier }) => supplier ?? []);
  return {
    prices: await priceChanges(q, products),
    missing: [...new Set(named.filter((name) => !known.has(name)))],
    kept: [...new Set(products.flatMap(({ coverage }) => keptNames(coverage)))],
  };
}

/** Rows that a preview shows; those with doubts come first. */
const MOST_SHOWN = 200;

type Row = readonly [product: ProductInput, outcome: ProductOutcome | undefined];

function productsShown(visit: ConsoleVisit, rows: readonly Row[], prices: PriceChange[]): ComponentChildren {
  const bySku = new Map(prices.map((change) => [change.sku, change]));
  const doubts = ([{ sku }]: Row) => bySku.get(sku)?.doubts ?? [];
  const changed = rows
    .filter(([, outcome]) => outcome !== "duplicate")
    .toSorted((a, b) => Number(doubts(b).length > 0) - Number(doubts(a).length > 0));
  const shown = { caption: "Products that change", rows: changed.slice(0, MOST_SHOWN), empty: "No product changes." };
  return [
    table(visit, shown, [
      { title: "SKU", cell: ([{ sku }]) => sku },
      { title: "Name", cell: ([{ name }]) => name },
      { title: "Is", cell: ([, outcome]) => (outcome === "imported" ? "new" : "changed") },
      { title: "Price now", right: true, cell: ([product]) => priceBefore(bySku.get(product.sku), product) },
      { title: "Then", right: true, cell: ([one]) => ({ money: one.price_cents, currency: one.currency }) },
      { title: "%", right: true, cell: ([{ sku }]) => percentOf(bySku.get(sku)) },
      { title: "Look at", cell: (row) => doubts(row).join("; ") },
    ]),
    changed.length > MOST_SHOWN && <p>And {changed.length - MOST_SHOWN} more.</p>,
  ];
}

function priceBefore(change: PriceChange | undefined, product: ProductInput): string | null {
  if (change === undefined) return "the same, or new";
  const { from_cents: cents, from_currency } = change;
  return cents === null ? null : moneyWords(cents, from_currency ?? product.currency);
}

function percentOf(change: PriceChange | undefined): string | null {
  const percent = change?.percent ?? null;
  return percent === null ? null : signed(percent);
}

async function preview(visit: ConsoleVisit, lines: CsvLine[]) {
  const { good, bad } = checkFile(lines);
  const { store } = visit;
  const outcomes = good.length === 0 ? [] : await visit.rehearse(importProducts, { products: good });
  const { missing, kept, prices } = await store.read(consider, good);
  const rows = good.map((product, at) => [product, outcomes[at]] as const);
  const shown = (
    <>
      <p>{outcomeWords(outcomes)}.</p>
      {missing.length > 0 && (
        <p class="alert">Suppliers that are not set up yet: {missing.join(", ")}. Orders for them are held.</p>
      )}
      {kept.length > 0 && <p class="alert">Kept as a name, and no country: {kept.join(", ")}.</p>}
      {productsShown(visit, rows, prices)}
      {badLines(visit, bad)}
    </>
  );
  if (good.length === 0) return { title: "No row can be imported", shown, data: null, act: "Import", status: 400 };
  return { title: "Import products?", shown, data: { good, bad }, act: "Import" };
}

async function take(visit: ConsoleVisit, { good, bad }: ProductsFile): Promise<Shown> {
  const outcomes = await visit.write(importProducts, { products: good });
  const left = bad.length === 0 ? "" : ` ${counted(bad.length, "row")} left out.`;
  return { to: "/catalog", notice: `${outcomeWords(outcomes)}.${left}` };
}

const importing = filePage({
  ...{
    path: "/catalog/import",
    title: "Import products",
    button: "Show what it changes",
    all: ["/catalog", "Catalog"],
  },
  ...{ ...LARGE_FILE, needs, mostRows: MOST_ROWS, preview, act: take },
  hint: `CSV with a header, at most ${MOST_ROWS.toLocaleString("en")} rows.`,
  about: (
    <p>
      Columns: {needs.map((need) => [need].flat().join(" or ")).join(", ")}; status, description, supplier, features,
      activation_policy, network_type and compatible_devices may be left out. Lists have | between. A product whose SKU
      is there is updated.
    </p>
  ),
});

/** Products from a CSV file: what it changes, and the import itself. */
export const catalogImportPages = [consolePage({ ...importing, needs: "catalog.write", secret: true })];
