import type { Checked } from "../../../core/kernel/checked.ts";
import type { SentPassport } from "../../../core/passports/check.ts";
import { IMPORT_JSON, importCsv } from "../../bulk/import-csv.ts";
import { importOptions } from "../../bulk/reading.ts";
import type { PassportImportResult } from "../../client/answers.ts";
import { type Api, apiPath } from "../../client/api.ts";
import type { RowOutcome } from "../../csv/import.ts";
import type { CsvRow } from "../../csv/open.ts";
import { passportsCsv } from "../../csv/specs.ts";
import { type Context, command } from "../../frame/command.ts";
import { exitCodes } from "../../kernel/exit-codes.ts";
import { argument } from "../../kernel/input.ts";
import { OPERATOR } from "../../place/operator.ts";

export default command({
  target: "partner",
  effects:
    "Adds passports, which then await verification; ones that are there already are duplicates. Bad rows go to a file.",
  json: IMPORT_JSON,
  examples: [
    "passports import passports.csv --partner acme",
    "passports import passports.csv --partner acme --dry-run",
  ],
  exits: [exitCodes.someFailed],
  batches: true,
  csv: passportsCsv,
  args: { file: argument("file", "CSV with first_name, last_name, date_of_birth, passport_no, …; - for stdin") },
  options: importOptions,
  async run(context, { file, dryRun, strict, ...reading }) {
    const [{ checkPassport }, { fieldSentences }, { civilDateAt }, { systemClock }] = await Promise.all([
      import("../../../core/passports/check.ts"),
      import("../../../core/kernel/checked.ts"),
      import("../../../core/kernel/civil-date.ts"),
      import("../../../core/kernel/clock.ts"),
    ]);
    const today = civilDateAt(systemClock.now());
    const check = ({ values }: CsvRow<keyof SentPassport>): Checked<SentPassport> => {
      // Valid rows are sent unchanged.
      const checked = checkPassport(values, today);
      return "ok" in checked ? checked : { problems: fieldSentences(checked.problems) };
    };
    return context.withApi(async (api) =>
      importCsv(context, {
        file,
        spec: passportsCsv,
        check,
        send: (records) => (api.local === undefined ? sendBatch(api, records) : importHere(api.local, records)),
        ...(api.local === undefined ? {} : { batchSize: await localBatch(context), isLean: true }),
        dryRun,
        strict,
        reading,
      }),
    );
  },
});

/** Passports a transaction: what a running daemon waits for at most. */
const BESIDE_DAEMON = 500;
/** Where none runs: a page that many rows change is written once. More of them save little, and take memory. */
const WITHOUT_DAEMON = 5000;

/** How many passports the next transaction on local data may have: a daemon may start amid an import. */
async function localBatch({ where }: Pick<Context, "where">): Promise<() => number> {
  const place = await where();
  if (place.kind !== "directory") return () => BESIDE_DAEMON;
  const { isServed } = await import("../../../core/store/data-directory.ts");
  return () => (isServed(place.path) ? BESIDE_DAEMON : WITHOUT_DAEMON);
}

/** By the command itself: its own checks are those of the API, whose requests hold 200. */
async function importHere(
  { store, ...owner }: NonNullable<Api["local"]>,
  records: readonly SentPassport[],
): Promise<RowOutcome[]> {
  const { importPassports } = await import("../../../core/passports/import.ts");
  return outcomesOf(records, await store.write(importPassports, { ...owner, records, actor: OPERATOR }));
}

async function sendBatch(api: Api, records: readonly SentPassport[]): Promise<RowOutcome[]> {
  const { body } = await api.request<PassportImportResult>("POST", apiPath`/kyc/passports`, { body: { records } });
  return outcomesOf(records, body);
}

function outcomesOf(records: readonly unknown[], { skipped }: Pick<PassportImportResult, "skipped">): RowOutcome[] {
  const duplicates = new Set(skipped.map(({ index }) => index));
  return records.map((_, index) => (duplicates.has(index) ? "duplicate" : "imported"));
}
