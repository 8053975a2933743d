import { counted } from "../../../core/kernel/counted.ts";
import { Problem } from "../../../core/kernel/problem.ts";
import { differsWords } from "../../../core/passports/differs.ts";
import {
  type PassportLine,
  type ReadPassports,
  type RejectedPassport,
  rejectedCsv,
} from "../../../core/passports/file.ts";
import { importPassports } from "../../../core/passports/import.ts";
import { sealAll } from "../../../core/passports/seal.ts";
import { formShown } from "../../parts/act-form.tsx";
import type { Column } from "../../parts/list.tsx";
import { backLink, pageShown, table } from "../../parts/shown.tsx";
import { type PortalVisit, requiredField, type Shown } from "../../session/visit.ts";
import { IMPORT } from "./passports-preview.tsx";

/** Rows of one transaction: what other writers wait for at most. */
const TOGETHER = 500;

/** What an import did. */
interface Imported {
  added: number;
  known: number;
  rejected: RejectedPassport[];
}

async function importFile(visit: PortalVisit, { lines }: ReadPassports): Promise<Imported> {
  const good = lines.filter(({ checked }) => "ok" in checked);
  const rejected = lines.flatMap((line) => ("problems" in line.checked ? [leave(line, line.checked.problems)] : []));
  const whole = { added: 0, known: 0, rejected };
  for (let at = 0; at < good.length; at += TOGETHER) {
    const some = await importSome(visit, good.slice(at, at + TOGETHER));
    whole.known += some.known;
    whole.added += some.added;
    rejected.push(...some.rejected);
    await visit.progress.say(Math.min(at + TOGETHER, good.length), good.length);
  }
  rejected.sort((one, other) => one.line - other.line);
  return whole;
}

function leave({ row }: PassportLine, reasons: readonly string[]): RejectedPassport {
  return { line: row.line, raw: row.raw, reasons };
}

/** Stores some rows, all of them or, where the pool is full, none. */
async function importSome(visit: PortalVisit, lines: readonly PassportLine[]): Promise<Imported> {
  const { store, context, owner } = visit;
  const passports = lines.flatMap(({ checked }) => ("ok" in checked ? [checked.ok.passport] : []));
  // Sealed here, as the API does: the thread that writes gets no clear text.
  const { texts } = sealAll({ vault: store.vault, ids: context.ids, now: context.clock.now() }, owner, passports);
  try {
    const { skipped } = await visit.write(importPassports, { ...owner, texts });
    const rejected = skipped.flatMap(({ place, differs }) => {
      const line = differs.length === 0 ? undefined : lines[place];
      return line === undefined ? [] : [leave(line, [`${differsWords(differs)}: withdraw that record first`])];
    });
    return { added: lines.length - skipped.length, known: skipped.length - rejected.length, rejected };
  } catch (error) {
    if (!(error instanceof Problem) || error.slug !== "pool_full") throw error;
    return { added: 0, known: 0, rejected: lines.map((line) => leave(line, ["the pool is full"])) };
  }
}

const rejectedColumns: Column<RejectedPassport>[] = [
  { title: "Line", right: true, cell: (one) => one.line },
  { title: "Why", cell: (one) => one.reasons.join("; ") },
];

/** Imports the good rows of a file, and shows what came of it. */
export async function importShown(visit: PortalVisit, read: ReadPassports): Promise<Shown> {
  const { added, known, rejected } = await importFile(visit, read);
  const csv = Buffer.from(rejectedCsv(read, rejected)).toString("base64url");
  const download = { to: `${IMPORT}/rejected`, class: "acts", submit: "Download the rejected rows" };
  return pageShown(visit, `${counted(added, "passport")} added`, [
    <section>
      <ul>
        <li>Added: {added}. They await verification by the operator.</li>
        <li>There already: {known}</li>
        <li>Rejected: {rejected.length}</li>
      </ul>
    </section>,
    rejected.length > 0 && (
      <section>
        <h2>{counted(rejected.length, "row")} rejected</h2>
        {formShown(visit, { ...download, fields: [], hidden: { rejected: csv } })}
        <p class="hint">
          As CSV, with the reason in the last column. Correct the file and import it: what is there already is left out.
        </p>
        {table(visit, { caption: "Rejected rows", rows: rejected }, rejectedColumns)}
      </section>
    ),
    backLink(visit, IMPORT, "Import another file"),
    backLink(visit, "/passports", "All passports"),
  ]);
}

/** The file that the page of the result carries, to be saved. */
export function download({ form }: PortalVisit): Shown {
  const file = Buffer.from(requiredField(form, "rejected"), "base64url");
  return { file, type: "text/csv; charset=utf-8", name: "passports.rejected.csv" };
}
