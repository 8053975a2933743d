import { IMPORT_JSON, importCsv } from "../../bulk/import-csv.ts";
import { importOptions } from "../../bulk/reading.ts";
import { usageCsv } from "../../csv/specs.ts";
import { command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { exitCodes } from "../../kernel/exit-codes.ts";
import { type Argument, argument } from "../../kernel/input.ts";
import { OPERATOR } from "../../place/operator.ts";

/** `usage import`: the one verb of two words. */
const importWord: Argument<"import"> = {
  syntax: "<import>",
  literal: "import",
  help: "the word import",
  ask: { oneOf: ["import"] },
  read(given) {
    if (given === "import") return given;
    throw usageError(`esims usage knows import, not "${String(given)}".`, "Type esims usage import FILE.csv.");
  },
};

export default command({
  target: "operator",
  effects: "Writes usage and location of delivered eSIMs. A report not newer than what is known is a duplicate.",
  json: IMPORT_JSON,
  examples: ["esims usage import usage.csv", "esims usage import usage.csv --dry-run"],
  exits: [exitCodes.someFailed],
  batches: true,
  csv: usageCsv,
  args: {
    word: importWord,
    file: argument("file", "CSV: iccid, used_mb, total_mb, country, network, at; - for stdin"),
  },
  options: importOptions,
  async run(context, { file, dryRun, strict, ...reading }) {
    const [{ checkUsageRow, recordUsage }] = await Promise.all([import("../../../core/esims/usage.ts")]);
    return context.withStore(({ store }) =>
      importCsv(context, {
        file,
        spec: usageCsv,
        check: ({ values }) => checkUsageRow(values),
        send: (reports) => store.write(recordUsage, { reports, actor: OPERATOR }),
        dryRun,
        strict,
        reading,
      }),
    );
  },
});
