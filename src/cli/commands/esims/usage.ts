import { IMPORT_JSON, importCsv } from "../../bulk/import-csv.ts";
import { importOptions } from "../../bulk/reading.ts";
import { usageCsv } from "../../csv/specs.ts";
import { command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { exitCodes } from "../../kernel/exit-codes.ts";
import { type Argument, argument, choice, flag } from "../../kernel/input.ts";
import { OPERATOR } from "../../place/operator.ts";
import type { UsageRow } from "./usage-rows.ts";

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
  examples: [
    "esims usage import usage.csv",
    "esims usage import usage.csv --dry-run",
    "esims usage import sessions.csv --unit gb --sum",
  ],
  exits: [exitCodes.someFailed],
  batches: true,
  csv: usageCsv,
  args: {
    word: importWord,
    file: argument("file", "CSV: iccid, used_mb, total_mb, country, network, at; - for stdin"),
  },
  options: {
    ...importOptions,
    unit: choice("--unit <unit>", ["bytes", "kb", "mb", "gb"], "of columns whose names say none"),
    sum: flag("--sum", "rows are single sessions: add up those of one eSIM"),
  },
  async run(context, { file, dryRun, strict, unit, sum, ...reading }) {
    const [{ recordUsage }, { usageRows }] = await Promise.all([
      import("../../../core/esims/usage.ts"),
      import("./usage-rows.ts"),
    ]);
    const { opened, survey, check } = usageRows({ unit, sum });
    return context.withStore(({ store }) =>
      importCsv(context, {
        file,
        spec: usageCsv,
        opened,
        survey,
        check,
        async send(rows: UsageRow[]) {
          const reports = rows.filter((row) => row !== null);
          const outcomes = await store.write(recordUsage, { reports, actor: OPERATOR });
          let next = 0;
          // A row that another row's sum has is there with it.
          return rows.map((row) => (row === null ? "duplicate" : (outcomes[next++] ?? "duplicate")));
        },
        dryRun,
        strict,
        reading,
      }),
    );
  },
});
