import { type DateOrder, dateOrders } from "../../core/csv/dates.ts";
import type { ReadingOptions } from "../csv/open.ts";
import type { ReasonGroup } from "../csv/reasons.ts";
import type { Context } from "../frame/command.ts";
import { type CliError, usageError } from "../kernel/errors.ts";
import { choice, flag, type Option, pairs, text } from "../kernel/input.ts";
import { isInteractive, pick } from "../output/prompts.ts";
import type { Sheet } from "../output/sheet.ts";

/** What every command that reads CSV takes. */
export const readingOptions = {
  dates: choice("--dates <order>", dateOrders, "the order in dates that are not YYYY-MM-DD: 31/12/2027 is dmy"),
  encoding: encodingOption("--encoding <name>", "what the file is saved in if not UTF-8, e.g. windows-1252"),
  map: pairs("--map <theirs=ours>", 'a column by another name, e.g. "DOB=date_of_birth"; may be repeated'),
  template: { ...flag("--template", "print a header and an example row, and stop"), alone: true },
} as const;

/** What every import takes. */
export const importOptions = {
  dryRun: flag("--dry-run", "check all rows and stop there"),
  strict: flag("--strict", "send nothing if any row is bad, or gets a warning"),
  ...readingOptions,
};

/** Those options as they were given. */
export interface Reading {
  dates: DateOrder | undefined;
  encoding: string | undefined;
  map: ReadonlyMap<string, string> | undefined;
  /** Values of columns that the file may lack, by their names. */
  set?: ReadonlyMap<string, string> | undefined;
}

function encodingOption(flags: string, help: string): Option<string | undefined> {
  const plain = text(flags, help);
  const read = (given: unknown) => {
    const name = plain.read(given);
    if (name === undefined || NAME.test(name)) return name;
    throw unknownEncoding(name);
  };
  return { ...plain, read };
}

/** Which names there are is looked up when a file is opened. */
const NAME = /^[a-z][a-z0-9_:.-]{1,30}$/i;

function unknownEncoding(name: string): CliError {
  return usageError(
    `--encoding: "${name}" is no encoding.`,
    "Known are utf-8, windows-1252, cp850, shift_jis and others.",
  );
}

/** Throws a usage error for an encoding that nothing here knows. */
async function requireEncoding(encoding: string | undefined): Promise<void> {
  if (encoding === undefined) return;
  const { isKnownEncoding } = await import("../../core/csv/encoding.ts");
  if (!(await isKnownEncoding(encoding))) throw unknownEncoding(encoding);
}

/**
 * How `openCsv` is to read; at a terminal, a needed column that no name fits is asked for. Throws a
 * usage error for an unknown encoding.
 */
export async function readingOf(context: Context, reading: Reading): Promise<ReadingOptions> {
  const { dates, encoding, map, set } = reading;
  await requireEncoding(encoding);
  const options = { dates, encoding, map, set, signal: context.interruption };
  const ask = (column: string, theirs: readonly string[]) => pickColumn(context, column, theirs);
  return isInteractive(context.globals) ? { ...options, ask } : options;
}

async function pickColumn({ globals }: Context, column: string, theirs: readonly string[]): Promise<string | null> {
  const none = { name: "(none of these)", value: null };
  const choices = async () => [...theirs.map((value) => ({ name: value, value })), none];
  return pick<string | null>(
    `Which column of the file is ${column}?`,
    choices,
    `--map "THEIR NAME=${column}"`,
    globals,
  );
}

/** What a reader found: why rows were rejected, and what to do. */
export interface Findings {
  reasons: readonly ReasonGroup[];
  /** What is doubtful about rows that were taken. */
  warnings?: readonly ReasonGroup[];
  suggestions: readonly string[];
}

/** The findings for people, below a summary; "" where there are none. Values are shown by their form alone. */
function findingsText(sheet: Sheet, { reasons, warnings = [], suggestions }: Findings): string {
  const tables = [groupsTable(sheet, "why", reasons), groupsTable(sheet, "warning", warnings)];
  return [...tables, suggestions.map((one) => `→ ${one}`).join("\n")].filter((part) => part !== "").join("\n\n");
}

function groupsTable(sheet: Sheet, title: string, groups: readonly ReasonGroup[]): string {
  if (groups.length === 0) return "";
  return sheet.table(
    [
      { title: "rows", value: ({ rows }) => rows, align: "right" },
      { title, value: ({ reason }) => reason, wraps: true },
      { title: "first on line", value: ({ example }) => example.line, align: "right" },
      { title: "written like", value: ({ example }) => example.form, shrinks: true },
    ],
    groups,
    "",
  );
}

/** A summary with the findings below it. */
export function withFindings(sheet: Sheet, summary: string, findings: Findings): string {
  const found = findingsText(sheet, findings);
  return found === "" ? summary : `${summary}\n\n${found}`;
}
