import type { SeenBalance } from "../../../core/supply/balance.ts";
import { command } from "../../frame/command.ts";
import { type ExitCode, exitCodes } from "../../kernel/exit-codes.ts";
import { optionalArgument } from "../../kernel/input.ts";
import { listResult } from "../../output/result.ts";
import type { Column } from "../../output/sheet.ts";
import { moment, yesNo } from "../../output/words.ts";
import { type Reach, withProviders } from "./provider.ts";

const columns: Column<SeenBalance>[] = [
  { title: "supplier", value: ({ supplier }) => supplier },
  { title: "balance", value: ({ balance, currency }) => `${balance} ${currency}`, align: "right" },
  { title: "low", value: ({ low }) => yesNo(low), paint: ({ paint }, { low }) => (low ? paint.red : paint.reset) },
  { title: "at", value: ({ at }) => moment(at) },
];

export default command({
  target: "operator",
  shows: "rows",
  effects:
    "Asks providers what the accounts hold, and keeps it. Nothing is bought of one whose balance is low (suppliers " +
    "set --low-balance), until it no longer is. The daemon asks every 5 minutes.",
  json: "{data: [{supplier, currency, balance, low, at}], count}",
  examples: ["suppliers balance", "suppliers balance ea --json"],
  exits: [exitCodes.someFailed],
  args: { name: optionalArgument("name", "the provider (default: all of them)") },
  options: {},
  async run(context, { name }) {
    const { listProviders } = await import("../../../core/suppliers/supplier.ts");
    return withProviders(context, async (reach) => {
      const names = name === undefined ? await reach.store.read(listProviders, null) : [name];
      const seen: SeenBalance[] = [];
      for (const one of names) {
        try {
          seen.push(await seenBalance(reach, one));
        } catch (error) {
          // One that gives no answer is named, and hides no other.
          if (name !== undefined || !(error instanceof Error)) throw error;
          context.warn(`${one}: ${error.message}`);
        }
      }
      const empty = names.length === 0 ? "There is no provider: suppliers set adds one." : "No balance is known.";
      return { ...listResult(seen, columns, empty), exitCode: exitOf(seen.length, names.length) };
    });
  },
});

async function seenBalance(reach: Reach, supplier: string): Promise<SeenBalance> {
  const { keepBalance } = await import("../../../core/supply/balance.ts");
  const { currency, balance } = await reach.provider(await reach.contact(supplier)).balance();
  return reach.store.write(keepBalance, { supplier, currency, balance });
}

function exitOf(seen: number, asked: number): ExitCode {
  if (seen === asked) return exitCodes.done;
  return seen === 0 ? exitCodes.failed : exitCodes.someFailed;
}
