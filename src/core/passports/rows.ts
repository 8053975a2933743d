import { findClashes, linesWords } from "../csv/clashes.ts";
import type { CheckedRow, CsvRow } from "../csv/rows.ts";
import { fieldSentences } from "../kernel/checked.ts";
import { normalizePassportNumber } from "../kernel/identity.ts";
import { identityNames } from "../kernel/identity-fields.ts";
import { nameDoubts } from "../kernel/name-doubts.ts";
import { issuerCode } from "../kernel/passport-issuer.ts";
import { checkPassport, type SentPassport } from "./check.ts";
import type { NewPassport } from "./passport.ts";

/** A row that passed the checks: a server gets it as it was written. */
export interface GoodRow {
  sent: SentPassport;
  passport: NewPassport;
}

type Row = CsvRow<keyof SentPassport>;

/** Checks the rows of a passport file by themselves and against each other. `today` is YYYY-MM-DD. */
export function passportRows(today: string) {
  const twice = findClashes(documentIn, identityIn);
  return {
    survey: twice.see,
    check(row: Row): CheckedRow<GoodRow> {
      const { values: sent } = row;
      const checked = checkPassport(sent, today);
      const lines = twice.linesOf(row);
      const clash = lines === null ? [] : [`passport_no has other identity fields on ${linesWords(lines)}`];
      if ("problems" in checked) return { problems: [...fieldSentences(checked.problems), ...clash] };
      if (clash.length > 0) return { problems: clash };
      const isOver = checked.ok.passport_expiry < today;
      const over = isOver ? ["passport_expiry is in the past: the passport has expired"] : [];
      const warnings = [...nameDoubts(checked.ok), ...over];
      return { ok: { sent, passport: checked.ok }, warnings };
    },
  };
}

/** The document of a row, for comparison with other rows. */
function documentIn({ values }: Row): string | null {
  const number = normalizePassportNumber(values.passport_no ?? "");
  return number === "" ? null : `${issuerCode(values.passport_country ?? "") ?? values.passport_country} ${number}`;
}

/** What a row says of its holder. */
function identityIn({ values }: Row): string {
  const named = identityNames.filter((field) => field !== "passport_no" && field !== "passport_country");
  return named.map((field) => (values[field] ?? "").normalize("NFC").split(/\s+/).join(" ")).join("\0");
}
