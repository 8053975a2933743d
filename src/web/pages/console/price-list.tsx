import type { ComponentChildren } from "preact";
import { costsOfRule, priceDoubts } from "../../../core/catalog/price-doubts.ts";
import { findProductBySku } from "../../../core/catalog/product.ts";
import { formatCost } from "../../../core/kernel/cost.ts";
import { invalid } from "../../../core/kernel/problem.ts";
import { foreseePriceRule } from "../../../core/partners/prices.ts";
import { listPriceLists, requirePriceList } from "../../../core/prices/lists.ts";
import { hasRegion } from "../../../core/prices/products.ts";
import { checkRule, ruleFields } from "../../../core/prices/rule-input.ts";
import { ruleBefore, setPriceRule } from "../../../core/prices/set-rule.ts";
import { type RuleInList, showPriceList } from "../../../core/prices/show.ts";
import {
  ABOUT_MARKUPS,
  amountWords,
  KEPT_PRICES,
  unknownCostWords,
  unknownRegionWords,
} from "../../../core/prices/words.ts";
import type { Read } from "../../../core/store/store.ts";
import { type FieldOf, formShown } from "../../parts/act-form.tsx";
import { actPage } from "../../parts/act-page.tsx";
import type { Column } from "../../parts/list.tsx";
import { listed } from "../../parts/list-page.tsx";
import { partOfWhole } from "../../parts/part-of-whole.ts";
import { links, record } from "../../parts/shown.tsx";
import { moneyWords } from "../../parts/words.ts";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, optionalField, partIn, type Shown } from "../../session/visit.ts";
import { storyOf } from "./audit-history.ts";
import { timelineShown } from "./history.tsx";
import { ruleMovesShown } from "./price-moves.tsx";
import { ruleFacts, ruleLink } from "./price-rule-facts.ts";

const nameOf = (visit: ConsoleVisit) => partIn(visit, "list");

/** A list. Throws `not_found`. */
async function seen(q: Read, name: string) {
  const rules = await showPriceList(q, name);
  const { updated_at } = await requirePriceList(q, name);
  return { rules, updated_at, partners: await partnersOf(q, name), history: await storyOf(q, name) };
}

async function partnersOf(q: Read, name: string): Promise<readonly string[]> {
  return (await listPriceLists(q, null)).find((list) => list.name === name)?.partners ?? [];
}

const columnsOf = (may: boolean): readonly Column<RuleInList>[] => [
  { title: "SKU", cell: (one) => ruleLink(one, one.rule.sku, may) },
  { title: "Region", cell: (one) => ruleLink(one, one.rule.region, may) },
  { title: "Price", right: true, cell: (one) => amountWords(one, moneyWords) },
  { title: "From units", right: true, cell: ({ rule }) => rule.min_quantity },
  { title: "From", cell: ({ rule }) => rule.from },
  { title: "To", cell: ({ rule }) => rule.to },
];

async function listPage(visit: ConsoleVisit): Promise<Shown> {
  const name = nameOf(visit);
  const { rules, updated_at, partners, history } = await visit.store.read(seen, name);
  const [path, may] = [`/prices/${encodeURIComponent(name)}`, visit.may("catalog.write")];
  const facts = record(
    visit,
    [
      ["Partners", partners.join(", ") || "none yet"],
      ["Rules", rules.length],
      ["Changed", { time: new Date(updated_at).toISOString() }],
    ],
    links(visit, [
      ["/prices", "All price lists"],
      may ? [`${path}/import`, "Import rules"] : null,
      may ? [`${path}/delete`, "Delete the list"] : null,
    ]),
  );
  return listed(visit, {
    ...{ title: `Price list ${name}`, path, caption: "Rules", columns: columnsOf(may) },
    read: async (page) => partOfWhole(rules, page),
    empty: "No rules yet: its prices are the catalog's.",
    above: facts,
    below: (
      <>
        {may && setForm(visit, path)}
        {await timelineShown(visit, history)}
      </>
    ),
  });
}

/** When a rule holds. */
const boundFields: readonly FieldOf[] = [
  { name: "min_quantity", label: "From units", inputmode: "numeric", value: "1", hint: "Of one line of an order." },
  { name: "from", label: "From", type: "date", hint: "The first day (UTC) on which it holds; empty: at once." },
  { name: "to", label: "To", type: "date", hint: "The first day (UTC) on which it no longer does; empty: for good." },
];

function setForm(visit: ConsoleVisit, to: string): ComponentChildren {
  return formShown(visit, {
    ...{ title: "Set a price", to, submit: "Show what comes of it" },
    intro: "For one product or for all of a region. A rule for the same one, units and days is replaced.",
    fields: [
      { name: "sku", label: "SKU" },
      {
        name: "region",
        label: "Region",
        hint: "In place of a SKU, as products have it, in any case; it has a markup.",
      },
      { name: "price", label: "Price", inputmode: "decimal", hint: "In the product's currency, e.g. 3.10." },
      {
        name: "markup",
        label: "Markup in percent",
        inputmode: "decimal",
        hint: "On the cost, in place of a price, e.g. 35.",
      },
      ...boundFields,
    ],
  });
}

/** What a form sets in a list, and what a person should know before. Throws `not_found`, `validation`. */
async function consider(q: Read, { list, form }: { list: string; form: ConsoleVisit["form"] }) {
  const typed = Object.fromEntries(ruleFields.map((name) => [name, optionalField(form, name)]));
  await requirePriceList(q, list);
  const product = await findProductBySku(q, typed.sku ?? "");
  const checked = checkRule(typed, () => product);
  if ("problems" in checked) throw invalid(checked.problems);
  const { price_cents, region } = checked.ok;
  const unknown =
    price_cents === null ? unknownCostWords(await costsOfRule(q, { product, region: typed.region })) : null;
  return {
    ...{ list, typed, product, partners: await partnersOf(q, list) },
    before: await ruleBefore(q, list, checked.ok),
    unknown,
    doubts: product === null || price_cents === null ? [] : await priceDoubts(q, { ...product, price_cents }),
    strange: region === null || (await hasRegion(q, region)) ? null : region,
  };
}

type Considered = Awaited<ReturnType<typeof consider>>;

async function foreseen(rule: RuleInList, considered: Considered, visit: ConsoleVisit): Promise<ComponentChildren> {
  const { before, list, typed, product, partners, doubts, strange, unknown } = considered;
  const moves = await visit.rehearse(foreseePriceRule, { list, rule: typed });
  const cost = product?.cost ?? null;
  return (
    <>
      {strange !== null && <p class="alert">{unknownRegionWords(strange)}</p>}
      {unknown !== null && <p class="alert">{unknown}</p>}
      {doubts.length > 0 && <p class="alert bad">Look at the price again: {doubts.join("; ")}.</p>}
      {record(visit, [
        ...ruleFacts(rule),
        ["Price before", before === null ? "no rule" : amountWords(before, moneyWords)],
        ...(product === null
          ? []
          : ([
              ["The catalog's price", moneyWords(product.price_cents, product.currency)],
              ["Cost", cost === null ? "not known" : `${formatCost(cost)} ${product.cost_currency ?? ""}`],
            ] as const)),
      ])}
      {ruleMovesShown(visit, moves)}
      <p>
        {partners.length === 0
          ? "No partner has the list yet."
          : `Holds at the next request for the partners that have the list: ${partners.join(", ")}.`}{" "}
        {KEPT_PRICES} {rule.rule.markup !== undefined && ABOUT_MARKUPS}
      </p>
    </>
  );
}

const set = actPage({
  read: (visit: ConsoleVisit) => visit.store.read(consider, { list: nameOf(visit), form: visit.form }),
  at: ({ list }) => `/prices/${encodeURIComponent(list)}`,
  title: ({ list }) => `Set this price in ${list}?`,
  ...{ button: "Set the price", carried: ruleFields, command: setPriceRule },
  input: (_visit, { list, typed }) => ({ list, rule: typed }),
  foresee: foreseen,
  done: ({ rule }) => `The price of ${rule.sku ?? rule.region} in ${rule.list} is set.`,
});

/** A price list with its rules, and where one is set. */
export const priceRulesPages = [
  consolePage({ path: "/prices/:list", needs: "catalog.read", show: listPage }),
  consolePage({ path: "/prices/:list", needs: "catalog.write", ...set, again: listPage }),
];
