import type { FxRate } from "../../../core/prices/rates.ts";
import type { Column } from "../../output/sheet.ts";

/** The keys of a rate's JSON. */
export const RATE_JSON = "{from_currency, to_currency, rate, from}";

export const rateColumns: Column<FxRate>[] = [
  { title: "one", value: ({ from_currency }) => from_currency },
  { title: "is", value: ({ rate }) => rate, align: "right" },
  { title: "of", value: ({ to_currency }) => to_currency },
  { title: "from", value: ({ from }) => from },
];
