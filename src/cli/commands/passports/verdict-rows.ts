import { findClashes, linesWords } from "../../../core/csv/clashes.ts";
import type { CsvRow } from "../../../core/csv/rows.ts";
import { type Checked, fieldSentences } from "../../../core/kernel/checked.ts";
import { checkIdentityFields, normalizePassportNumber } from "../../../core/kernel/identity.ts";
import type { DocumentVerdict } from "../../../core/passports/verdict.ts";
import { passportVerdicts } from "../../../core/store/schema/values.ts";
import type { passportVerdictsCsv } from "../../csv/specs.ts";

type Row = CsvRow<(typeof passportVerdictsCsv)["columns"][number]>;

const yes = ["yes", "true"];
const no = ["no", "false"];
const MOST_REASON = 500;

/**
 * How rows of a file of verdicts are checked, by themselves and against each other: a passport has one verdict.
 * `onshore` is the default of rows without it.
 */
export function verdictRows(onshore: boolean | undefined) {
  const clashes = findClashes(keyOf, contentOf);
  const lineOf = (row: Row): Line => ({ line: row.line, checked: checkRow(row, onshore) });
  return {
    survey: (row: Row) => clashes.see(lineOf(row)),
    check(row: Row): Checked<DocumentVerdict> {
      const line = lineOf(row);
      const lines = clashes.linesOf(line);
      return lines === null
        ? line.checked
        : { problems: [`passport_no has different verdicts on ${linesWords(lines)}`] };
    },
  };
}

/** A row that was checked by itself. */
interface Line {
  line: number;
  checked: Checked<DocumentVerdict>;
}

/** Which passport it is about; null: that cannot be said. */
function keyOf({ checked }: Line): string | null {
  return "ok" in checked ? `${checked.ok.country} ${normalizePassportNumber(checked.ok.number)}` : null;
}

/** What it says of it. A reason is kept of a rejected one alone. */
function contentOf({ checked }: Line): string {
  if (!("ok" in checked)) return "";
  const { verification, reason, onshore } = checked.ok;
  return JSON.stringify([verification, onshore ?? null, verification === "rejected" ? reason : null]);
}

function checkRow({ values }: Row, onshore: boolean | undefined): Checked<DocumentVerdict> {
  const { passport_no, passport_country, reason } = values;
  const { fields, errors } = checkIdentityFields({ passport_no, passport_country }, "");
  const problems = fieldSentences(errors);
  for (const field of ["passport_country", "passport_no"] as const) {
    if (values[field] === "") problems.push(`${field} is required`);
  }
  const result = values.result.toLowerCase();
  const verification = passportVerdicts.find((verdict) => verdict === result);
  if (verification === undefined) problems.push(`result must be ${passportVerdicts.join(" or ")}`);
  if (result === "rejected" && reason === "") problems.push("reason is required for a rejection");
  if (reason.length > MOST_REASON) problems.push(`reason must be at most ${MOST_REASON} characters`);
  const mark = values.onshore.toLowerCase();
  if (!["", ...yes, ...no].includes(mark)) problems.push("onshore must be yes, no, true or false");
  if (problems.length > 0 || verification === undefined) return { problems };
  return {
    ok: {
      country: fields.passport_country ?? "",
      number: fields.passport_no ?? "",
      verification,
      onshore: mark === "" ? onshore : yes.includes(mark),
      ...(reason === "" ? {} : { reason }),
    },
  };
}
