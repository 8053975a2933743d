import type { Quote } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { command } from "../../frame/command.ts";
import { exitCodes } from "../../kernel/exit-codes.ts";
import type { Sheet } from "../../output/sheet.ts";
import { lineOptions, orderedLine, refuseMissing } from "./line.ts";

const deliveries: Readonly<Record<Quote["line_items"][number]["delivery"], string>> = {
  now: "at once",
  scheduled: "on the day of activation",
  shipping: "by post",
  review: "after a review: the stock is short",
};

export default command({
  target: "partner",
  shows: "record",
  effects:
    "Reads only: says what an order would cost and when it would be delivered, and reserves nothing. Refused as the " +
    "order would be. Exit code 1 when the wallet holds too little.",
  json:
    "the API's body: {line_items: [{product_id, product_sku, quantity, unit_price_cents, subtotal_cents, delivery, " +
    "…}], quantity, total_price_cents, currency, balance_cents, shortfall_cents}",
  examples: [
    "orders quote --partner acme --product ES-GLB-1GB-7D --quantity 2",
    "orders quote --product EM-MG-8GB-30D --quantity 1 --name Ada --email ada@example.com --date 2027-11-01 --json",
  ],
  args: {},
  options: lineOptions,
  async run(context, given) {
    refuseMissing(context, given, "quote");
    return context.withApi(async (api) => {
      const { body } = await orderedLine(context, api, given);
      const { body: quote } = await api.request<Quote>("POST", apiPath`/orders/quote`, { body });
      return {
        json: quote,
        exitCode: quote.shortfall_cents > 0 ? exitCodes.failed : exitCodes.done,
        text: (sheet) => words(sheet, quote),
      };
    });
  },
});

function words(sheet: Sheet, { line_items, total_price_cents, currency, balance_cents, shortfall_cents }: Quote) {
  const [line] = line_items;
  const short = shortfall_cents === 0 ? "" : sheet.paint.red(` (${sheet.money(shortfall_cents, currency)} short)`);
  return sheet.fields({
    product: `${line?.product_sku}: ${line?.product_name}`,
    quantity: String(line?.quantity),
    price: `${sheet.money(line?.unit_price_cents ?? 0, currency)} each`,
    total: sheet.money(total_price_cents, currency),
    wallet: sheet.money(balance_cents, currency) + short,
    delivery: line === undefined ? "" : deliveries[line.delivery],
  });
}
