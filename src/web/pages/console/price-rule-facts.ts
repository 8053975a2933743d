import type { RuleInList } from "../../../core/prices/show.ts";
import { amountWords, boundsWords } from "../../../core/prices/words.ts";
import type { Fields } from "../../parts/shown.tsx";
import { type Cell, moneyWords, titleOf } from "../../parts/words.ts";

/** A rule as a record. */
export function ruleFacts(one: RuleInList): Fields {
  const { sku, region } = one.rule;
  const bounds = Object.entries(boundsWords(one)).map(([name, words]) => [titleOf(name), words] as const);
  const about = sku === undefined ? (["Region", region ?? null] as const) : (["SKU", sku] as const);
  return [about, ["Price", amountWords(one, moneyWords)], ...bounds];
}

/** The fields by which a rule of a list is found again. */
export function scopeOf({ rule }: RuleInList): Record<string, string> {
  const { sku = "", region = "", min_quantity, from, to } = rule;
  return { sku, region, min_quantity: String(min_quantity), from: from ?? "", to: to ?? "" };
}

/** What a rule is about, as a link to where it is changed, for a role that may. */
export function ruleLink(one: RuleInList, words: string | undefined, may: boolean): Cell {
  if (words === undefined || !may) return words ?? null;
  const to = `/prices/${encodeURIComponent(one.rule.list)}/rule?${new URLSearchParams(scopeOf(one))}`;
  return { text: words, to };
}
