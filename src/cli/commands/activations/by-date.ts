import { counted } from "../../../core/kernel/counted.ts";
import type { Api } from "../../client/api.ts";
import type { Context } from "../../frame/command.ts";
import { CliError, usageError } from "../../kernel/errors.ts";
import { excluding } from "../../kernel/input.ts";
import { day } from "../../kernel/input-time.ts";
import { namedTargets, openRequests, pickedItem, type Targets } from "./targets.ts";

/** How a list, a cancel and a move name requests by their activation dates. */
export const rangeOptions = {
  from: day("--from <date>", "activation dates from this day in Sydney on, YYYY-MM-DD"),
  to: day("--to <date>", "activation dates up to this day, which is included"),
};

/** The first and the last activation date that is meant; each may be open. */
export interface Dates {
  from: string | undefined;
  to: string | undefined;
}

/** One day, where a range can be named too. */
export const dateOption = (help: string) => excluding(day("--date <date>", help), "--from", "--to");

/** The range that was given; null: none. Throws a usage error where it cannot hold a day. */
export function datesOf({ from, to }: Dates, date?: string): Dates | null {
  if (date !== undefined) return { from: date, to: date };
  if (from === undefined && to === undefined) return null;
  if (from !== undefined && to !== undefined && from > to) {
    throw usageError(`--from ${from} is after --to ${to}.`, "Exchange them.");
  }
  return { from, to };
}

/** The API's filter of these dates. */
export function datesQuery(dates: Dates | null) {
  return { activation_from: dates?.from, activation_to: dates?.to };
}

/** The requests that may still be changed and have such a date. Throws `nothing_open` when there are none. */
export async function datedTargets(context: Context, api: Api, dates: Dates): Promise<Targets> {
  const open = await openRequests(context, api, { query: datesQuery(dates) });
  if (open.length === 0) {
    const what = `There is no activation ${rangeWords(dates)} that could still be changed.`;
    throw new CliError("nothing_open", what, "esimctl activations list --from --to shows all, with their status.");
  }
  context.note(`${counted(open.length, "open request")} ${rangeWords(dates)}.`);
  return namedTargets(open.map(pickedItem));
}

function rangeWords({ from, to }: Dates): string {
  if (from === to) return `on ${from}`;
  return [from === undefined ? "" : `from ${from}`, to === undefined ? "" : `to ${to}`].filter(Boolean).join(" ");
}
