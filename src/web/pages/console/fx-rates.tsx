import { type FxRate, listRates, setRate } from "../../../core/prices/rates.ts";
import { ABOUT_RATES } from "../../../core/prices/words.ts";
import { formShown, namesOf } from "../../parts/act-form.tsx";
import { actPage } from "../../parts/act-page.tsx";
import type { Column } from "../../parts/list.tsx";
import { listed } from "../../parts/list-page.tsx";
import { partOfWhole } from "../../parts/part-of-whole.ts";
import { backLink, record } from "../../parts/shown.tsx";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, optionalField, requiredField, type Shown } from "../../session/visit.ts";

const columns: readonly Column<FxRate>[] = [
  { title: "One unit of", cell: (one) => one.from_currency },
  { title: "Rate", right: true, cell: (one) => one.rate },
  { title: "In", cell: (one) => one.to_currency },
  { title: "From", cell: ({ from }) => from },
];

const fields = [
  { name: "from_currency", label: "One unit of", hint: "ISO 4217, e.g. that of costs: USD.", required: true },
  { name: "rate", label: "Rate", inputmode: "decimal", hint: "A plain decimal, e.g. 1.52.", required: true },
  { name: "to_currency", label: "In currency", hint: "ISO 4217, e.g. that of prices: AUD.", required: true },
  { name: "from", label: "From", type: "date", hint: "The first day (UTC) on which it holds; empty: today." },
] as const;

async function ratesPage(visit: ConsoleVisit): Promise<Shown> {
  const rates = await visit.store.read(listRates, null);
  return listed(visit, {
    ...{ title: "Rates of exchange", path: "/fx", columns },
    read: async (page) => partOfWhole(rates, page),
    empty: "No rates yet.",
    above: (
      <>
        {backLink(visit, "/prices", "Price lists")}
        <p>What one currency is in another from a day on: costs become prices by a markup at the rate of the day.</p>
      </>
    ),
    below:
      visit.may("catalog.write") &&
      formShown(visit, { title: "Set a rate", to: "/fx", fields, submit: "Show what comes of it" }),
  });
}

/** How a rate is written. */
const rateWords = ({ from_currency, rate, to_currency }: FxRate) => `1 ${from_currency} = ${rate} ${to_currency}`;

const set = actPage({
  read: ({ store }: ConsoleVisit) => store.read(listRates, null),
  ...{ at: () => "/fx", title: () => "Set this rate?", button: "Set the rate", carried: namesOf(fields) },
  command: setRate,
  input: ({ form }) => ({
    from: requiredField(form, "from_currency").toUpperCase(),
    to: requiredField(form, "to_currency").toUpperCase(),
    rate: requiredField(form, "rate"),
    day: optionalField(form, "from"),
  }),
  foresee(rate, rates, visit) {
    // Those of two currencies are together, the newest day first.
    const before = rates.find(
      (one) =>
        one.from_currency === rate.from_currency && one.to_currency === rate.to_currency && one.from <= rate.from,
    );
    return (
      <>
        {record(visit, [
          ["Rate", rateWords(rate)],
          ["From", rate.from],
          ["Rate before", before === undefined ? "none" : `${rateWords(before)}, from ${before.from}`],
        ])}
        <p>{ABOUT_RATES}</p>
      </>
    );
  },
  done: (rate) => `${rateWords(rate)} from ${rate.from} on.`,
});

/** The rates of exchange, by day. */
export const fxPages = [
  consolePage({ path: "/fx", needs: "catalog.read", show: ratesPage }),
  consolePage({ path: "/fx", needs: "catalog.write", ...set, again: ratesPage }),
];
