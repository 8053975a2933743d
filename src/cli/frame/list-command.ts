import type { Store } from "../../core/store/store.ts";
import { flag, integer, type Option, type ValuesOf } from "../kernel/input.ts";
import { listResult } from "../output/result.ts";
import type { Column } from "../output/sheet.ts";
import { type Command, type Context, command } from "./command.ts";

/** What distinguishes one operator's list from another. */
interface Listed<T, O extends Record<string, Option<unknown>>> {
  /** What its help says beside "Reads only." */
  readonly effects?: string;
  readonly json: string;
  readonly examples: readonly string[];
  readonly options: O;
  readonly columns: readonly Column<T>[];
  /** Printed in place of an empty table. */
  readonly empty: string;
  read(store: Store, options: ValuesOf<O>): Promise<readonly T[]>;
}

/** What lists of the operator's queues take: how much of them to read. */
export const queueOptions = (records: string) => ({
  limit: integer("--limit <n>", `${records} to show (default 100)`, { min: 1, max: 10_000 }),
  all: flag("--all", "every one of them"),
});

interface Page<T, After> {
  readonly data: readonly T[];
  /** Where the next page starts; null after the last. */
  readonly next: After | null;
}

/** Rows at a time: each read is short, however long the queue is. */
const PAGE = 200;

/** The first `most` rows of a list that is read page by page, and whether there are more. */
export async function readPages<T, After>(
  page: (limit: number, after: After | undefined) => Promise<Page<T, After>>,
  most = Number.POSITIVE_INFINITY,
): Promise<{ rows: T[]; more: boolean }> {
  const rows: T[] = [];
  let after: After | null | undefined;
  while (rows.length < most && after !== null) {
    const { data, next }: Page<T, After> = await page(Math.min(PAGE, most - rows.length), after);
    rows.push(...data);
    after = next;
  }
  return { rows, more: after !== null };
}

/** The first rows of a queue, as its options ask; a note says that there are more. */
export async function readQueue<T, After>(
  context: Context,
  { limit = 100, all }: { limit: number | undefined; all: boolean },
  page: (store: Store, limit: number, after: After | undefined) => Promise<Page<T, After>>,
): Promise<T[]> {
  const most = all ? Number.POSITIVE_INFINITY : limit;
  const { rows, more } = await context.withStore(({ store }) =>
    readPages<T, After>((count, after) => page(store, count, after), most),
  );
  if (more) context.note("There is more: --all shows everything.");
  return rows;
}

/** The verb `list` of an operator's noun: its records in the place's store, as a table or {data, count}. */
export function operatorList<T, const O extends Record<string, Option<unknown>>>(listed: Listed<T, O>): Command {
  const { effects = "", json, examples, options, columns, empty, read } = listed;
  return command({
    target: "operator",
    effects: `Reads only.${effects === "" ? "" : ` ${effects}`}`,
    json,
    examples,
    args: {},
    options,
    async run(context, input) {
      const rows = await context.withStore(({ store }) => read(store, input));
      return listResult(rows, columns, empty);
    },
  });
}
