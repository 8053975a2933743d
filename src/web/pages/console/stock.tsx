import { findProductBySku } from "../../../core/catalog/product.ts";
import { findClashes } from "../../../core/csv/clashes.ts";
import {
  checkStockRow,
  importStock,
  type StockOutcome,
  type StockRow,
  stockedProduct,
} from "../../../core/esims/import-stock.ts";
import { type StockLevel, stockLevels } from "../../../core/esims/stock.ts";
import { counted } from "../../../core/kernel/counted.ts";
import { invalid } from "../../../core/kernel/problem.ts";
import { type FileRow, LARGE_FILE } from "../../parts/csv-file.ts";
import { type BadLine, badLines, filePage } from "../../parts/file-page.tsx";
import type { Column } from "../../parts/list.tsx";
import { listed } from "../../parts/list-page.tsx";
import { LinkButton } from "../../parts/shown.tsx";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, field, numberOrNull, requiredField, type Shown } from "../../session/visit.ts";

const [PATH, TITLE] = ["/stock/import", "Import eSIMs"];

const columns: readonly Column<StockLevel>[] = [
  { title: "SKU", cell: (one) => ({ text: one.sku, to: `/catalog/${one.product_id}` }) },
  { title: "Name", cell: (one) => one.name },
  { title: "Product", cell: (one) => ({ status: one.status }) },
  { title: "Free", right: true, cell: (one) => one.available },
];

async function stockPage(visit: ConsoleVisit): Promise<Shown> {
  const { query, store } = visit;
  const below = numberOrNull(query, "below");
  const sku = field(query, "sku").toLowerCase();
  const levels = await store.read(stockLevels, { below });
  return listed(visit, {
    title: "Stock",
    path: "/stock",
    caption: "Stock of each product",
    columns,
    filters: [
      { name: "below", label: "Fewer than (on sale)" },
      { name: "sku", label: "SKU begins with" },
    ],
    read: async () => levels.filter((one) => one.sku.toLowerCase().startsWith(sku)),
    empty: below === null ? "No product is delivered from stock." : "No product on sale has so few.",
    above: visit.may("stock.write") && (
      <div class="acts">
        <LinkButton visit={visit} to={PATH} words="Import eSIMs" main />
        <LinkButton visit={visit} to="/stock/move" words="Move to another product" />
      </div>
    ),
  });
}

/** Rows of a file, and of one transaction: nothing else is written while it runs. */
const MOST_ROWS = 5_000;
const BATCH = 500;

type CsvLine = FileRow<string>;

interface Placed {
  line: number;
  row: StockRow;
}

/** What a row's code is compared by with those of other rows. */
function codeOf({ values }: CsvLine): string | null {
  const { activation_code = "", matching_id = "", smdp_address = "", confirmation_code = "" } = values;
  if (activation_code + matching_id === "") return null;
  return [activation_code, smdp_address, matching_id, confirmation_code].join(" ").toLowerCase();
}

/** What a file was checked to hold. */
interface StockFile {
  sku: string;
  good: Placed[];
  bad: BadLine[];
  warnings: BadLine[];
}

/** The rows of a stock file: one eSIM has one code, and one code is of one eSIM. */
function checkFile(lines: readonly CsvLine[], options: { luhn: boolean }): Omit<StockFile, "sku"> {
  // What is there twice as it is, is one eSIM.
  const each = [...new Map(lines.map((line) => [`${line.values.iccid} ${codeOf(line)}`, line])).values()];
  const ofIccid = findClashes<CsvLine>(({ values }) => values.iccid || null);
  const ofCode = findClashes<CsvLine>(codeOf);
  for (const clashes of [ofIccid, ofCode]) for (const one of each) clashes.see(one);
  const found: Omit<StockFile, "sku"> = { good: [], bad: [], warnings: [] };
  for (const one of each) {
    const checked = checkStockRow(one.values, options);
    const [iccid, code] = [ofIccid.linesOf(one), ofCode.linesOf(one)];
    const problems = [
      ...("problems" in checked ? checked.problems.map(inPage) : []),
      ...(iccid === null ? [] : [`iccid has different codes on lines ${iccid.join(", ")}`]),
      ...(code === null ? [] : [`the code is that of several ICCIDs, on lines ${code.join(", ")}`]),
    ];
    if ("ok" in checked && problems.length === 0) found.good.push({ line: one.line, row: checked.ok });
    else found.bad.push({ line: one.line, problems });
    const { warnings = [] } = checked;
    if (warnings.length > 0 && problems.length === 0) found.warnings.push({ line: one.line, problems: warnings });
  }
  return found;
}

/** The check names an option of the terminal, which is a box of the form here. */
function inPage(problem: string): string {
  return problem.replace("--no-luhn lets it pass", "the form can let it pass");
}

type Give = (rows: StockRow[]) => Promise<StockOutcome[]>;

/** Gives rows to the import some at a time, and sorts what became of them. */
async function inBatches({ progress }: ConsoleVisit, placed: readonly Placed[], give: Give) {
  const sum = { imported: 0, duplicates: 0, rejected: [] as BadLine[] };
  for (let from = 0; from < placed.length; from += BATCH) {
    const part = placed.slice(from, from + BATCH);
    const outcomes = await give(part.map(({ row }) => row));
    await progress.say(from + part.length, placed.length);
    for (const [at, outcome] of outcomes.entries()) {
      if (outcome === "imported") sum.imported += 1;
      else if (outcome === "duplicate") sum.duplicates += 1;
      else sum.rejected.push({ line: part[at]?.line ?? 0, problems: [outcome.rejected] });
    }
  }
  return sum;
}

/** The product that the form names. Throws `validation`: a typing error is no address that is not there. */
async function skuIn({ form, store }: ConsoleVisit): Promise<string> {
  const sku = requiredField(form, "sku");
  if ((await store.read(findProductBySku, sku)) === null) throw invalid({ sku: [`names no product: ${sku}`] });
  await store.read(stockedProduct, sku);
  return sku;
}

async function preview(visit: ConsoleVisit, rows: CsvLine[]) {
  const sku = await skuIn(visit);
  const { good, bad, warnings } = checkFile(rows, { luhn: field(visit.form, "any_digit") === "" });
  const sum = await inBatches(visit, good, (rows) => visit.rehearse(importStock, { sku, rows }));
  const shown = (
    <>
      <p>
        {counted(sum.imported, "eSIM")} would be added to the stock of {sku}; {sum.duplicates} are there already.
      </p>
      {warnings.length > 0 && (
        <div class="alert">
          <p>Look at {counted(warnings.length, "row")} that would be taken all the same:</p>
          <ul>
            {warnings.slice(0, 20).map(({ line, problems }) => (
              <li>
                line {line}: {problems.join("; ")}
              </li>
            ))}
          </ul>
        </div>
      )}
      {badLines(
        visit,
        [...bad, ...sum.rejected].toSorted((a, b) => a.line - b.line),
      )}
    </>
  );
  const act = "Import";
  if (sum.imported === 0) return { title: "No eSIM would be added", shown, data: null, act, status: 200 };
  return { title: `${TITLE}?`, shown, data: { sku, good, bad, warnings }, act };
}

async function take(visit: ConsoleVisit, { sku, good, bad }: StockFile): Promise<Shown> {
  const sum = await inBatches(visit, good, (rows) => visit.write(importStock, { sku, rows }));
  const left = bad.length + sum.rejected.length;
  const words = `${counted(sum.imported, "eSIM")} added to ${sku}; ${sum.duplicates} were there.`;
  return { to: "/stock", notice: left === 0 ? words : `${words} ${counted(left, "row")} left out.` };
}

const importing = filePage({
  ...{ path: PATH, title: TITLE, button: "Show what it adds", all: ["/stock", "Stock"], ...LARGE_FILE },
  mostRows: MOST_ROWS,
  needs: ["iccid", ["activation_code", "matching_id"]],
  hint: `CSV with a header, at most ${MOST_ROWS.toLocaleString("en")} rows.`,
  fields: ({ query }: ConsoleVisit) => [
    [{ name: "sku", label: "SKU", value: field(query, "sku"), required: true }],
    [{ tick: "any_digit", label: "Let ICCIDs pass that have a wrong check digit" }],
  ],
  about: (
    <p>
      Columns: iccid, and smdp_address with matching_id, or activation_code; confirmation_code may be left out. An ICCID
      that is there with the same code is left as it is.
    </p>
  ),
  preview,
  act: take,
});

/** What the stock holds, and eSIMs from a CSV file. Their codes are secrets. */
export const stockPages = [
  consolePage({ path: "/stock", needs: "stock.read", show: stockPage }),
  consolePage({ ...importing, needs: "stock.write", secret: true }),
];
