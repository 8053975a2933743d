import { checkPassport, type SentPassport } from "../../../core/passports/check.ts";
import type { Checked } from "../../csv/import.ts";
import type { CsvRow } from "../../csv/open.ts";

/** Checks rows of a passport file as the API would; `today` is YYYY-MM-DD. Valid rows are sent unchanged. */
export function passportRowCheck(today: string): (row: CsvRow<keyof SentPassport>) => Checked<SentPassport> {
  return ({ values }) => {
    const checked = checkPassport(values, today);
    if (checked.ok) return { ok: checked.passport };
    return {
      problems: Object.entries(checked.errors).flatMap(([field, words]) => words.map((one) => `${field} ${one}`)),
    };
  };
}
