import { Chalk, type ColorInfo, supportsColor, supportsColorStderr } from "chalk";
import { formatMoney } from "../../core/kernel/money.ts";
import type { Sheet } from "./sheet.ts";
import { drawFields, drawTable } from "./table.ts";

/** The sheet of stdout or stderr: colors and a width only where it is a terminal. */
export function makeSheet(stream: NodeJS.WriteStream, { plain }: { plain: boolean }): Sheet {
  const support: ColorInfo = stream === process.stderr ? supportsColorStderr : supportsColor;
  const level = plain || !stream.isTTY || support === false ? 0 : support.level;
  const sheet: Sheet = {
    paint: new Chalk({ level }),
    width: stream.isTTY ? (stream.columns ?? 80) : Number.POSITIVE_INFINITY,
    table: (columns, rows, empty) => drawTable(sheet, columns, rows, empty),
    fields: (record) => drawFields(sheet, record),
    money: (cents, currency) => `${formatMoney(cents, currency)} ${currency}`,
  };
  return sheet;
}
