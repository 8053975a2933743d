import { checkActivationDate, sydneyToday } from "../../../core/activations/calendar.ts";
import { systemClock } from "../../../core/kernel/clock.ts";
import { Problem } from "../../../core/kernel/problem.ts";
import type { Context } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { text } from "../../output/prompts.ts";
import { dayWords } from "../../output/words.ts";

/** The change of requests, as far as it is given. */
export interface AskedEdit {
  date: string | undefined;
  note: string | undefined;
}

/** Prompts for the missing parts of a change: the date, unless a note alone was given, and a note. */
export async function askEdit({ globals }: Context, given: AskedEdit): Promise<AskedEdit> {
  const now = systemClock.now();
  const keeps = given.note === undefined ? "" : "; Enter: as it is";
  const today = dayWords(sydneyToday(now));
  const check = (typed: string) => refuseDate(typed, now);
  const asking = { check, optional: given.note !== undefined };
  const question = `New date in Sydney (today is ${today}${keeps}):`;
  const date = given.date ?? ((await text(question, "--date", globals, asking)) || undefined);
  const note = given.note ?? ((await askNote(globals)) || undefined);
  return { date, note };
}

function askNote(globals: Context["globals"]): Promise<string> {
  const check = (typed: string) => {
    if (typed.length > 1000) throw usageError("A note has at most 1000 characters.", "Shorten it.");
  };
  return text("New note (Enter: as it is):", "--note", globals, { check, optional: true });
}

/** Throws a usage error unless it is a real day that is not past in Sydney. */
export function refuseDate(typed: string, now = systemClock.now()): void {
  try {
    checkActivationDate(typed, now);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw usageError(error.message, "Give a day as YYYY-MM-DD.");
  }
}
