import type { PartnerBalance } from "../../../core/wallet/balances.ts";
import type { WalletBalances } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { type Context, command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { exitCodes } from "../../kernel/exit-codes.ts";
import { decimal, text } from "../../kernel/input.ts";
import type { Result } from "../../output/result.ts";
import type { Column, Sheet } from "../../output/sheet.ts";
import { moment } from "../../output/words.ts";

export default command({
  target: "partner",
  shows: "record",
  effects:
    "Reads only. On the operator's data without --partner: the balances of all partners. With --min and --currency: " +
    "exit code 1 when the balance in that currency is below the amount.",
  json:
    "the API's body: {balances: [{currency, balance_cents, last_transaction_at, credit: {limit_cents, used_cents, " +
    "available_cents}}], count}; credit only where there is a credit line",
  examples: [
    "wallet balance",
    "wallet balance --partner acme",
    "wallet balance --partner acme --json",
    "wallet balance --partner acme --min 50 --currency AUD --quiet",
  ],
  args: {},
  options: {
    min: decimal("--min <amount>", "what the balance must at least be, e.g. 50.00"),
    currency: text("--currency <code>", "the currency that --min is in"),
  },
  async run(context, { min, currency }) {
    const floor = await floorOf(min, currency?.toUpperCase());
    const isOfAll = (await context.where()).kind !== "server" && context.actsFor.partner === undefined;
    if (isOfAll && floor === null) return balancesOfAll(context);
    const { body } = await context.withApi((api) => api.request<WalletBalances>("GET", apiPath`/balance`));
    const short = floor === null ? 0 : shortfall(body, floor);
    return {
      json: body,
      exitCode: short > 0 ? exitCodes.failed : exitCodes.done,
      text: (sheet) => {
        const table = balances(sheet, body);
        return floor === null ? table : `${table}\n\n${verdict(sheet, floor, short)}`;
      },
    };
  },
});

/** On the operator's data without --partner: what all wallets hold. */
async function balancesOfAll(context: Context): Promise<Result> {
  const { allBalances } = await import("../../../core/wallet/balances.ts");
  const balances = await context.withStore(({ store }) => store.read(allBalances, null));
  const columns: Column<PartnerBalance>[] = [
    { title: "partner", value: ({ partner }) => partner },
    { title: "balance", value: (one, sheet) => sheet.money(one.balance_cents, one.currency), align: "right" },
    { title: "last transaction", value: (one) => moment(one.last_transaction_at) },
  ];
  return {
    json: { balances, count: balances.length },
    text: (sheet) => sheet.table(columns, balances, "There are no wallets yet."),
  };
}

interface Floor {
  cents: number;
  currency: string;
}

/** The least balance that was asked about; null: none. Throws a usage error where half of it is missing. */
async function floorOf(min: string | undefined, currency: string | undefined): Promise<Floor | null> {
  if (min === undefined && currency === undefined) return null;
  if (min === undefined || currency === undefined) {
    throw usageError("--min and --currency go together.", "Give both, e.g. --min 50 --currency AUD.");
  }
  const { parseAnyAmount } = await import("../../kernel/amount.ts");
  return { cents: parseAnyAmount(min, currency, "--min"), currency };
}

/** What is missing to the floor, in minor units. A currency that the wallet never had holds nothing. */
function shortfall({ balances }: WalletBalances, floor: Floor): number {
  const balance = balances.find(({ currency }) => currency === floor.currency)?.balance_cents ?? 0;
  return Math.max(0, floor.cents - balance);
}

function balances(sheet: Sheet, body: WalletBalances): string {
  const credit = (part: "limit_cents" | "used_cents") => (one: WalletBalances["balances"][number]) =>
    one.credit === undefined ? null : sheet.money(one.credit[part], one.currency);
  const lines = [
    { title: "credit line", value: credit("limit_cents"), align: "right" as const },
    { title: "drawn", value: credit("used_cents"), align: "right" as const },
  ];
  return sheet.table(
    [
      { title: "balance", value: (one) => sheet.money(one.balance_cents, one.currency), align: "right" },
      ...(body.balances.some((one) => one.credit !== undefined) ? lines : []),
      { title: "last transaction", value: (one) => moment(one.last_transaction_at) },
    ],
    body.balances,
    "The wallet is empty and was never used.",
  );
}

function verdict(sheet: Sheet, { cents, currency }: Floor, short: number): string {
  const least = sheet.money(cents, currency);
  if (short === 0) return sheet.paint.green(`At least ${least}.`);
  return sheet.paint.red(`Below ${least}: ${sheet.money(short, currency)} short.`);
}
