import type { Store } from "../../core/store/store.ts";
import type { Option, ValuesOf } from "../kernel/input.ts";
import { listResult } from "../output/result.ts";
import type { Column } from "../output/sheet.ts";
import { type Command, command } from "./command.ts";

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
