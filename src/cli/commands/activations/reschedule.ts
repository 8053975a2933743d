import { systemClock } from "../../../core/kernel/clock.ts";
import { counted } from "../../../core/kernel/counted.ts";
import { Problem } from "../../../core/kernel/problem.ts";
import type { Activation, ActivationBulkResult } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { activationChangesCsv } from "../../csv/specs.ts";
import { type Context, command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { exitCodes } from "../../kernel/exit-codes.ts";
import { text } from "../../kernel/input.ts";
import { text as ask, isInteractive } from "../../output/prompts.ts";
import type { Column } from "../../output/sheet.ts";
import { dayWords } from "../../output/words.ts";
import { type Change, changeAll, confirmChange, meantColumns, pathOf, type Shown } from "./changes.ts";
import {
  ownerOfTargets,
  pickTargets,
  readTargets,
  type TargetItem,
  type Targets,
  targetArgs,
  targetOptions,
} from "./targets.ts";
import { BULK_JSON } from "./view.ts";

export default command({
  target: "partner",
  effects:
    "Changes each for itself. Asks first for several. Without arguments, at a terminal: search by ICCID or customer, " +
    "tick, say the date, confirm.",
  json: BULK_JSON,
  examples: [
    "activations reschedule --partner acme",
    "activations reschedule 019c… --date 2027-11-01 --partner acme",
    "activations reschedule --file moves.csv --date 2027-11-01 --partner acme --yes",
  ],
  exits: [exitCodes.someFailed],
  batches: true,
  csv: activationChangesCsv,
  args: targetArgs,
  options: {
    ...targetOptions,
    date: text("--date <date>", "the new day in Sydney, YYYY-MM-DD; of a file: where a row names none"),
    note: text("--note <text>", "the new note; of a file: where a row has none"),
  },
  async run(context, { ids, iccids, file, date, note, ...reading }) {
    if (date !== undefined && !DATE.test(date)) throw usageError("--date must be YYYY-MM-DD.", "Correct the date.");
    const named = await readTargets(context, { ids, iccids, file, reading, hint: ", and --date, --note or both" });
    if (named === null && date !== undefined) (await dayCheck())(date);
    const given = { date, note };
    if (named !== null && file === undefined) refuseNothing(context, given);
    return context.withApi(async (api) => {
      const meant = named ?? (await pickTargets(context, api));
      const asks = file === undefined && (named === null || isNothing(given));
      const edit = asks ? await askEdit(context, given) : given;
      const targets = await withEdits(meant, edit);
      if (asks || targets.items.length > 1) {
        await confirmChange(context, api, targets, asked(targets.items));
      }
      return changeAll(context, api, targets, rescheduling);
    }, ownerOfTargets(named));
  },
});

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** The change is missing: without a terminal it cannot be prompted for. */
function refuseNothing({ globals }: Context, edit: AskedEdit): void {
  if (!isNothing(edit) || isInteractive(globals)) return;
  throw usageError("Nothing to change was given.", "Add --date, --note or both.");
}

function isNothing({ date, note }: AskedEdit): boolean {
  return date === undefined && note === undefined;
}

interface EditedItem extends TargetItem {
  edit: { requested_activation_date?: string; note?: string };
}

/** The change of each item: its row's, else the options'. Rows without a valid change are rejected. */
async function withEdits(targets: Targets, { date, note }: AskedEdit): Promise<Targets & { items: EditedItem[] }> {
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

const newDate: Column<Shown<EditedItem>> = {
  title: "new date",
  value: ({ item, now }) => item.edit.requested_activation_date ?? now?.activation_date ?? null,
};

const newNote: Column<Shown<EditedItem>> = {
  title: "new note",
  value: ({ item }) => item.edit.note ?? null,
  shrinks: true,
};

function asked(items: readonly EditedItem[]) {
  const dates = new Set(items.map(({ edit }) => edit.requested_activation_date));
  const notes = new Set(items.map(({ edit }) => edit.note));
  const [date] = dates;
  const [note] = notes;
  const what = counted(items.length, "activation");
  const move = dates.size === 1 && date !== undefined ? `Move ${what} to ${dayWords(date)}` : `Change ${what}`;
  // A note that all items get is printed once.
  const same = notes.size === 1 ? (note === undefined ? "" : `, with the note "${note}"`) : null;
  return {
    question: `${move}${same ?? ""}?`,
    columns: [...meantColumns, newDate, ...(same === null ? [newNote] : [])],
  };
}

const rescheduling: Change<EditedItem> = {
  label: "Changing",
  done: "rescheduled",
  async many(api, items) {
    const body = { items: items.map(({ key, edit }) => ({ ...key, ...edit })) };
    return (await api.request<ActivationBulkResult>("POST", apiPath`/activations/bulk/reschedule`, { body })).body
      .results;
  },
  one: async (api, item) => (await api.request<Activation>("PATCH", pathOf(item, ""), { body: item.edit })).body,
};

/** The change of requests, as far as it is given. */
interface AskedEdit {
  date: string | undefined;
  note: string | undefined;
}

/** Prompts for the missing parts of a change: the date, unless a note alone was given, and a note. */
async function askEdit({ globals }: Context, given: AskedEdit): Promise<AskedEdit> {
  const { sydneyToday } = await import("../../../core/activations/calendar.ts");
  const keeps = given.note === undefined ? "" : "; Enter: as it is";
  const today = dayWords(sydneyToday(systemClock.now()));
  const check = await dayCheck();
  const asking = { check, optional: given.note !== undefined };
  const question = `New date in Sydney (today is ${today}${keeps}):`;
  const date = given.date ?? ((await ask(question, "--date", globals, asking)) || undefined);
  const note = given.note ?? ((await askNote(globals)) || undefined);
  return { date, note };
}

function askNote(globals: Context["globals"]): Promise<string> {
  const check = (typed: string) => {
    if (typed.length > 1000) throw usageError("A note has at most 1000 characters.", "Shorten it.");
  };
  return ask("New note (Enter: as it is):", "--note", globals, { check, optional: true });
}

/** A check that throws a usage error unless it gets a real day that is not past in Sydney. */
async function dayCheck(): Promise<(typed: string) => void> {
  // It loads a calendar library, which few commands need.
  const { checkActivationDate } = await import("../../../core/activations/calendar.ts");
  const now = systemClock.now();
  return (typed) => {
    try {
      checkActivationDate(typed, now, null);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      throw usageError(error.message, "Give a day as YYYY-MM-DD.");
    }
  };
}
