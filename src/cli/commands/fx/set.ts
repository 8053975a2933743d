import { ABOUT_RATES } from "../../../core/prices/words.ts";
import { command } from "../../frame/command.ts";
import { argument, text } from "../../kernel/input.ts";
import { recordResult } from "../../output/result.ts";
import { OPERATOR } from "../../place/operator.ts";
import { RATE_JSON } from "./view.ts";

export default command({
  target: "operator",
  effects: ABOUT_RATES,
  fields: { from_currency: "from-currency", to_currency: "to-currency", from: "--from" },
  json: RATE_JSON,
  examples: ["fx set USD AUD 1.52", "fx set USD AUD 1.49 --from 2027-01-01"],
  args: {
    from: argument("from-currency", "ISO 4217, e.g. that of costs"),
    to: argument("to-currency", "ISO 4217, e.g. that of prices"),
    rate: argument("rate", "how much of the second one is of the first: a plain decimal"),
  },
  options: { day: text("--from <day>", "the first UTC day on which it holds, YYYY-MM-DD (default today)") },
  async run(context, { from, to, rate, day }) {
    const { setRate } = await import("../../../core/prices/rates.ts");
    const input = { from: from.toUpperCase(), to: to.toUpperCase(), rate: rate.trim(), day, actor: OPERATOR };
    const set = await context.withStore(({ store }) => store.write(setRate, input));
    return recordResult(set, () => ({
      rate: `1 ${set.from_currency} = ${set.rate} ${set.to_currency}`,
      from: set.from,
    }));
  },
});
