import type { Activation } from "../../client/answers.ts";
import type { CsvRow } from "../../csv/open.ts";
import type { RejectedFile } from "../../csv/rejected.ts";
import { activationChangesCsv } from "../../csv/specs.ts";
import type { Context } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { argumentList, list, text } from "../../kernel/input.ts";
import { isInteractive } from "../../output/prompts.ts";

/** One target request, and its fields in a file. */
export interface TargetItem {
  /** Under the name of the API's field. */
  key: { activation_id: string } | { iccid: string };
  requested_activation_date: string;
  note: string;
  /** The request itself, where it was picked from a list. */
  picked?: Activation;
  /** Its row in the file. */
  row?: Pick<CsvRow, "line" | "raw">;
}

/** The targets: from arguments, or from a file whose bad rows are written to a file. */
export interface Targets {
  items: TargetItem[];
  /** Rows without a valid target. */
  rejected: number;
  /** Null: no file was read. */
  rejects: RejectedFile | null;
  close(): Promise<string | null>;
}

export const targetOptions = {
  iccids: list("--iccid <iccids...>", "ICCIDs of open requests, instead of ids"),
  file: text("--file <file>", "CSV with activation_id or iccid; - for stdin"),
};

export const targetArgs = {
  ids: argumentList("ids", "ids of requests; left out at a terminal: searched for and ticked"),
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

interface Named {
  ids: readonly string[];
  iccids: readonly string[];
  file: string | undefined;
  /** Options that are required beside them. */
  hint?: string;
}

/**
 * Reads the targets in their order; null: none is given, and there is a terminal to pick them at. Throws a usage error
 * when they are given in several ways, or in none without a terminal.
 */
export async function readTargets(context: Context, { ids, iccids, file, hint = "" }: Named): Promise<Targets | null> {
  const ways = [ids.length > 0, iccids.length > 0, file !== undefined].filter(Boolean).length;
  if (ways === 0 && isInteractive(context.globals)) return null;
  if (ways !== 1) throw usageError("Name what is meant in one way.", `Give ids, --iccid, or --file${hint}.`);
  if (file !== undefined) return fromFile(context, file);
  const wrong = ids.find((id) => !UUID.test(id));
  if (wrong !== undefined) throw usageError(`"${wrong}" is not an id of a request.`, "ICCIDs go behind --iccid.");
  const keys = [...ids.map((id) => ({ activation_id: id })), ...iccids.map((iccid) => ({ iccid }))];
  return namedTargets(keys.map((key) => ({ key, requested_activation_date: "", note: "" })));
}

/** Targets given without a file. */
export function namedTargets(items: TargetItem[]): Targets {
  return { items, rejected: 0, rejects: null, close: async () => null };
}

async function fromFile(context: Context, file: string): Promise<Targets> {
  const [{ openCsv }, { rejectedFile }] = await Promise.all([
    import("../../csv/open.ts"),
    import("../../csv/rejected.ts"),
  ]);
  const csv = await openCsv(file, activationChangesCsv, { signal: context.interruption });
  for (const warning of csv.header.warnings) context.warn(warning);
  const rejects = await rejectedFile(csv);
  const items: TargetItem[] = [];
  let rejected = 0;
  for await (const row of csv) {
    const item = itemOf(row);
    if (typeof item === "object") items.push(item);
    else {
      rejected += 1;
      await rejects.reject(row, [item]);
    }
  }
  const close = async () => {
    const path = await rejects.close();
    await csv.close();
    return path;
  };
  return { items, rejected, rejects, close };
}

type Row = CsvRow<(typeof activationChangesCsv)["columns"][number]>;

/** The item, or why the row names none. The id counts where both are given. */
function itemOf(row: Row): TargetItem | string {
  const { activation_id, iccid, requested_activation_date, note } = row.values;
  if (row.fault !== null) return row.fault;
  if (activation_id === "" && iccid === "") return "activation_id or iccid is required";
  if (activation_id !== "" && !UUID.test(activation_id)) return "activation_id is not an id";
  if (activation_id === "" && iccid.length > 40) return "iccid must be 13-20 digits";
  const key = activation_id === "" ? { iccid } : { activation_id };
  return { key, requested_activation_date, note, row };
}
