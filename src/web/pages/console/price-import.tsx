import type { ComponentChildren } from "preact";
import { counted } from "../../../core/kernel/counted.ts";
import { requirePriceList } from "../../../core/prices/lists.ts";
import { ruleProducts } from "../../../core/prices/products.ts";
import { type RowBelowCost, type RuleRow, ruleFile } from "../../../core/prices/rule-file.ts";
import { type RuleInput, ruleFields } from "../../../core/prices/rule-input.ts";
import { importPriceRules, type RuleOutcome, ruleBefore, shownIn } from "../../../core/prices/set-rule.ts";
import type { RuleInList } from "../../../core/prices/show.ts";
import { amountWords, belowCostWords, KEPT_PRICES, MOST_BELOW_COST } from "../../../core/prices/words.ts";
import type { Read } from "../../../core/store/store.ts";
import { type FileRow, LARGE_FILE } from "../../parts/csv-file.ts";
import { type BadLine, badLines, filePage } from "../../parts/file-page.tsx";
import { outcomeWords } from "../../parts/outcomes.ts";
import { table } from "../../parts/shown.tsx";
import { moneyWords } from "../../parts/words.ts";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, partIn, type Shown } from "../../session/visit.ts";

/** One transaction takes them all in, and nothing else is written meanwhile. */
const MOST_ROWS = 2_000;

/** Rows that a preview shows. */
const MOST_SHOWN = 200;

type CsvLine = FileRow<(typeof ruleFields)[number]>;

interface RulesFile {
  good: RuleInput[];
  bad: BadLine[];
  below: RowBelowCost[];
}

async function checkFile(q: Read, lines: readonly CsvLine[]): Promise<RulesFile> {
  const { see, check, belowCost } = ruleFile(await ruleProducts(q, null));
  for (const line of lines) see(line);
  const found: Omit<RulesFile, "below"> = { good: [], bad: [] };
  for (const { line, values, fault } of lines) {
    const checked = fault === null ? check({ line, values } satisfies RuleRow) : { problems: [fault] };
    if ("ok" in checked) found.good.push(checked.ok);
    else found.bad.push({ line, problems: checked.problems });
  }
  return { ...found, below: belowCost() };
}

function belowShown(visit: ConsoleVisit, below: readonly RowBelowCost[]): ComponentChildren {
  if (below.length === 0) return null;
  const shown = { caption: "Prices below the product's cost", rows: below.slice(0, MOST_BELOW_COST) };
  return [
    <p class="alert bad">{belowCostWords(below.length)}.</p>,
    table(visit, shown, [
      { title: "SKU", cell: ({ sku }) => sku },
      { title: "Price", right: true, cell: ({ price_cents, currency }) => moneyWords(price_cents, currency) },
      { title: "Cost", right: true, cell: ({ cost, cost_currency }) => `${cost} ${cost_currency}` },
    ]),
    below.length > MOST_BELOW_COST && <p>And {below.length - MOST_BELOW_COST} more.</p>,
  ];
}

interface Row {
  one: RuleInList;
  outcome: RuleOutcome | undefined;
  before: RuleInList | null;
}

function rulesShown(visit: ConsoleVisit, rows: readonly Row[]): ComponentChildren {
  const changed = rows.filter(({ outcome }) => outcome !== "duplicate");
  const shown = { caption: "Rules that change", rows: changed.slice(0, MOST_SHOWN), empty: "No rule changes." };
  return [
    table(visit, shown, [
      { title: "SKU", cell: ({ one }) => one.rule.sku ?? null },
      { title: "Region", cell: ({ one }) => one.rule.region ?? null },
      {
        title: "Now",
        right: true,
        cell: ({ before }) => (before === null ? "new" : amountWords(before, moneyWords)),
      },
      { title: "Then", right: true, cell: ({ one }) => amountWords(one, moneyWords) },
      { title: "From units", right: true, cell: ({ one }) => one.rule.min_quantity },
      { title: "From", cell: ({ one }) => one.rule.from },
      { title: "To", cell: ({ one }) => one.rule.to },
    ]),
    changed.length > MOST_SHOWN && <p>And {changed.length - MOST_SHOWN} more.</p>,
  ];
}

function allBefore(q: Read, { list, rules }: { list: string; rules: readonly RuleInput[] }) {
  return Promise.all(rules.map((rule) => ruleBefore(q, list, rule)));
}

const nameOf = (visit: ConsoleVisit) => partIn(visit, "list");

async function preview(visit: ConsoleVisit, lines: CsvLine[]) {
  const { store } = visit;
  const list = nameOf(visit);
  await store.read(requirePriceList, list);
  const { good, bad, below } = await store.read(checkFile, lines);
  const outcomes = good.length === 0 ? [] : await visit.rehearse(importPriceRules, { list, rules: good });
  const before = await store.read(allBefore, { list, rules: good });
  const rows = good.map((rule, at) => ({
    ...{ one: shownIn(list, rule), outcome: outcomes[at], before: before[at] ?? null },
  }));
  const shown = (
    <>
      <p>{outcomeWords(outcomes)}.</p>
      {belowShown(visit, below)}
      {rulesShown(visit, rows)}
      <p>{KEPT_PRICES}</p>
      {badLines(visit, bad)}
    </>
  );
  if (good.length === 0) return { title: "No row can be imported", shown, data: null, act: "Import", status: 400 };
  return { title: `Import rules into ${list}?`, shown, data: { good, bad: bad.length, below }, act: "Import" };
}

type Taken = Omit<RulesFile, "bad"> & { bad: number };

async function take(visit: ConsoleVisit, { good, bad, below }: Taken): Promise<Shown> {
  const list = nameOf(visit);
  const outcomes = await visit.write(importPriceRules, { list, rules: good });
  const left = bad === 0 ? "" : ` ${counted(bad, "row")} left out.`;
  return { to: `/prices/${encodeURIComponent(list)}`, notice: `${outcomeWords(outcomes)}.${left}${belowWords(below)}` };
}

function belowWords(below: readonly RowBelowCost[]): string {
  if (below.length === 0) return "";
  const named = below.slice(0, MOST_BELOW_COST).map(({ sku, price_cents, currency, cost, cost_currency }) => {
    return `${sku} at ${moneyWords(price_cents, currency)} (cost ${cost} ${cost_currency})`;
  });
  const more = below.length > MOST_BELOW_COST ? ` and ${below.length - MOST_BELOW_COST} more` : "";
  return ` Below the product's cost: ${named.join(", ")}${more}.`;
}

const importing = filePage({
  ...{ path: "/prices/:list/import", title: "Import rules", button: "Show what it changes" },
  all: ["/prices/:list", "Price list"],
  ...{ ...LARGE_FILE, columns: ruleFields, mostRows: MOST_ROWS, preview, act: take },
  needs: [
    ["sku", "region"],
    ["price", "markup"],
  ],
  hint: `CSV with a header, at most ${MOST_ROWS.toLocaleString("en")} rows.`,
  about: (
    <p>
      Columns: sku or region, price or markup; min_quantity, from and to may be left out. Each row is a rule; one for
      the same product or region, units and days is replaced.
    </p>
  ),
});

/** Rules of a price list from a CSV file: what it changes, and the import itself. */
export const priceImportPages = [consolePage({ ...importing, needs: "catalog.write", secret: true })];
