import type { WalletBalances } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { command } from "../../frame/command.ts";
import { moment } from "../../output/words.ts";

export default command({
  target: "partner",
  shows: "record",
  effects: "Reads only.",
  json: "the API's body: {balances: [{currency, balance_cents, last_transaction_at}], count}",
  examples: ["wallet balance --partner acme", "wallet balance --partner acme --json"],
  args: {},
  options: {},
  async run(context) {
    const { body } = await context.withApi((api) => api.request<WalletBalances>("GET", apiPath`/balance`));
    return {
      json: body,
      text: (sheet) =>
        sheet.table(
          [
            { title: "balance", value: (one) => sheet.money(one.balance_cents, one.currency), align: "right" },
            { title: "last transaction", value: (one) => moment(one.last_transaction_at) },
          ],
          body.balances,
          "The wallet is empty and was never used.",
        ),
    };
  },
});
