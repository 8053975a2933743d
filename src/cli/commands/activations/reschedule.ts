import { laterBy } from "../../../core/kernel/calendar-day.ts";
import { systemClock } from "../../../core/kernel/clock.ts";
import { counted } from "../../../core/kernel/counted.ts";
import { Problem } from "../../../core/kernel/problem.ts";
import type { Activation, ActivationBulkResult, ActivationOutcome } from "../../client/answers.ts";
import { type Api, apiPath } from "../../client/api.ts";
import { activationChangesCsv } from "../../csv/specs.ts";
import { type Context, command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { exitCodes } from "../../kernel/exit-codes.ts";
import { flag, text } from "../../kernel/input.ts";
import { text as ask, isInteractive } from "../../output/prompts.ts";
import { dayWords } from "../../output/words.ts";
import { datedTargets, datesOf, rangeOptions } from "./by-date.ts";
import { type Change, changeAll, pathOf } from "./changes.ts";
import { confirmChange, type Edit, type EditedItem, previewChange } from "./preview.ts";
import {
  ownerOfTargets,
  pickTargets,
  readTargets,
  requestsOf,
  type Targets,
  targetArgs,
  targetOptions,
} from "./targets.ts";
import { BULK_JSON, DRY_RUN_JSON } from "./view.ts";

export default command({
  target: "partner",
  effects:
    "Changes each for itself. Asks first for several, and for those that dates name. Without arguments, at a " +
    "terminal: search by ICCID or customer, tick, say the date, confirm.",
  json: `${BULK_JSON}; ${DRY_RUN_JSON}`,
  examples: [
    "activations reschedule --partner acme",
    "activations reschedule 019c… --date 2027-11-01 --partner acme",
    "activations reschedule --file moves.csv --date 2027-11-01 --partner acme --yes",
    "activations reschedule --from 2027-12-24 --to 2027-12-26 --date +2d --partner acme --dry-run",
  ],
  exits: [exitCodes.someFailed],
  batches: true,
  csv: activationChangesCsv,
  args: targetArgs,
  options: {
    ...targetOptions,
    ...rangeOptions,
    date: text(
      "--date <date>",
      "the new day in Sydney, YYYY-MM-DD, or +2d: each so many days later (--date=-2d: earlier); of a file: where a " +
        "row names none",
    ),
    note: text("--note <text>", "the new note; of a file: where a row has none"),
    dryRun: flag("--dry-run", "show what would change, old and new, and change nothing"),
  },
  async run(context, { ids, iccids, file, from, to, date, note, dryRun, ...reading }) {
    if (date !== undefined && !DATE.test(date) && daysOf(date) === null) {
      throw usageError("--date must be YYYY-MM-DD, or a number of days such as +2d.", "Correct the date.");
    }
    const dates = datesOf({ from, to });
    const hint = ", and --date, --note or both";
    const named = await readTargets(context, { ids, iccids, file, reading, dated: dates !== null, hint });
    if (named === null && date !== undefined && DATE.test(date)) (await dayCheck())(date);
    const given = { date, note };
    if (file === undefined && (named !== null || dates !== null)) refuseNothing(context, given);
    return context.withApi(async (api) => {
      const chosen = () => (dates === null ? pickTargets(context, api) : datedTargets(context, api, dates));
      const meant = named ?? (await chosen());
      const asks = file === undefined && ((named === null && dates === null) || isNothing(given));
      const edit = asks ? await askEdit(context, given) : given;
      const targets = await withEdits(context, api, meant, edit);
      if (dryRun) return previewChange(context, api, targets);
      if (asks || dates !== null || targets.items.length > 1) {
        await confirmChange(context, api, targets, questionOf(targets.items));
      }
      return changeAll(context, api, targets, rescheduling);
    }, ownerOfTargets(named));
  },
});

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** The days of `+2d` or `-2d`; null: not of that form. */
function daysOf(typed: string): number | null {
  const [, days] = /^([+-]\d{1,3})d$/.exec(typed) ?? [];
  return days === undefined ? null : Number(days);
}

/** The change is missing: without a terminal it cannot be prompted for. */
function refuseNothing({ globals }: Context, edit: AskedEdit): void {
  if (!isNothing(edit) || isInteractive(globals)) return;
  throw usageError("Nothing to change was given.", "Add --date, --note or both.");
}

function isNothing({ date, note }: AskedEdit): boolean {
  return date === undefined && note === undefined;
}

type MovedItem = EditedItem & { edit: Edit };

interface Moves extends Targets {
  items: MovedItem[];
  /** What has no date to be moved from. */
  failed: ActivationOutcome[];
}

/**
 * The change of each item: its row's, else the options'. Rows without a valid change are rejected; where dates move by
 * days, what is not open fails.
 */
async function withEdits(context: Context, api: Api, targets: Targets, { date, note }: AskedEdit): Promise<Moves> {
  const days = date === undefined ? null : daysOf(date);
  const old = days === null ? [] : await requestsOf(context, api, targets.items);
  const moves: Moves = { ...targets, items: [], failed: [] };
  for (const [at, item] of targets.items.entries()) {
    const own = item.requested_activation_date || undefined;
    const from = old[at]?.activation_date;
    const moved = days === null ? date : from === undefined ? undefined : laterBy(from, days);
    const day = own ?? moved;
    const words = item.note || note;
    const edit = {
      ...(day === undefined ? {} : { requested_activation_date: day }),
      ...(words === undefined ? {} : { note: words }),
    };
    if (days !== null && day === undefined) {
      // The keys are what the caller gave; the API's own type brands them.
      moves.failed.push({ ...item.key, status: "failed", reason: "not_found" } as ActivationOutcome);
      if (item.row !== undefined) await targets.rejects?.reject(item.row, ["not_found"]);
      continue;
    }
    const wrong = faultOf(edit);
    if (wrong === null) moves.items.push({ ...item, edit });
    else {
      moves.rejected += 1;
      if (item.row !== undefined) await targets.rejects?.reject(item.row, [wrong]);
    }
  }
  return moves;
}

function faultOf({ requested_activation_date: date, note }: Edit): string | null {
  if (date === undefined && note === undefined) return "requested_activation_date or note is required";
  if (date !== undefined && !DATE.test(date)) return "requested_activation_date must be YYYY-MM-DD";
  return note !== undefined && note.length > 1000 ? "note must be at most 1000 characters" : null;
}

function questionOf(items: readonly MovedItem[]): string {
  const dates = new Set(items.map(({ edit }) => edit.requested_activation_date));
  const notes = new Set(items.map(({ edit }) => edit.note));
  const [date] = dates;
  const [note] = notes;
  const what = counted(items.length, "activation");
  const move = dates.size === 1 && date !== undefined ? `Move ${what} to ${dayWords(date)}` : `Change ${what}`;
  return `${move}${notes.size === 1 && note !== undefined ? `, with the note "${note}"` : ""}?`;
}

const rescheduling: Change<MovedItem> = {
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
