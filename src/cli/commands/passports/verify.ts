import type { DocumentOutcome, DocumentVerdict } from "../../../core/passports/verdict.ts";
import { IMPORT_JSON, importCsv } from "../../bulk/import-csv.ts";
import { type Reading, readingOptions } from "../../bulk/reading.ts";
import type { RowOutcome } from "../../csv/import.ts";
import { passportVerdictsCsv } from "../../csv/specs.ts";
import { type Context, command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { exitCodes } from "../../kernel/exit-codes.ts";
import { argumentList, excluding, flag, text } from "../../kernel/input.ts";
import type { Result } from "../../output/result.ts";
import { OPERATOR } from "../../place/operator.ts";
import { passportId } from "./passport.ts";

export default command({
  target: "operator",
  effects:
    "Verified passports that are onshore can be drawn. A file's verdicts, also rejections, hold in every pool that " +
    "has the document, or in one partner's.",
  json:
    '{results: [{id, status: "verified" | "failed", reason?}], summary: {total, successful, failed}}; ' +
    `with --file ${IMPORT_JSON}`,
  examples: ["passports verify 019c… 019d… --onshore", "passports verify --file verdicts.csv"],
  exits: [exitCodes.someFailed],
  batches: true,
  csv: passportVerdictsCsv,
  args: { ids: argumentList("ids", "ids of records, as `passports queue` lists them") },
  options: {
    file: text("--file <file>", "CSV with passport_country, passport_no, result, onshore, reason; - for stdin"),
    onshore: flag("--onshore", "mark their holders as onshore; of a file: where it says nothing"),
    offshore: excluding(flag("--offshore", "mark them as offshore"), "--onshore"),
    partner: text("--partner <slug>", "with --file: only in this partner's pools"),
    ...readingOptions,
  },
  async run(context, { ids, file, onshore, offshore, partner, ...reading }) {
    if ((file === undefined) === (ids.length === 0)) throw usageError("Give ids or --file.", "One of the two.");
    const mark = onshore ? true : offshore ? false : undefined;
    return file === undefined
      ? verifyIds(context, ids, mark)
      : verifyFile(context, { file, onshore: mark, partner, reading });
  },
});

interface Verdict {
  id: string;
  status: "verified" | "failed";
  reason?: string;
}

async function verifyIds(context: Context, ids: readonly string[], onshore: boolean | undefined): Promise<Result> {
  const [{ recordVerdict }, { Problem }] = await Promise.all([
    import("../../../core/passports/verdict.ts"),
    import("../../../core/kernel/problem.ts"),
  ]);
  // What a table says; the JSON has the codes.
  const words = new Map<string, string>();
  const results = await context.withStore(({ store }) =>
    Promise.all(
      ids.map(async (id): Promise<Verdict> => {
        try {
          const verdict = { id: passportId(id), verification: "verified", onshore, actor: OPERATOR } as const;
          await store.write(recordVerdict, verdict);
          return { id, status: "verified" };
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
          words.set(id, error.message);
          return { id, status: "failed", reason: error.slug };
        }
      }),
    ),
  );
  const failed = results.filter(({ status }) => status === "failed").length;
  const successful = results.length - failed;
  return {
    json: { results, summary: { total: results.length, successful, failed } },
    exitCode: failed === 0 ? exitCodes.done : successful > 0 ? exitCodes.someFailed : exitCodes.failed,
    text: (sheet) =>
      sheet.table(
        [
          { title: "id", value: (one) => one.id },
          { title: "status", value: (one) => one.status },
          { title: "reason", value: (one) => words.get(one.id) ?? null, wraps: true },
        ],
        results,
        "Nothing to verify.",
      ),
  };
}

/** A file of verdicts, and how it is read. */
interface Verdicts {
  file: string;
  onshore: boolean | undefined;
  partner: string | undefined;
  reading: Reading;
}

async function verifyFile(context: Context, { file, onshore, partner, reading }: Verdicts): Promise<Result> {
  const [{ recordVerdicts }, { requirePartner }, { verdictRows }] = await Promise.all([
    import("../../../core/passports/verdict.ts"),
    import("../../../core/partners/partner.ts"),
    import("./verdict-rows.ts"),
  ]);
  return context.withStore(async ({ store }) => {
    const partnerId = partner === undefined ? undefined : (await store.read(requirePartner, partner)).id;
    return importCsv(context, {
      file,
      spec: passportVerdictsCsv,
      ...verdictRows(onshore),
      async send(rows: readonly DocumentVerdict[]) {
        const verdicts = rows.map((row) => ({ ...row, partnerId }));
        return (await store.write(recordVerdicts, { verdicts, actor: OPERATOR })).map(rowOutcome);
      },
      dryRun: false,
      strict: false,
      reading,
    });
  });
}

function rowOutcome(outcome: DocumentOutcome): RowOutcome {
  if (outcome === "not_found") return { rejected: "no pool holds this passport" };
  return outcome === "updated" ? "updated" : "duplicate";
}
