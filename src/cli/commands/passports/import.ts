import { stat } from "node:fs/promises";
import type { SentPassport } from "../../../core/passports/check.ts";
import { differsWords } from "../../../core/passports/differs.ts";
import type { Skipped } from "../../../core/passports/import.ts";
import type { GoodRow } from "../../../core/passports/rows.ts";
import { IMPORT_JSON, importCsv } from "../../bulk/import-csv.ts";
import { importOptions } from "../../bulk/reading.ts";
import type { PassportImportResult } from "../../client/answers.ts";
import { type Api, apiPath } from "../../client/api.ts";
import type { RowOutcome } from "../../csv/import.ts";
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
    const [{ passportRows }, { civilDateAt }, { systemClock }] = await Promise.all([
      import("../../../core/passports/rows.ts"),
      import("../../../core/kernel/civil-date.ts"),
      import("../../../core/kernel/clock.ts"),
    ]);
    const { survey, check } = passportRows(civilDateAt(systemClock.now()));
    const work = async (api: Api) =>
      importCsv(context, {
        file,
        spec: passportsCsv,
        check,
        survey,
        send: (rows) =>
          sendBatch(
            api,
            rows.map(({ sent }) => sent),
          ),
        ...(api.local === undefined ? {} : await locally(context, api.local)),
        dryRun,
        strict,
        reading,
      });
    return context.withApi(work, undefined, { writesMany: !dryRun && (await isLarge(file)) });
  },
});

/** Bytes from which on a thread of its own, whose start takes a third of a second, makes an import quicker. */
const LARGE = 1024 * 1024;

/** Whether it is a file of so many bytes; a pipe is none. Why one cannot be read is said when it is opened. */
async function isLarge(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => null);
  return found !== null && found.size >= LARGE;
}

/** Passports a transaction: what a running daemon waits for at most. */
const BESIDE_DAEMON = 500;
/** Where none runs: a page that many rows change is written once. More of them save little, and take memory. */
const WITHOUT_DAEMON = 10_000;
/** Rows of the first transaction: the thread that writes need not wait for all of the usual number. */
const AT_FIRST = 5_000;

/** How many passports the next transaction on local data may have: a daemon may start amid an import. */
async function localBatch({ where }: Pick<Context, "where">): Promise<() => number> {
  const place = await where();
  if (place.kind !== "directory") return () => BESIDE_DAEMON;
  const { isServed } = await import("../../../core/platform/data-directory.ts");
  let size = AT_FIRST;
  return () => {
    if (isServed(place.path)) return BESIDE_DAEMON;
    const now = size;
    size = WITHOUT_DAEMON;
    return now;
  };
}

/**
 * On local data: rows are sealed as they are read, while those before them are written. The API's requests hold 200;
 * a transaction here does not.
 */
async function locally(context: Context, { store, clock, ids, partnerId, environment }: NonNullable<Api["local"]>) {
  const [{ importPassports }, { gatherSealed, passportSealer }] = await Promise.all([
    import("../../../core/passports/import.ts"),
    import("../../../core/passports/seal.ts"),
  ]);
  const owner = { partnerId, environment };
  const gather = () => {
    const seal = passportSealer({ vault: store.vault, ids, now: clock.now() }, owner);
    const sealed = gatherSealed();
    let rows = 0;
    return {
      add({ passport }: GoodRow) {
        sealed.add(seal(passport));
        rows += 1;
      },
      async send() {
        const { skipped } = await store.write(importPassports, {
          ...owner,
          texts: sealed.take(),
          actor: OPERATOR,
        });
        return outcomesOf(rows, skipped);
      },
    };
  };
  return { gather, batchSize: await localBatch(context), isLean: true };
}

async function sendBatch(api: Api, records: readonly SentPassport[]): Promise<RowOutcome[]> {
  const { body } = await api.request<PassportImportResult>("POST", apiPath`/kyc/passports`, { body: { records } });
  return outcomesOf(
    records.length,
    body.skipped.map(({ index, reason }) => ({ place: index, differs: differsIn(reason) })),
  );
}

/** The fields that a server names as different. */
function differsIn(reason: string): string[] {
  const [, fields] = /^differs: (.+)$/.exec(reason) ?? [];
  return fields?.split(", ") ?? [];
}

function outcomesOf(records: number, skipped: readonly Pick<Skipped, "place" | "differs">[]): RowOutcome[] {
  const outcomes = new Array<RowOutcome>(records).fill("imported");
  for (const { place, differs } of skipped) outcomes[place] = differs.length === 0 ? "duplicate" : refused(differs);
  return outcomes;
}

function refused(differs: readonly string[]): RowOutcome {
  return { rejected: `${differsWords(differs)}: correct that record (passports edit), or withdraw it` };
}
