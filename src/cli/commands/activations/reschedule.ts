import type { Activation } from "../../../core/activations/activation.ts";
import type { BulkResult } from "../../../core/activations/bulk.ts";
import { apiPath } from "../../client/api.ts";
import { command } from "../../command.ts";
import { usageError } from "../../errors.ts";
import { exitCodes } from "../../exit-codes.ts";
import { text } from "../../input.ts";
import { type Change, changeAll, pathOf } from "./changes.ts";
import { readTargets, type TargetItem, type Targets, targetArgs, targetOptions } from "./targets.ts";
import { BULK_JSON } from "./view.ts";

export const reschedule = command({
  name: "reschedule",
  summary: "change date or note of requests that were not picked up yet",
  stand: "partner",
  effects: "Changes each for itself. Asks first for several.",
  json: BULK_JSON,
  examples: [
    "activations reschedule 019c… --date 2027-11-01 --partner acme",
    "activations reschedule --file moves.csv --date 2027-11-01 --partner acme --yes",
  ],
  exits: [exitCodes.someFailed],
  batches: true,
  args: targetArgs,
  options: {
    ...targetOptions,
    date: text("--date <date>", "the new day in Sydney, YYYY-MM-DD; of a file: where a row names none"),
    note: text("--note <text>", "the new note; of a file: where a row has none"),
  },
  async run(context, { ids, iccids, file, date, note }) {
    if (date !== undefined && !DATE.test(date)) throw usageError("--date must be YYYY-MM-DD.", "Correct the date.");
    if (file === undefined && date === undefined && note === undefined) {
      throw usageError("Nothing to change was given.", "Add --date, --note or both.");
    }
    const targets = await withEdits(await readTargets(context, { ids, iccids, file }), { date, note });
    const { length } = targets.items;
    if (length > 1) await context.confirm(`Change ${length} activations?`);
    return context.withApi((api) => changeAll(context, api, targets, rescheduling));
  },
});

const DATE = /^\d{4}-\d{2}-\d{2}$/;

interface EditedItem extends TargetItem {
  edit: { requested_activation_date?: string; note?: string };
}

/** What to change of each: what its row says, else the options. Rows that say nothing usable are rejected. */
async function withEdits(
  targets: Targets,
  { date, note }: { date: string | undefined; note: string | undefined },
): Promise<Targets & { items: EditedItem[] }> {
  const items: EditedItem[] = [];
  let { rejected } = targets;
  for (const item of targets.items) {
    const day = item.requested_activation_date || date;
    const words = item.note || note;
    const edit = {
      ...(day === undefined ? {} : { requested_activation_date: day }),
      ...(words === undefined ? {} : { note: words }),
    };
    const wrong = faultOf(edit);
    if (wrong === null) items.push({ ...item, edit });
    else {
      rejected += 1;
      if (item.row !== undefined) await targets.rejects?.reject(item.row, [wrong]);
    }
  }
  return { ...targets, items, rejected };
}

function faultOf({ requested_activation_date: date, note }: EditedItem["edit"]): string | null {
  if (date === undefined && note === undefined) return "requested_activation_date or note is required";
  if (date !== undefined && !DATE.test(date)) return "requested_activation_date must be YYYY-MM-DD";
  return note !== undefined && note.length > 1000 ? "note must be at most 1000 characters" : null;
}

const rescheduling: Change<EditedItem> = {
  label: "Changing",
  done: "rescheduled",
  async many(api, items) {
    const body = { items: items.map(({ key, edit }) => ({ ...key, ...edit })) };
    return (await api.request<BulkResult>("POST", apiPath`/activations/bulk/reschedule`, { body })).body.results;
  },
  one: async (api, item) => (await api.request<Activation>("PATCH", pathOf(item, ""), { body: item.edit })).body,
};
