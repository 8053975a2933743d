import type { Activation } from "../../client/answers.ts";
import type { Api } from "../../client/api.ts";
import type { Context } from "../../frame/command.ts";
import { CliError } from "../../kernel/errors.ts";
import { clean } from "../../output/clean.ts";
import { text, tick } from "../../output/prompts.ts";
import { shown } from "../../output/words.ts";
import { openRequests } from "./open-requests.ts";
import { namedTargets, type Targets } from "./targets.ts";

/**
 * Lets a person search the requests that may still be changed, by ICCID or customer, and tick some of them,
 * any number of times. Throws `nothing_open` when there are none.
 */
export async function pickTargets(context: Context, api: Api): Promise<Targets> {
  const open = await openRequests(context, api);
  if (open.length === 0) {
    const what = "There is no activation that could still be changed.";
    throw new CliError("nothing_open", what, "esimctl activations list shows all, with their status.");
  }
  const ticked = new Set<Activation>();
  while (ticked.size < open.length) {
    const term = await text(searchWords(ticked.size, open.length), "An id", context.globals, { optional: true });
    if (term === "" && ticked.size > 0) break;
    const found = open.filter((one) => !ticked.has(one) && matches(one, term));
    if (found.length === 0) context.warn(`Nothing open matches "${clean(term)}".`);
    else for (const one of await ticks(context, found)) ticked.add(one);
    if (ticked.size === 0 && found.length > 0) context.warn("Nothing is ticked yet: the space bar ticks.");
    // With all of them on screen there is no more to search for.
    if (term === "" && ticked.size > 0) break;
  }
  const key = ({ id }: Activation) => ({ activation_id: id });
  return namedTargets(
    [...ticked].map((one) => ({ key: key(one), requested_activation_date: "", note: "", picked: one })),
  );
}

function searchWords(ticked: number, open: number): string {
  return ticked === 0
    ? `Search ${open} open by ICCID or name (Enter: all):`
    : `Search for more (Enter: go on with ${ticked}):`;
}

async function ticks({ globals }: Context, found: readonly Activation[]): Promise<Activation[]> {
  const choices = found.map((one) => ({ value: one, name: lineOf(one) }));
  return tick(`${found.length} found:`, choices, globals);
}

/** One line of the list, cut to what the terminal has beside the tick. */
function lineOf({ iccid, activation_date, customer_name }: Activation): string {
  const room = Math.max(12, (process.stderr.columns ?? 80) - iccid.length - activation_date.length - 10);
  const name = shown(customer_name);
  return `${iccid}  ${activation_date}  ${name.length > room ? `${name.slice(0, room - 1)}…` : name}`;
}

/** Whether every word of the search is in the ICCID or the name, whatever case and accents. */
export function matches({ iccid, customer_name }: Pick<Activation, "iccid" | "customer_name">, term: string): boolean {
  const text = `${iccid} ${plain(customer_name)}`;
  const digits = term.replace(/[\s-]/g, "");
  if (/^\d+$/.test(digits)) return iccid.includes(digits);
  return plain(term)
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function plain(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().trim();
}
