import { systemClock } from "../../../core/kernel/clock.ts";
import { counted } from "../../../core/kernel/counted.ts";
import type { Activation } from "../../client/answers.ts";
import type { Api } from "../../client/api.ts";
import type { Context } from "../../frame/command.ts";
import type { Result } from "../../output/result.ts";
import type { Column, Sheet } from "../../output/sheet.ts";
import { requestsOf, type TargetItem, type Targets } from "./targets.ts";

/** What an item is to become; nothing of a cancelled one. */
export interface Edit {
  requested_activation_date?: string;
  note?: string;
}

/** A target that is to be changed. */
export interface EditedItem extends TargetItem {
  edit?: Edit;
}

/** One item, and its request as it is; null: not open. */
interface Shown {
  item: EditedItem;
  now: Activation | null;
  /** Why it would be refused, as far as that can be foreseen: the server decides. */
  refused: string | null;
}

/** Lines that a screen or two hold; a person who confirms more has them in a file. */
const MOST = 200;

/** The columns of what changes, old and new. */
function columnsOf(edited: ReadonlySet<keyof Edit>): Column<Shown>[] {
  const newDate: Column<Shown> = {
    title: "new date",
    value: ({ item, now }) => item.edit?.requested_activation_date ?? now?.activation_date ?? null,
  };
  const newNote: Column<Shown> = { title: "new note", value: ({ item }) => item.edit?.note ?? null, shrinks: true };
  const refused: Column<Shown> = { title: "will be refused", value: ({ refused }) => refused };
  return [
    { title: "iccid", value: ({ item: { key }, now }) => now?.iccid ?? Object.values(key)[0] ?? null },
    { title: "customer", value: ({ now }) => now?.customer_name ?? null, shrinks: true },
    { title: "date", value: ({ now }) => now?.activation_date ?? null },
    ...(edited.has("requested_activation_date") ? [newDate] : []),
    ...(edited.has("note") ? [newNote] : []),
    refused,
  ];
}

function refusalOf({ edit }: EditedItem, now: Activation | null, today: string): string | null {
  if (now === null) return "not open";
  const date = edit?.requested_activation_date;
  return date !== undefined && date !== now.activation_date && date < today ? "past in Sydney" : null;
}

function tableOf(sheet: Sheet, rows: readonly Shown[]): string {
  const edited = new Set(rows.flatMap(({ item }) => Object.keys(item.edit ?? {}) as (keyof Edit)[]));
  const columns = columnsOf(edited);
  const shown = rows.some(({ refused }) => refused !== null) ? columns : columns.slice(0, -1);
  return sheet.table(shown, rows, "Nothing would change.");
}

/** Shows what will change of which request, and asks. Throws what `confirm` throws; the targets are closed then. */
export async function confirmChange(
  context: Context,
  api: Api,
  targets: Targets & { items: EditedItem[] },
  question: string,
): Promise<void> {
  const { items } = targets;
  const changes = async (sheet: Sheet) => {
    const more = items.length - MOST;
    const table = tableOf(sheet, await rowsOf(context, api, items.slice(0, MOST)));
    return `${table}${more > 0 ? `\n… and ${more} more` : ""}`;
  };
  try {
    await context.confirm(question, { whose: api.actsAs, changes });
  } catch (error) {
    await targets.close();
    throw error;
  }
}

/** What `--dry-run` answers: each request, what it would become, and that nothing was changed. */
export async function previewChange(
  context: Context,
  api: Api,
  targets: Targets & { items: EditedItem[] },
): Promise<Result> {
  const rows = await rowsOf(context, api, targets.items);
  const rejected_file = await targets.close();
  const changes = rows.map(({ item, now, refused }) => {
    return {
      activation_id: now?.id ?? null,
      ...item.key,
      ...(now === null ? {} : { iccid: now.iccid }),
      customer_name: now?.customer_name ?? null,
      activation_date: now?.activation_date ?? null,
      ...(item.edit?.requested_activation_date === undefined ? {} : { new_date: item.edit.requested_activation_date }),
      ...(item.edit?.note === undefined ? {} : { new_note: item.edit.note }),
      refused,
    };
  });
  const rejected = targets.rejects === null ? {} : { rejected: targets.rejected, rejected_file };
  const text = (sheet: Sheet) => {
    const bad = targets.rejected === 0 ? "" : ` ${counted(targets.rejected, "row")} could not be used.`;
    return `${tableOf(sheet, rows)}\n\nNothing was changed.${bad}`;
  };
  return { json: { dry_run: true, changes, ...rejected }, text };
}

async function rowsOf(context: Context, api: Api, items: readonly EditedItem[]): Promise<Shown[]> {
  // It loads a calendar library, which few commands need.
  const { sydneyToday } = await import("../../../core/activations/calendar.ts");
  const today = sydneyToday(systemClock.now());
  const requests = await requestsOf(context, api, items);
  return items.map((item, at) => {
    const now = requests[at] ?? null;
    return { item, now, refused: refusalOf(item, now, today) };
  });
}
