import { recordAudit } from "../audit/record.ts";
import { dateFault } from "../kernel/dated.ts";
import { invalid } from "../kernel/problem.ts";
import { updateRow } from "../store/rows.ts";
import type { Tx } from "../store/store.ts";
import { type AskedScope, markChanged, requireRule, ruleOf, scopeWords, shownIn } from "./set-rule.ts";
import type { RuleInList } from "./show.ts";

/**
 * Lets the rule of a scope end on a UTC day, the first on which it no longer holds. It stays the rule that it was: what
 * was set after it goes before it as ever. Throws `not_found` for list and product, `validation` where no rule has the
 * scope, for a day that is not after its first one, and where another rule of the scope ends then.
 */
export async function endPriceRule(
  tx: Tx,
  { list, rule, end, actor }: AskedScope & { end: string },
): Promise<RuleInList> {
  const { id, scope } = await requireRule(tx, list, rule);
  const { from_day, to_day } = scope;
  const ended = { ...scope, to_day: end };
  const fault = dateFault(end);
  if (fault !== null) throw invalid({ end: [fault] });
  if (from_day !== null && end <= from_day) throw invalid({ end: ["must be after the first day on which it holds"] });
  if (end !== to_day) {
    if ((await ruleOf(tx, list, ended)) !== null) throw invalid({ end: ["is when another rule of this scope ends"] });
    await updateRow(tx, "priceRules", { id }, { to_day: end });
    const changes = [{ field: `to_day ${scopeWords(scope)}`, from: to_day, to: end }];
    const about = { targetKind: "price_list", targetId: list, fields: changes.map(({ field }) => field) };
    await recordAudit(tx, { actor, action: "prices.end", ...about, changes });
    await markChanged(tx, list);
  }
  return shownIn(list, ended);
}
