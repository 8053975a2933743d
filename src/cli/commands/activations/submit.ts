import type { CsvRow } from "../../../core/csv/rows.ts";
import { importCsv } from "../../bulk/import-csv.ts";
import { importOptions, withFindings } from "../../bulk/reading.ts";
import { DRAGGED, findDragged } from "../../csv/dragged.ts";
import type { ImportSummary } from "../../csv/import.ts";
import { activationsCsv } from "../../csv/specs.ts";
import { command } from "../../frame/command.ts";
import { confirmSuspended } from "../../frame/confirm-suspended.ts";
import { exitCodes } from "../../kernel/exit-codes.ts";
import { argument, flag } from "../../kernel/input.ts";
import type { Result } from "../../output/result.ts";
import type { Sheet } from "../../output/sheet.ts";
import { endedWords } from "../../output/words.ts";

export default command({
  target: "partner",
  effects:
    "Takes requests into the queue; what is there already is a duplicate. A line without passport_no draws from the " +
    "partner's pool, which takes an agent record. Bad rows go to FILE.rejected.csv. What a carrier needs is checked " +
    "before any line is sent on the operator's data only: a server reports it line by line.",
  json: "{read, submitted, duplicates, rejected, rejected_file, reasons, warnings, suggestions, seconds}",
  examples: ["activations submit sims.csv --partner acme", "activations submit sims.csv --partner acme --dry-run"],
  exits: [exitCodes.someFailed],
  batches: true,
  csv: activationsCsv,
  args: { file: argument("file", "CSV with iccid, activation_date and the identity fields; - for stdin") },
  options: {
    ...importOptions,
    again: flag("--again", "also submit what was cancelled or failed for the same date before"),
  },
  async run(context, { file, dryRun, strict, again, ...reading }) {
    const [{ checkActivationRow, submitRows }, { systemClock }, known, { bodyReader }, schemas] = await Promise.all([
      import("./submit-row.ts"),
      import("../../../core/kernel/clock.ts"),
      import("../../../core/carriers/carrier.ts"),
      import("../../../daemon/plugins/validation.ts"),
      import("../../../daemon/schemas/activation.ts"),
    ]);
    const now = systemClock.now();
    const read = bodyReader(schemas.NewActivation);
    return context.withApi(async (api) => {
      const carriers = api.local === undefined ? null : await api.local.store.read(known.listCarriers, null);
      const dragged = findDragged(({ values }: CsvRow<(typeof activationsCsv)["columns"][number]>) => values.iccid);
      return importCsv(context, {
        file,
        spec: activationsCsv,
        survey: dragged.see,
        check(row) {
          const checked = checkActivationRow(row, { now, read, carriers });
          if ("problems" in checked || !dragged.has(row)) return checked;
          return { ...checked, warnings: [...(checked.warnings ?? []), `iccid ${DRAGGED}`] };
        },
        ready: () => confirmSuspended(context, api),
        send: (requests) => submitRows(api, requests, { again }),
        dryRun,
        strict,
        reading,
        label: "Submitting",
        present,
      });
    });
  },
});

function present(summary: ImportSummary, exitCode: 0 | 1 | 3 | 130, dryRun: boolean): Result {
  const { imported: submitted, updated: _, read, ...rest } = summary;
  const json = { read, submitted, ...rest };
  return { json, exitCode, text: (sheet) => words(sheet, json, exitCode, dryRun) };
}

type Submitted = Omit<ImportSummary, "imported" | "updated"> & { submitted: number };

function words(sheet: Sheet, sum: Submitted, exitCode: number, dryRun: boolean): string {
  const { read, submitted, duplicates, rejected, rejected_file, seconds } = sum;
  const counted = sheet.fields({
    read: String(read),
    submitted: dryRun ? "0 (dry run)" : String(submitted),
    duplicates: String(duplicates),
    rejected: rejected_file === null ? String(rejected) : `${rejected}, in ${rejected_file}`,
    seconds: String(seconds),
  });
  return endedWords(sheet, withFindings(sheet, counted, sum), exitCode);
}
