import { fileURLToPath } from "node:url";
import type PDFDocument from "pdfkit";
import { groupedMoney } from "../../core/kernel/money.ts";
import type { StatementFigures } from "../../core/wallet/statement.ts";

/** A document under way. */
type Drawn = InstanceType<typeof PDFDocument>;

const fileOf = (face: string) => fileURLToPath(import.meta.resolve(`dejavu-fonts-ttf/ttf/${face}.ttf`));

/** The files of the font. By their paths PDFKit finds what it has opened; a registered name it opens at each use. */
export const faces = { plain: fileOf("DejaVuSans"), bold: fileOf("DejaVuSans-Bold") };

/** What is on top of the first page. */
export interface SheetHead {
  /** Partner and month in words. */
  partner: string;
  month: string;
  /** From when until when, and whether it may still change. */
  about: string;
  figures: StatementFigures;
}

/** A line of the table: when, what, of what, how much, and the balance after it. */
export type SheetLine = readonly [at: string, kind: string, reference: string, amount: number | null, balance: number];

const [LEFT, RIGHT] = [42, 553];
const [TOP, BOTTOM] = [42, 780];
const LINE = 13;
const [FIRST_LINES, NEXT_LINES] = [188, 78].map((y) => Math.floor((BOTTOM - y) / LINE)) as [number, number];
const INK = "#1b2330";
const FAINT = "#667085";
const RULE = "#d0d5dd";

/** Where each cell of a line begins, or ends for numbers. */
const columns = [
  { title: "When (UTC)", left: LEFT, width: 98 },
  { title: "What", left: 142, width: 56 },
  { title: "Reference", left: 200, width: 186 },
  { title: "Amount", right: 468, width: 78 },
  { title: "Balance", right: RIGHT, width: 82 },
] as const;

type Place = { left: number; width: number } | { right: number; width: number };

interface Look {
  size?: number;
  bold?: boolean;
  color?: string;
}

function write(
  doc: Drawn,
  text: string,
  y: number,
  place: Place,
  { size = 7.5, bold = false, color = INK }: Look = {},
) {
  doc
    .font(bold ? faces.bold : faces.plain)
    .fontSize(size)
    .fillColor(color);
  let shown = text;
  while (shown.length > 1 && doc.widthOfString(shown) > place.width) shown = `${shown.slice(0, -2)}…`;
  const x = "left" in place ? place.left : place.right - doc.widthOfString(shown);
  doc.text(shown, x, y, { lineBreak: false });
}

function rule(doc: Drawn, y: number): void {
  doc.moveTo(LEFT, y).lineTo(RIGHT, y).lineWidth(0.5).strokeColor(RULE).stroke();
}

/** Draws a statement line by line; `lines` is how many there will be, for the numbers of pages. */
export function openSheet(doc: Drawn, head: SheetHead, lines: number) {
  const pages = 1 + Math.max(0, Math.ceil((lines - FIRST_LINES) / NEXT_LINES));
  const { currency } = head.figures;
  let [page, y] = [0, Number.POSITIVE_INFINITY];

  function turn(): void {
    page += 1;
    doc.addPage();
    y = page === 1 ? drawHead(doc, head) : TOP + 18;
    if (page > 1) write(doc, `${head.partner}, ${head.month}, ${currency}`, TOP, { left: LEFT, width: 511 }, faint);
    for (const column of columns) write(doc, column.title, y, column, { color: FAINT, bold: true });
    rule(doc, y + LINE);
    y += LINE + 5;
    write(doc, `${page} / ${pages}`, 805, { right: RIGHT, width: 100 }, faint);
  }

  return {
    /** Draws a line, on a new page where the last one is full; true: it began one. */
    line([at, kind, reference, amount, balance]: SheetLine, look: Look = {}): boolean {
      const isNew = y + LINE > BOTTOM;
      if (isNew) turn();
      const money = [amount, balance].map((cents) => (cents === null ? "" : groupedMoney(cents, currency)));
      for (const [place, text] of [at, kind, reference, ...money].entries()) {
        const column = columns[place];
        if (column !== undefined) write(doc, text, y, column, look);
      }
      y += LINE;
      return isNew;
    },
    /** A line of words under the table. */
    words(text: string): void {
      if (y + LINE > BOTTOM) turn();
      write(doc, text, y + 6, { left: LEFT, width: 511 }, faint);
      y += LINE;
    },
    /** Draws a line between two lines. */
    rule: () => rule(doc, y - 2),
  };
}

const faint: Look = { color: FAINT };

/** Draws what is above the table of the first page; answers where that begins. */
function drawHead(doc: Drawn, { partner, month, about, figures }: SheetHead): number {
  const { currency, opening_cents, closing_cents, movement_count } = figures;
  write(doc, "Statement", TOP, { left: LEFT, width: 250 }, { size: 20, bold: true });
  write(doc, `${month}, ${currency}`, TOP + 5.6, { right: RIGHT, width: 250 }, { size: 14 });
  write(doc, partner, 74, { left: LEFT, width: 511 }, { size: 11 });
  write(doc, about, 93, { left: LEFT, width: 511 }, { size: 8, color: FAINT });
  rule(doc, 114);
  const cells = [
    ["Opening balance", groupedMoney(opening_cents, currency)],
    ["Movements", movement_count.toLocaleString("en")],
    ["Closing balance", groupedMoney(closing_cents, currency)],
  ] as const;
  for (const [at, [name, value]] of cells.entries()) {
    const place = { left: LEFT + at * 171, width: 165 };
    write(doc, name, 123, place, { size: 8, color: FAINT });
    write(doc, value, 135, place, { size: 13, bold: true });
  }
  return 170;
}
