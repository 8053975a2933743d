import { eq } from "drizzle-orm";
import { type Actor, recordAudit } from "../audit/record.ts";
import { newId } from "../kernel/ids.ts";
import { invalid, notFound } from "../kernel/problem.ts";
import { regionKey } from "../kernel/search-keys.ts";
import { insert, updateRow } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { ensurePriceList, requirePriceList } from "./lists.ts";
import { findRuleProduct } from "./products.ts";
import { checkRule, type RuleInput, scopeMark, type TypedRule } from "./rule-input.ts";
import { storedRules } from "./rules.ts";
import { type RuleInList, shownRule } from "./show.ts";

/** What setting a rule does. */
export type RuleOutcome = "imported" | "updated" | "duplicate";

const drop = statement((db, { priceRules: rules }, slot: Slots<{ id: string }>) =>
  db.delete(rules).where(eq(rules.id, slot.id)),
);

/** A rule of a list, as it is typed. */
export interface AskedRule {
  list: string;
  rule: TypedRule;
  actor: Actor;
}

/** The rule as it is now. */
export interface SetRule extends RuleInList {
  /** Whether its list was made for it. */
  isNewList: boolean;
}

/**
 * Sets a price or markup in a list, which is made where it is not there yet; a rule of the same scope is replaced.
 * Throws `not_found` for the product, `validation`.
 */
export async function setPriceRule(tx: Tx, { list, rule: typed, actor }: AskedRule): Promise<SetRule> {
  const rule = await checkedRule(tx, typed);
  const isNewList = await ensurePriceList(tx, { name: list, actor });
  if ((await putRule(tx, { list, rule, actor })) !== "duplicate") await markChanged(tx, list);
  return { ...shownIn(list, rule), isNewList };
}

/** Sets many rules, as `setPriceRule` does, in one transaction. Throws `validation` for the list's name. */
export async function importPriceRules(
  tx: Tx,
  { list, rules, actor }: { list: string; rules: readonly RuleInput[]; actor: Actor },
): Promise<RuleOutcome[]> {
  await ensurePriceList(tx, { name: list, actor });
  const outcomes: RuleOutcome[] = [];
  for (const rule of rules) outcomes.push(await putRule(tx, { list, rule, actor }));
  if (outcomes.some((outcome) => outcome !== "duplicate")) await markChanged(tx, list);
  return outcomes;
}

/**
 * Removes the rule of a scope, so that what it was about has the price of the next rule or of the catalog. Throws
 * `not_found` for the list, `validation` where no rule has the scope.
 */
export async function removePriceRule(tx: Tx, { list, rule: typed, actor }: AskedScope): Promise<RuleInList> {
  const { id, scope } = await requireRule(tx, list, typed);
  await drop(tx, { id });
  await recordRule(tx, { list, rule: scope, actor, before: scope, after: null });
  await markChanged(tx, list);
  return shownIn(list, scope);
}

/** A rule as far as it is typed to be found: by its scope alone. */
export type ScopedRule = Omit<TypedRule, "price" | "markup">;

/** A rule of a list that is there, by its scope. */
export interface AskedScope extends Omit<AskedRule, "rule"> {
  rule: ScopedRule;
}

/**
 * The rule that a list has of a scope. Throws `not_found` for the list and the product, `validation` where no rule has
 * the scope.
 */
export async function requireRule(
  q: Read,
  list: string,
  { sku, region, min_quantity, from, to }: ScopedRule,
): Promise<{ id: string; scope: RuleInput }> {
  await requirePriceList(q, list);
  // A rule needs one of price and markup to be one.
  const scope = await checkedRule(q, { sku, region, min_quantity, from, to, markup: "0" });
  const known = await ruleOf(q, list, scope);
  if (known === null) throw invalid({ rule: [`is not in ${list}: no rule has this scope`] });
  const { id, price_cents, markup_points } = known;
  return { id, scope: { ...scope, price_cents, markup_points } };
}

/** A rule as it is stored. Throws `not_found` for the product, `validation`. */
export async function checkedRule(q: Read, typed: TypedRule): Promise<RuleInput> {
  const sku = typed.sku?.trim() ?? "";
  const product = sku === "" ? null : await findRuleProduct(q, sku);
  if (sku !== "" && product === null) throw notFound("product", sku);
  const checked = checkRule(typed, () => product);
  if ("problems" in checked) throw invalid(checked.problems);
  return checked.ok;
}

/** A rule of a list as commands answer it. */
export function shownIn(list: string, rule: RuleInput): RuleInList {
  const { product, price_cents } = rule;
  const currency = price_cents === null ? null : (product?.currency ?? null);
  return { rule: shownRule(list, { ...rule, sku: product?.sku ?? null }), currency };
}

interface Put {
  list: string;
  rule: RuleInput;
  actor: Actor;
}

/** The rule of a scope, or null. */
export async function ruleOf(q: Read, list: string, scope: RuleInput): Promise<Row<"priceRules"> | null> {
  const mark = scopeMark(scope);
  return (await storedRules(q, list, scope.product?.id ?? null)).find((row) => markOf(scope, row) === mark) ?? null;
}

/** The rule that a list has of the same scope, as commands answer it; null: it has none. */
export async function ruleBefore(q: Read, list: string, rule: RuleInput): Promise<RuleInList | null> {
  const row = await ruleOf(q, list, rule);
  if (row === null) return null;
  const { price_cents, markup_points } = row;
  return shownIn(list, { ...rule, price_cents, markup_points });
}

function markOf({ product }: RuleInput, { region, min_quantity, from_day, to_day }: Row<"priceRules">): string {
  return scopeMark({ product, region, min_quantity, from_day, to_day });
}

async function putRule(tx: Tx, { list, rule, actor }: Put): Promise<RuleOutcome> {
  const before = await ruleOf(tx, list, rule);
  const { product, region, ...values } = rule;
  if (before !== null) {
    if (before.price_cents === rule.price_cents && before.markup_points === rule.markup_points) return "duplicate";
    await drop(tx, { id: before.id });
  }
  const keys = { product_id: product?.id ?? null, region, region_key: region === null ? null : regionKey(region) };
  await insert(tx, "priceRules", [{ id: newId(tx), list, ...keys, ...values, created_at: tx.now }]);
  await recordRule(tx, { list, rule, actor, before, after: rule });
  return before === null ? "imported" : "updated";
}

interface Recorded extends Put {
  before: Pick<RuleInput, "price_cents" | "markup_points"> | null;
  after: RuleInput | null;
}

/** The audit trail names each value with the scope of its rule. */
async function recordRule(tx: Tx, { list, rule, actor, before, after }: Recorded): Promise<void> {
  const scope = scopeWords(rule);
  const changes = (["price_cents", "markup_points"] as const).flatMap((name) => {
    const [from, to] = [before?.[name] ?? null, after?.[name] ?? null];
    return from === to ? [] : [{ field: `${name} ${scope}`, from, to }];
  });
  const action = after === null ? "prices.remove" : "prices.set";
  const about = { targetKind: "price_list", targetId: list };
  await recordAudit(tx, { actor, action, ...about, fields: changes.map(({ field }) => field), changes });
}

/** What a rule is about, and when it holds, as the audit trail names it. */
export function scopeWords({ product, region, min_quantity, from_day, to_day }: RuleInput): string {
  const units = min_quantity === 1 ? [] : [`from ${min_quantity}`];
  const days = from_day === null && to_day === null ? [] : [`${from_day ?? ""}..${to_day ?? ""}`];
  return [product?.sku ?? region ?? "", ...units, ...days].join(" ");
}

/** Says that the prices of a list are others now. */
export async function markChanged(tx: Tx, name: string): Promise<void> {
  await updateRow(tx, "priceLists", { name }, { updated_at: tx.now });
  await tx.touch();
}
