/*
 * What a spreadsheet runs as a formula when a CSV file is opened in it: a cell that begins with = or @, also in their
 * full-width and small forms, with a blank of a line or of no width, or with + or - before what is no number.
 * csv-stringify's own option cannot be undone
 * when the file is read again, and alters telephone numbers.
 */
const FORMULA = /^[=@＝＠﹦﹫\t\r\n\u200b]|^[+＋﹢－﹣-](?!(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$)/i;
const APOSTROPHES = /^'+/;

/** Whether a spreadsheet would run the cell, or it is such a cell behind apostrophes. */
function isGuarded(cell: string): boolean {
  return FORMULA.test(cell.replace(APOSTROPHES, ""));
}

/** A cell as it is written: an apostrophe before what a spreadsheet would run, so that it shows it as text. */
export function guardCell(cell: string): string {
  return isGuarded(cell) ? `'${cell}` : cell;
}

/** A cell as it is meant: without the apostrophe that `guardCell` wrote. */
export function unguardCell(cell: string): string {
  return cell.startsWith("'") && isGuarded(cell) ? cell.slice(1) : cell;
}
