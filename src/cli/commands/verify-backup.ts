import { counted } from "../../core/kernel/counted.ts";
import type { Counts } from "../../core/maintenance/verify-backup.ts";
import { command } from "../frame/command.ts";
import { exitCodes } from "../kernel/exit-codes.ts";
import { argument } from "../kernel/input.ts";
import { findingLines, moment } from "../output/words.ts";
import { givenKey } from "../place/key-file.ts";

/** The counts of tables, under the names that the terminal uses. */
export function countsJson(counts: Counts | null): Record<string, number> | null {
  if (counts === null) return null;
  const { ledgerTransactions: ledger_transactions, ...rest } = counts;
  return { ...rest, ledger_transactions };
}

export default command({
  target: "process",
  effects: "Reads only. Exit code 1 only for faults. --key-file FILE tries the key that is kept apart.",
  json:
    "{ok, file, made_at, version, holds_key, findings: [{check, level (ok | warning | fault), message, remedy}], " +
    "counts: {partners, products, orders, esims, activations, passports, ledger_transactions} | null}",
  examples: ["verify-backup nightly.backup", "verify-backup nightly.backup --key-file esimctl.key --json"],
  args: { file: argument("file", "what backup made") },
  options: {},
  async run(context, { file }) {
    const [core, { isSound }, { systemClock }] = await Promise.all([
      import("../../core/maintenance/verify-backup.ts"),
      import("../../core/maintenance/finding.ts"),
      import("../../core/kernel/clock.ts"),
    ]);
    const key = givenKey(context.globals);
    const { findings, counts, ...notes } = await core.verifyBackup(file, { key, clock: systemClock });
    const ok = isSound(findings);
    const shown = countsJson(counts);
    const rows = Object.entries(shown ?? {}).map(([name, many]) =>
      counted(many, name.replaceAll("_", " ").replace(/s$/, "")),
    );
    return {
      json: { ok, file, ...notes, findings, counts: shown },
      exitCode: ok ? exitCodes.done : exitCodes.failed,
      text: (sheet) => {
        const title = `${file}, made ${moment(notes.made_at)} by esimctl ${notes.version}`;
        return [title, ...findingLines(sheet, findings), ...(rows.length > 0 ? [rows.join(", ")] : [])].join("\n");
      },
    };
  },
});
