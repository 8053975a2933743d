import { counted } from "../kernel/counted.ts";
import { issuerCode } from "../kernel/passport-issuer.ts";
import { type DateTally, isDayColumn, tallyDates } from "./dates.ts";

/** Collects what is worth knowing of a file's rows; memory does not grow with them. */
export interface Advice {
  see(line: number, values: Readonly<Record<string, string>>): void;
  /** How its dates are written. */
  dates: Pick<DateTally, "rows" | "order">;
  /** What to do about the rest, a sentence each. */
  suggestions(): string[];
}

/** How often something was seen, and where first. */
interface Seen {
  rows: number;
  line: number;
  column: string;
}

const kinds = ["scientific", "postcode", "document"] as const;
type Kind = (typeof kinds)[number];

/** Columns whose digits a spreadsheet takes for a number. */
const DIGITS =
  /^(iccid|eid|passport_no|puk|sim_last4|customer_phone|postcode|external_order_id|matching_id|activation_id)$/;
const SCIENTIFIC = /^\d([.,]\d+)?E\+?\d+$/i;

/** Digits of postcodes and of passport numbers, by the country that issued the passport, where all have as many. */
const postcodeDigits: Readonly<Record<string, number>> = {
  ...{ AUS: 4, AUT: 4, CHE: 4, DNK: 4, NZL: 4, NOR: 4, ZAF: 4 },
  ...{ DEU: 5, ESP: 5, FIN: 5, FRA: 5, ITA: 5, KOR: 5, MYS: 5, SWE: 5, THA: 5, USA: 5 },
  ...{ CHN: 6, IND: 6, SGP: 6, JPN: 7 },
};
const documentDigits: Readonly<Record<string, number>> = { GBR: 9, USA: 9, RUS: 9, DNK: 9, SWE: 8 };
const AUSTRALIAN = /^(nsw|vic|qld|wa|sa|tas|act|nt)$/i;

/** Advice on a file of which no row was seen yet. */
export function collectAdvice(): Advice {
  const seen = new Map<Kind, Seen>();
  const note = (kind: Kind, line: number, column: string) => {
    const known = seen.get(kind);
    if (known === undefined) seen.set(kind, { rows: 1, line, column });
    else known.rows += 1;
  };
  const dates = tallyDates();
  /** Those of the file, whose rows all have the same. */
  let columns: { digits: string[]; days: string[] } | null = null;
  return {
    see(line, values) {
      columns ??= {
        digits: Object.keys(values).filter((one) => DIGITS.test(one)),
        days: Object.keys(values).filter(isDayColumn),
      };
      const scientific = columns.digits.find((one) => SCIENTIFIC.test(values[one] ?? ""));
      if (scientific !== undefined) note("scientific", line, scientific);
      if (isShortPostcode(values)) note("postcode", line, "postcode");
      if (isShortDocument(values)) note("document", line, "passport_no");
      dates.see(columns.days, values);
    },
    dates,
    suggestions() {
      return kinds.flatMap((kind) => {
        const known = seen.get(kind);
        return known === undefined ? [] : [words[kind](counted(known.rows, "row"), whereFirst(known))];
      });
    },
  };
}

const words: Readonly<Record<Kind, (rows: string, where: string) => string>> = {
  scientific: (rows, where) =>
    `${rows}: a spreadsheet turned a number into a form like 6.13014E+08 (${where}), and digits are lost. Format the ` +
    "column as text there and export the file again.",
  postcode: (rows, where) =>
    `${rows}: the postcode is shorter than those of its country (${where}). Leading zeros may be lost.`,
  document: (rows, where) =>
    `${rows}: the passport number is shorter than those of its country (${where}). Leading zeros may be lost.`,
};

function whereFirst({ line, column }: Seen): string {
  return `first on line ${line}, column ${column}`;
}

function countryOf({ passport_country = "" }: Readonly<Record<string, string>>): string {
  return issuerCode(passport_country) ?? "";
}

function isShortPostcode(values: Readonly<Record<string, string>>): boolean {
  const { postcode = "", state = "" } = values;
  if (!/^\d+$/.test(postcode)) return false;
  const digits = AUSTRALIAN.test(state) ? postcodeDigits.AUS : postcodeDigits[countryOf(values)];
  return digits !== undefined && postcode.length < digits;
}

function isShortDocument(values: Readonly<Record<string, string>>): boolean {
  const { passport_no = "" } = values;
  const digits = documentDigits[countryOf(values)];
  return digits !== undefined && /^\d+$/.test(passport_no) && passport_no.length < digits;
}
