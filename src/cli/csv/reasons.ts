/** Rows that were rejected for the same reason. */
export interface ReasonGroup {
  reason: string;
  rows: number;
  /** The first of them. Values may be identity data: `form` has 9 in place of a digit and A in place of a letter. */
  example: { line: number; column: string | null; form: string | null };
}

/** Counts reasons; of very many different ones only the first have a group of their own. */
export interface ReasonTally {
  add(line: number, values: Readonly<Record<string, string>> | undefined, reasons: readonly string[]): void;
  /** The most frequent first. */
  groups(): ReasonGroup[];
}

const MOST_GROUPS = 50;
const OTHER = "other reasons";

/** A tally for a file that is read by these columns. */
export function tallyReasons(columns: Iterable<string>): ReasonTally {
  const known = new Set(columns);
  const groups = new Map<string, ReasonGroup>();
  return {
    add(line, values, reasons) {
      for (const reason of reasons) {
        const key = groups.has(reason) || groups.size < MOST_GROUPS ? reason : OTHER;
        const group = groups.get(key);
        if (group !== undefined) group.rows += 1;
        else groups.set(key, { reason: key, rows: 1, example: exampleOf(line, values, reason, known) });
      }
    },
    groups: () => [...groups.values()].sort((one, other) => other.rows - one.rows),
  };
}

function exampleOf(
  line: number,
  values: Readonly<Record<string, string>> | undefined,
  reason: string,
  known: ReadonlySet<string>,
): ReasonGroup["example"] {
  // Reasons begin with the column that they are about.
  const [first = ""] = reason.split(/[\s;,]/, 1);
  const column = known.has(first) ? first : null;
  const value = column === null ? "" : (values?.[column] ?? "");
  return { line, column, form: value === "" ? null : formOf(value) };
}

const LONGEST_FORM = 30;

function formOf(value: string): string {
  const form = value.slice(0, LONGEST_FORM).replace(/\p{N}/gu, "9").replace(/\p{L}/gu, "A");
  const clean = form.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, " ");
  return value.length > LONGEST_FORM ? `${clean}…` : clean;
}
