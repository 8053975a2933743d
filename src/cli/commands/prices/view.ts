import type { PriceList } from "../../../core/prices/lists.ts";
import type { RuleInList } from "../../../core/prices/show.ts";
import { amountWords, boundsWords } from "../../../core/prices/words.ts";
import { excluding, text } from "../../kernel/input.ts";
import { type Result, recordResult } from "../../output/result.ts";
import type { Column, Sheet } from "../../output/sheet.ts";
import { moment, shown } from "../../output/words.ts";

/** The keys of a price list's JSON. */
export const LIST_JSON = "{name, rules, partners: [slug], created_at, updated_at}";

/** The keys of a rule's JSON. */
export const RULE_JSON = "{list, sku or region, price_cents or markup, min_quantity, from, to}";

/** What a rule is about, and when it holds. */
export const scopeOptions = {
  sku: text("--sku <sku>", "the product"),
  region: excluding(text("--region <region>", "all products of a region, in any case"), "--sku"),
  minQuantity: text("--min-quantity <n>", "from how many units of a line on (default 1)"),
  from: text("--from <day>", "the first UTC day on which it holds, YYYY-MM-DD (left out: at once)"),
  to: text("--to <day>", "the first UTC day on which it no longer does (left out: for good)"),
};

/** How what core refuses of a list and its rules is typed. */
export const RULE_FIELDS = {
  ...{ name: "list", sku: "--sku", region: "--region", price: "--price", markup: "--markup" },
  ...{ min_quantity: "--min-quantity", from: "--from", to: "--to" },
};

export const listColumns: Column<PriceList>[] = [
  { title: "name", value: ({ name }) => name },
  { title: "rules", value: ({ rules }) => rules, align: "right" },
  { title: "partners", value: ({ partners }) => partners.join(", "), shrinks: true },
  { title: "changed", value: ({ updated_at }) => moment(updated_at), spare: true },
];

export const ruleColumns: Column<RuleInList>[] = [
  { title: "sku", value: ({ rule }) => rule.sku ?? null },
  { title: "region", value: ({ rule }) => rule.region ?? null, shrinks: true },
  { title: "price", value: (one, sheet) => amountWords(one, sheet.money), align: "right" },
  { title: "from units", value: ({ rule }) => rule.min_quantity, align: "right" },
  { title: "from", value: ({ rule }) => rule.from },
  { title: "to", value: ({ rule }) => rule.to },
];

/** One rule, as the verbs that change one print it; `more` is a line below it. */
export function ruleResult(one: RuleInList, more?: string): Result {
  const { rule } = one;
  const record = (sheet: Sheet) => ({
    list: rule.list,
    ...(rule.sku === undefined ? { region: shown(rule.region) } : { sku: shown(rule.sku) }),
    price: amountWords(one, sheet.money),
    ...boundsWords(one),
  });
  return recordResult(rule, record, more);
}

/** What says that a list is new, so that a name that was mistyped is seen. */
export function newListWords(list: string): string {
  return `${list} is a new price list, which no partner has yet: esimctl prices list shows all of them.`;
}
