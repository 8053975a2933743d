import type { Store } from "../../core/store/store.ts";
import { excluding, flag, integer, type Option, type ValuesOf } from "../kernel/input.ts";
import type { Listing } from "../output/listing.ts";
import { listResult } from "../output/result.ts";
import type { Column } from "../output/sheet.ts";
import { type Command, type Context, command } from "./command.ts";

/** What distinguishes one operator's list from another. */
interface Listed<T extends object, O extends Record<string, Option<unknown>>> {
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
  all: excluding(flag("--all", "every one of them"), "--limit"),
});

interface Page<T, After> {
  readonly data: readonly T[];
  /** Where the next page starts; null after the last. */
  readonly next: After | null;
}

/** Rows at a time: each read is short, however long the list is. */
const PAGE = 200;

/** How much of a list to read. */
interface Span<After> {
  /** Rows in all (default: every one). */
  most?: number;
  /** Rows a page (default 200). */
  size?: number;
  after?: After | undefined;
}

/** The pages of a list of the store, up to `most` rows; `next` is then where the rest starts, null at its end. */
export function pagesOf<T, After>(
  page: (limit: number, after: After | undefined) => Promise<Page<T, After>>,
  { most = Number.POSITIVE_INFINITY, size = PAGE, after: from }: Span<After> = {},
): { pages: AsyncGenerator<readonly T[]>; next(): After | null } {
  let next: After | null = null;
  const read = async function* () {
    let after = from;
    for (let count = 0; count < most; ) {
      const found: Page<T, After> = await page(Math.min(size, most - count), after);
      next = found.next;
      count += found.data.length;
      yield found.data;
      if (found.next === null) return;
      after = found.next;
    }
  };
  return { pages: read(), next: () => next };
}

/** Prints the first rows of a queue, as its options ask; a note says that there are more. */
export function printQueue<T extends object, After>(
  context: Context,
  { limit = 100, all }: { limit: number | undefined; all: boolean },
  look: Pick<Listing<T>, "columns" | "empty">,
  page: (store: Store, limit: number, after: After | undefined) => Promise<Page<T, After>>,
): Promise<null> {
  return context.withStore(({ store }) => {
    const most = all ? Number.POSITIVE_INFINITY : limit;
    const { pages, next } = pagesOf<T, After>((count, after) => page(store, count, after), { most });
    const note = () => (next() === null ? undefined : "There is more: --all shows everything.");
    return context.print({ ...look, key: "data", pages, rest: (count) => ({ count }), note });
  });
}

/** The verb `list` of an operator's noun: its records in the place's store, as a table or {data, count}. */
export function operatorList<T extends object, const O extends Record<string, Option<unknown>>>(
  listed: Listed<T, O>,
): Command {
  const { effects = "", json, examples, options, columns, empty, read } = listed;
  return command({
    target: "operator",
    shows: "rows",
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
