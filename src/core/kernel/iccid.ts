import { luhnValid } from "./check-digits.ts";

/** Zero-width blanks, word joiners, byte-order marks, and marks, embeddings, overrides and isolates of direction. */
const INVISIBLE = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]+/gu;
const WRAPPED = /^="(.*)"$/s;
/** What cards and files fill 19 digits up with. */
const FILL = /(?<=\d{18})F+$/i;

/** A cell without what no one sees, and without the `="…"` that keeps a spreadsheet from reading a number. */
export function visibleText(cell: string): string {
  return cell.replace(INVISIBLE, "").trim().replace(WRAPPED, "$1").trim();
}

/**
 * An ICCID or EID as cards, files and people write it, by its digits alone: without blanks, hyphens, an apostrophe in
 * front and a trailing F, and with plain digits in place of full-width ones. Anything else stays, for a check to name.
 */
export function plainDigits(text: string): string {
  const plain = visibleText(text.normalize("NFKC"));
  return plain
    .replace(/^['’‘`]+/, "")
    .replace(/[\s\u2010-\u2015\u2212-]+/g, "")
    .replace(FILL, "");
}

const SHORTENED = /^\d([.,]\d+)?E\+?\d+$/i;

/** Why a text is no ICCID of at least so many digits, in words behind the field's name; null: it is one. */
export function iccidFault(text: string, { least }: { least: 13 | 19 }): string | null {
  if (new RegExp(`^\\d{${least},20}$`).test(text)) return null;
  if (SHORTENED.test(text)) {
    return "was shortened by a spreadsheet, and digits are lost: format the column as text and export it again";
  }
  const wanted = least === 19 ? "must have 19 or 20 digits" : `must be ${least}-20 digits`;
  if (!/\d/.test(text)) return text === "" ? "is required" : wanted;
  const others = text.replace(/\d/g, "").length;
  return others > 0 ? `${wanted}, and has other characters` : `${wanted}, and has ${text.length}`;
}

/** Spreadsheets keep 15 digits of a number and write zeros for the rest. */
const KEPT_DIGITS = 15;

/** Whether an ICCID ends as a spreadsheet leaves a long number. One of 10,000 real ones ends so too. */
export function endsInZeros(iccid: string): boolean {
  return /^\d{19,20}$/.test(iccid) && /^0+$/.test(iccid.slice(KEPT_DIGITS));
}

/** What is doubtful about an ICCID, in words behind the field's name. */
export function iccidDoubts(iccid: string): string[] {
  if (!/^\d{19,20}$/.test(iccid)) return [];
  return [
    ...(endsInZeros(iccid) ? [ZEROS] : []),
    // Cards of 20 digits may have none.
    ...(luhnValid(iccid) ? [] : ["has a wrong check digit"]),
  ];
}

export const ZEROS = "ends in zeros: a spreadsheet keeps 15 digits of a number, and the others are lost";
