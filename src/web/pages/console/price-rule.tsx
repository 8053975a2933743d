import { formatMoney } from "../../../core/kernel/money.ts";
import { foreseeEnd, foreseeRemoval } from "../../../core/partners/prices.ts";
import { endPriceRule } from "../../../core/prices/end-rule.ts";
import { removePriceRule, requireRule, type ScopedRule, shownIn } from "../../../core/prices/set-rule.ts";
import { AFTER_REMOVAL, KEPT_PRICES } from "../../../core/prices/words.ts";
import type { Read } from "../../../core/store/store.ts";
import { type FieldOf, formShown } from "../../parts/act-form.tsx";
import { actPage } from "../../parts/act-page.tsx";
import { backLink, pageShown, record } from "../../parts/shown.tsx";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, optionalField, partIn, requiredField, type Shown } from "../../session/visit.ts";
import { ruleMovesShown } from "./price-moves.tsx";
import { ruleFacts, scopeOf } from "./price-rule-facts.ts";

const scopeFields = ["sku", "region", "min_quantity", "from", "to"] as const;

interface Asked {
  list: string;
  scope: ScopedRule;
}

/** A rule of a list. Throws `not_found`, `validation`. */
async function seenRule(q: Read, { list, scope }: Asked) {
  const one = shownIn(list, (await requireRule(q, list, scope)).scope);
  return { ...one, list, scope, at: `/prices/${encodeURIComponent(list)}` };
}

/** The rule that the address or the form names by its scope. */
function seenIn(visit: ConsoleVisit) {
  const given = { ...visit.query, ...visit.form };
  const scope = Object.fromEntries(scopeFields.map((name) => [name, optionalField(given, name)]));
  return visit.store.read(seenRule, { list: partIn(visit, "list"), scope });
}

async function rulePage(visit: ConsoleVisit): Promise<Shown> {
  const seen = await seenIn(visit);
  const { rule, currency, list, at } = seen;
  const hidden = scopeOf(seen);
  const price = rule.price_cents === undefined ? "" : formatMoney(rule.price_cents, currency ?? "");
  const fields: FieldOf[] = [
    rule.sku !== undefined && { name: "price", label: "Price", inputmode: "decimal", value: price },
    { name: "markup", label: "Markup in percent", inputmode: "decimal", value: rule.markup?.toString() ?? "" },
  ];
  const end = { name: "end", label: "Ends on", type: "date", required: true } as const;
  const body = (
    <>
      {backLink(visit, at, `Price list ${list}`)}
      {record(visit, ruleFacts(seen))}
      {formShown(visit, { title: "Another price", to: at, hidden, fields, submit: "Show what comes of it" })}
      {formShown(visit, {
        ...{ title: "End it", to: `${at}/end`, hidden, submit: "Show when it ends" },
        fields: [{ ...end, hint: "The first day (UTC) on which it no longer holds." }],
      })}
      {formShown(visit, {
        ...{ title: "Remove it", to: `${at}/remove`, hidden, submit: "Show what comes of it", bad: true },
        ...{ intro: "It no longer holds from the next request on.", fields: [] },
      })}
    </>
  );
  return pageShown(visit, `A price of ${rule.sku ?? rule.region}`, body);
}

const ofRule = { read: seenIn, at: ({ at }: Awaited<ReturnType<typeof seenRule>>) => at };

const end = actPage({
  ...{ ...ofRule, verb: "end", title: () => "End this price?", button: "End it" },
  ...{ carried: [...scopeFields, "end"], command: endPriceRule },
  input: ({ form }, { list, scope }) => ({ list, rule: scope, end: requiredField(form, "end") }),
  foresee: async (ended, { list, scope }, visit) => (
    <>
      {record(visit, ruleFacts(ended))}
      {ruleMovesShown(visit, await visit.rehearse(foreseeEnd, { list, rule: scope, end: ended.rule.to ?? "" }))}
      <p>
        It holds until the day before {ended.rule.to} ends (UTC). {AFTER_REMOVAL} {KEPT_PRICES}
      </p>
    </>
  ),
  done: ({ rule }) => `The price of ${rule.sku ?? rule.region} ends on ${rule.to}.`,
});

const remove = actPage({
  ...{ ...ofRule, verb: "remove", title: () => "Remove this price?", button: "Remove it", bad: true },
  ...{ carried: scopeFields, command: removePriceRule },
  input: (_visit, { list, scope }) => ({ list, rule: scope }),
  foresee: async (removed, { list, scope }, visit) => (
    <>
      {record(visit, ruleFacts(removed))}
      {ruleMovesShown(visit, await visit.rehearse(foreseeRemoval, { list, rule: scope }))}
      <p>
        It is removed from the next request on. {AFTER_REMOVAL} {KEPT_PRICES}
      </p>
    </>
  ),
  done: ({ rule }) => `A price of ${rule.sku ?? rule.region} is removed from ${rule.list}.`,
});

const [at, needs] = ["/prices/:list", "catalog.write"] as const;

/** A rule of a price list, and where it is changed, ended and removed. */
export const priceRulePages = [
  consolePage({ path: `${at}/rule`, needs, show: rulePage }),
  consolePage({ path: `${at}/end`, needs, ...end, again: rulePage }),
  consolePage({ path: `${at}/remove`, needs, ...remove, again: rulePage }),
];
