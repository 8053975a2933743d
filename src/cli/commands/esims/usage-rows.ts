import { findClashes, linesWords } from "../../../core/csv/clashes.ts";
import { CsvError } from "../../../core/csv/error.ts";
import type { CheckedRow, CsvRow } from "../../../core/csv/rows.ts";
import { checkUsageRow, type UsageReport } from "../../../core/esims/usage.ts";
import type { CsvFile } from "../../csv/open.ts";
import type { usageCsv } from "../../csv/specs.ts";

type Column = (typeof usageCsv)["columns"][number];
type Row = CsvRow<Column>;

/** Megabytes of one of each unit. */
const units = { bytes: 1 / 1024 ** 2, kb: 1 / 1024, mb: 1, gb: 1024 } as const;
export type UsageUnit = keyof typeof units;

const UNIT = /(?:^|[^a-z])(bytes?|b|kbs?|kib|mbs?|mib|gbs?|gib)\)?$/i;

/** The unit that a column's own name says; null: none. */
function unitIn(name: string): UsageUnit | null {
  const [, found = ""] = UNIT.exec(name.trim()) ?? [];
  if (/^b(ytes?)?$/i.test(found)) return "bytes";
  return (["kb", "mb", "gb"] as const).find((unit) => found.toLowerCase().startsWith(unit.slice(0, 1))) ?? null;
}

interface Manner {
  unit: UsageUnit | undefined;
  /** Whether rows are single sessions, which are added up. */
  sum: boolean;
}

/** A report, or a row whose usage another row's report has. */
export type UsageRow = UsageReport | null;

/** How the rows of a usage file are read, and checked against each other. */
export function usageRows({ unit, sum }: Manner) {
  const factors = new Map<Column, number>();
  const untimed = findClashes<Row>(({ values }) => values.iccid || null);
  const withoutTime = new Set<string>();
  const sums = new Map<string, { line: number; used: number; at: number | null }>();
  const last = new Map<string, { at: number; used: number }>();
  const falling = new Set<string>();
  const read = ({ values }: Row) => checkUsageRow(values, { used: factorOf("used_mb"), total: factorOf("total_mb") });
  const factorOf = (column: Column) => factors.get(column) ?? 1;
  return {
    /** Throws `csv_invalid` for a column whose unit nothing says. */
    opened({ header, path }: CsvFile<Column>): void {
      for (const column of ["used_mb", "total_mb"] as const) {
        const at = header.positions.get(column);
        if (at === undefined) continue;
        const name = header.raw[at] ?? "";
        const own = unitIn(name.replaceAll("_", " ")) ?? unit;
        const hint = "Say it with --unit bytes, kb, mb or gb.";
        const place = { line: header.line, column };
        if (own === undefined) throw new CsvError("csv_invalid", path, `column "${name}" has no unit`, hint, place);
        factors.set(column, units[own]);
      }
    },
    survey(row: Row): void {
      const checked = read(row);
      // A row that is rejected by itself takes nothing from the others of its eSIM.
      if (!("ok" in checked)) return;
      untimed.see(row);
      if (row.values.at === "") withoutTime.add(row.values.iccid);
      const { iccid, used_mb: used, at } = checked.ok;
      const known = sums.get(iccid) ?? { line: row.line, used: 0, at: null };
      sums.set(iccid, { line: known.line, used: known.used + used, at: Math.max(known.at ?? 0, at ?? 0) || null });
      const before = last.get(iccid);
      if (at === null) return;
      if (before !== undefined && (at > before.at ? used < before.used : used > before.used)) falling.add(iccid);
      if (before === undefined || at > before.at) last.set(iccid, { at, used });
    },
    check(row: Row): CheckedRow<UsageRow> {
      const checked = read(row);
      if ("problems" in checked) return checked;
      const { iccid } = checked.ok;
      const lines = untimed.linesOf(row);
      if (sum) return { ok: summed(checked.ok, row.line) };
      if (lines !== null && withoutTime.has(iccid)) {
        const words = `iccid is on ${linesWords(lines)} without a time, so that none is the newest`;
        return { problems: [`${words} (records by session? --sum)`] };
      }
      const doubts = falling.has(iccid) ? ["used_mb falls with time (records by session? --sum)"] : [];
      return { ok: checked.ok, warnings: [...doubts, ...tooMuch(checked.ok)] };
    },
  };

  function summed(report: UsageReport, line: number): UsageRow {
    const whole = sums.get(report.iccid);
    if (whole === undefined || whole.line !== line) return null;
    return { ...report, used_mb: Math.round(whole.used), at: whole.at };
  }
}

const MOST_TIMES = 10;

function tooMuch({ used_mb, total_mb }: UsageReport): string[] {
  return total_mb !== null && total_mb > 0 && used_mb > total_mb * MOST_TIMES
    ? [`used_mb is over ${MOST_TIMES} times the plan: is its unit right?`]
    : [];
}
