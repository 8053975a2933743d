import { setImmediate as nextTurn } from "node:timers/promises";
import { isoTime } from "../../core/kernel/clock.ts";
import { Problem } from "../../core/kernel/problem.ts";
import { partnerById } from "../../core/partners/partner.ts";
import type { Store } from "../../core/store/store.ts";
import { type Statement, statementName } from "../../core/wallet/statement.ts";
import { statementParts } from "../../core/wallet/statement-text.ts";
import type { WalletTransaction } from "../../core/wallet/transactions.ts";
import { drawable } from "./drawable.ts";
import { faces, openSheet, type SheetLine } from "./statement-sheet.ts";

/** A longer one is hundreds of pages that no person reads, and takes seconds of processor time. */
const MOST_MOVEMENTS = 10_000;

/**
 * The PDF of a statement in pieces. Throws `not_acceptable` where it has more than 10,000 movements. The name of the
 * partner is the present one, which no hash covers.
 */
export function statementPdf(store: Store, statement: Statement): AsyncGenerator<Buffer> {
  if (statement.figures.movement_count <= MOST_MOVEMENTS) return pieces(store, statement);
  const most = MOST_MOVEMENTS.toLocaleString("en");
  throw new Problem("not_acceptable", `A statement of more than ${most} movements is no PDF: ask for text/csv.`);
}

async function* pieces(store: Store, statement: Statement): AsyncGenerator<Buffer> {
  const { name, slug } = await store.list(partnerById, statement.partnerId);
  const { figures, from, until } = statement;
  const doc = await openDocument(statement);
  const state = figures.finished ? "Finished: it never changes." : "Not finished: it may still change.";
  const head = {
    partner: `${drawable(name)} (${slug})`,
    month: new Date(from).toLocaleDateString("en", { month: "long", year: "numeric", timeZone: "UTC" }),
    about: `${moment(from)} to ${moment(until)} (UTC). ${state}`,
    figures,
  };
  // With the opening, the closing, and two for the hash.
  const sheet = openSheet(doc, head, figures.movement_count + (figures.finished ? 4 : 2));
  sheet.line([moment(from), "opening", "", null, figures.opening_cents], { bold: true });
  let hash: string | null = null;
  for await (const part of statementParts(store, statement)) {
    for (const movement of part.movements) {
      const turned = sheet.line(lineOf(movement));
      if (!turned) continue;
      const ready: unknown = doc.read();
      if (Buffer.isBuffer(ready)) yield ready;
      // A page takes some milliseconds.
      await nextTurn();
    }
    hash = part.hash;
  }
  sheet.rule();
  sheet.line([moment(until), "closing", "", null, figures.closing_cents], { bold: true });
  if (hash !== null) {
    sheet.words("SHA-256 of this statement as CSV, without its last line:");
    sheet.words(hash);
  }
  doc.end();
  for await (const piece of doc) yield piece;
}

async function openDocument(statement: Statement) {
  const { default: PDFDocument } = await import("pdfkit");
  // The moment of a finished month is its end: its pages are the same each time.
  const info = { Title: statementName(statement), CreationDate: new Date(statement.until) };
  // With a font given, it does not look for one beside its sources, which are bundled.
  return new PDFDocument({ size: "A4", margin: 0, font: faces.plain, autoFirstPage: false, info });
}

function moment(ms: number): string {
  return isoTime(ms).slice(0, 19).replace("T", " ");
}

function lineOf({ created_at, kind, reference, amount_cents, balance_after_cents }: WalletTransaction): SheetLine {
  const at = created_at.slice(0, 19).replace("T", " ");
  return [at, kind === "topup" ? "top-up" : kind, drawable(reference ?? ""), amount_cents, balance_after_cents];
}
