import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { counted } from "../../core/kernel/counted.ts";
import type { Counts, Opening } from "../../core/maintenance/verify-backup.ts";
import { type Context, command } from "../frame/command.ts";
import { exitCodes } from "../kernel/exit-codes.ts";
import { argument, flag } from "../kernel/input.ts";
import { findingLines, moment } from "../output/words.ts";
import { givenKey } from "../place/key-file.ts";

/** The counts of tables, under the names that the terminal uses. */
export function countsJson(counts: Counts | null): Record<string, number> | null {
  if (counts === null) return null;
  const { ledgerTransactions: ledger_transactions, ...rest } = counts;
  return { ...rest, ledger_transactions };
}

/** The same option of `verify-backup` and `restore`. */
export const withoutChecksum = flag("--without-checksum", "also a backup of a version before checksums");

/** The keys and the passphrase that open a backup; asks for the latter. Throws `StoreError`, a usage error. */
export async function openingOf(
  context: Context,
  file: string,
): Promise<Pick<Opening, "key" | "outside" | "passphrase">> {
  const { passphraseOf } = await import("../output/passphrases.ts");
  const key = givenKey(context.globals);
  return { key, outside: context.givenKeys(), passphrase: await passphraseOf(file, context.globals) };
}

/** Runs `work` with a folder (0700) that is removed afterwards, also when Ctrl-C ends the process. */
async function inScratch<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "esimctl-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", remove);
  try {
    return await work(folder);
  } finally {
    process.off("exit", remove);
    remove();
  }
}

export default command({
  target: "process",
  effects:
    "Reads only. Exit code 1 only for faults. --key-file FILE tries the key that is kept apart. A sealed one is " +
    "opened in a folder of the temporary directory (0700, removed at the end); its passphrase is asked for, or one " +
    "line of standard input.",
  json:
    "{ok, file, made_at, version, holds_key, sealed, findings: [{check, level (ok | warning | fault), message, " +
    "remedy}], counts: {partners, products, orders, esims, activations, passports, ledger_transactions} | null}",
  examples: ["verify-backup nightly.backup", "verify-backup nightly.backup --key-file esimctl.key --json"],
  args: { file: argument("file", "what backup made") },
  options: { withoutChecksum },
  async run(context, { file, withoutChecksum }) {
    const [core, { isSound }, { systemClock }] = await Promise.all([
      import("../../core/maintenance/verify-backup.ts"),
      import("../../core/maintenance/finding.ts"),
      import("../../core/kernel/clock.ts"),
    ]);
    const opening = { ...(await openingOf(context, file)), withoutChecksum };
    const verified = inScratch((scratch) => core.verifyBackup(file, { ...opening, scratch, clock: systemClock }));
    const { findings, counts, ...notes } = await verified;
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
