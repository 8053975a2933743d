import type { CheckedWallet } from "../../../core/wallet/check.ts";
import { command } from "../../frame/command.ts";
import { exitCodes } from "../../kernel/exit-codes.ts";
import { decimal, flag } from "../../kernel/input.ts";
import type { Column } from "../../output/sheet.ts";
import { statusPaint } from "../../output/words.ts";

const columns: Column<CheckedWallet>[] = [
  { title: "partner", value: (wallet) => wallet.partner },
  { title: "balance", value: (wallet, sheet) => sheet.money(wallet.balance_cents, wallet.currency), align: "right" },
  { title: "ledger", value: (wallet, sheet) => sheet.money(wallet.ledger_cents, wallet.currency), align: "right" },
  { title: "state", value: state, paint: (sheet, wallet) => statusPaint(sheet, state(wallet)) },
];

function state(wallet: CheckedWallet): string {
  if (!wallet.ok) return "wrong";
  return wallet.low ? "low" : "ok";
}

export default command({
  target: "operator",
  shows: "record",
  effects: "Reads only. Exit code 1 when balances and the ledger differ; with --exit-code also when a wallet is low.",
  json:
    "{ok, wallets: [{partner, currency, balance_cents, ledger_cents, ok, low}], unbalanced, " +
    "wrong_credit: [{partner, currency, used_cents, ledger_cents}], " +
    "wrong_balance_after: [{id, partner, currency, balance_after_cents, ledger_cents}]}",
  examples: ["wallet check", "wallet check --min 100.00 --json", "wallet check --min 100.00 --exit-code --quiet"],
  args: {},
  options: {
    min: decimal("--min <amount>", "what makes a wallet low, in each currency's own units (default: nothing)"),
    exitCode: flag("--exit-code", "exit code 1 also when a wallet is low"),
  },
  async run(context, { min, exitCode }) {
    const [{ checkBalancesAfter, checkCredit, checkWallets }, { parseAnyAmount }] = await Promise.all([
      import("../../../core/wallet/check.ts"),
      import("../../kernel/amount.ts"),
    ]);
    const minimum = (currency: string) => (min === undefined ? null : parseAnyAmount(min, currency, "--min"));
    const found = await context.withStore(async ({ store }) => {
      const [checked, wrong_credit, wrong_balance_after] = await Promise.all([
        store.read(checkWallets, { minimum }),
        store.read(checkCredit, null),
        store.read(checkBalancesAfter, null),
      ]);
      const ok = checked.ok && wrong_credit.length === 0 && wrong_balance_after.length === 0;
      return { ...checked, ok, wrong_credit, wrong_balance_after };
    });
    return {
      json: found,
      exitCode: found.ok && !(exitCode && found.wallets.some(({ low }) => low)) ? exitCodes.done : exitCodes.failed,
      text: (sheet) => {
        const credit = found.wrong_credit.map(({ partner, currency }) => `${partner} ${currency}`);
        const after = found.wrong_balance_after.map(({ id }) => id);
        const wallets = sheet.table(columns, found.wallets, "There are no wallets yet.");
        const verdict = found.ok
          ? sheet.paint.green("The ledger and all balances agree.")
          : sheet.paint.red(
              `The ledger and the balances differ. Unbalanced: ${found.unbalanced.join(", ") || "none"}. ` +
                `Wrong credit: ${credit.join(", ") || "none"}. ` +
                `Wrong balance after: ${after.join(", ") || "none"}.`,
            );
        return `${wallets}\n\n${verdict}`;
      },
    };
  },
});
