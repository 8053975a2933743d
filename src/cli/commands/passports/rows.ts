import { type Checked, fieldSentences } from "../../../core/kernel/checked.ts";
import { checkIdentityFields } from "../../../core/kernel/identity.ts";
import { checkPassport, type SentPassport } from "../../../core/passports/check.ts";
import type { DocumentVerdict } from "../../../core/passports/verdict.ts";
import { passportVerdicts } from "../../../core/store/schema/values.ts";
import type { CsvRow } from "../../csv/open.ts";

/** Checks rows of a passport file as the API would; `today` is YYYY-MM-DD. Valid rows are sent unchanged. */
export function passportRowCheck(today: string): (row: CsvRow<keyof SentPassport>) => Checked<SentPassport> {
  return ({ values }) => {
    const checked = checkPassport(values, today);
    return "ok" in checked ? checked : { problems: fieldSentences(checked.problems) };
  };
}

type VerdictColumn = "passport_country" | "passport_no" | "result" | "onshore" | "reason";

const yes = ["yes", "true"];
const no = ["no", "false"];
const MOST_REASON = 500;

/** Checks rows of a file of verdicts; `onshore` is the default of rows without it. */
export function verdictRowCheck(
  onshore: boolean | undefined,
): (row: CsvRow<VerdictColumn>) => Checked<DocumentVerdict> {
  return ({ values }) => {
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
  };
}
