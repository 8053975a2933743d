import type { CsvRow } from "../../../core/csv/rows.ts";
import { isUuid } from "../../../core/kernel/is-uuid.ts";
import { notFound } from "../../../core/kernel/problem.ts";
import { type Reading, readingOf, readingOptions } from "../../bulk/reading.ts";
import type { Activation, PageBody } from "../../client/answers.ts";
import { type Api, apiPath, type OwnerOf } from "../../client/api.ts";
import { ICCID } from "../../client/identifiers.ts";
import type { RejectedFile, RejectedRow } from "../../csv/rejected.ts";
import { activationChangesCsv } from "../../csv/specs.ts";
import type { Context } from "../../frame/command.ts";
import { CliError, interrupted, usageError } from "../../kernel/errors.ts";
import { argumentList, list, text } from "../../kernel/input.ts";
import { clean } from "../../output/clean.ts";
import { text as ask, isInteractive, tick } from "../../output/prompts.ts";
import { shown } from "../../output/words.ts";

/** One target request, and its fields in a file. */
export interface TargetItem {
  /** Under the name of the API's field. */
  key: { activation_id: string } | { iccid: string };
  requested_activation_date: string;
  note: string;
  /** The request itself, where it was picked from a list. */
  picked?: Activation;
  /** Its row in the file. */
  row?: RejectedRow;
}

/** The targets: from arguments, or from a file whose bad rows are written to a file. */
export interface Targets {
  items: TargetItem[];
  /** Rows without a valid target. */
  rejected: number;
  /** Null: no file was read. */
  rejects: RejectedFile | null;
  /** What the file's rows suggest to do. */
  suggestions: string[];
  close(): Promise<string | null>;
}

export const targetOptions = {
  iccids: list("--iccid <iccids...>", "ICCIDs of open requests, instead of ids"),
  file: text("--file <file>", "CSV with activation_id or iccid; - for stdin"),
  ...readingOptions,
};

export const targetArgs = {
  ids: argumentList("ids", "ids or ICCIDs of requests; left out at a terminal: searched for and ticked"),
};

interface Named {
  ids: readonly string[];
  iccids: readonly string[];
  file: string | undefined;
  reading: Reading;
  /** Whether they are named by their dates, which the API is asked for. */
  dated: boolean;
  /** Options that are required beside them. */
  hint?: string;
}

/**
 * Reads the targets in their order; null: they are named by dates, or none is given and there is a terminal to pick
 * them at. Throws a usage error
 * when they are given in several ways, or in none without a terminal.
 */
export async function readTargets(
  context: Context,
  { ids, iccids, file, reading, dated, hint = "" }: Named,
): Promise<Targets | null> {
  const ways = [ids.length > 0, iccids.length > 0, file !== undefined, dated].filter(Boolean).length;
  if (ways === 0 && isInteractive(context.globals)) return null;
  if (ways !== 1) {
    const what = ways === 0 ? "No request is named." : "Name what is meant in one way.";
    throw usageError(what, `Give ids, --iccid, --file, or --from and --to${hint}.`);
  }
  if (dated) return null;
  if (file !== undefined) return fromFile(context, file, reading);
  const wrong = ids.find((id) => !isUuid(id) && !ICCID.test(id));
  if (wrong !== undefined) {
    throw usageError(`"${wrong}" is neither the id of a request nor an ICCID.`, whatToGive(wrong));
  }
  const named = ids.map((id) => (isUuid(id) ? { activation_id: id } : { iccid: id }));
  const keys = [...named, ...iccids.map((iccid) => ({ iccid }))];
  return namedTargets(keys.map((key) => ({ key, requested_activation_date: "", note: "" })));
}

function whatToGive(wrong: string): string {
  if (/^ORD-/i.test(wrong)) return "Items of an order are cancelled with it: esimctl orders cancel.";
  return "Give an id as esimctl activations list shows it, or an ICCID: 13 to 20 digits.";
}

/**
 * Finds the one owner of all targets, where they are given. Throws a usage error when they belong to several,
 * `not_found` when none of them exists.
 */
export function ownerOfTargets(targets: Targets | null): OwnerOf | undefined {
  if (targets === null) return undefined;
  return async (store) => {
    const { namedActivations } = await import("../../../core/find/named-activations.ts");
    const owners = new Map<string, Awaited<ReturnType<OwnerOf>>>();
    for (const { key } of targets.items) {
      for (const row of await store.read(namedActivations, { given: keyOf(key) })) {
        owners.set(`${row.partner_id} ${row.environment}`, row);
      }
    }
    const [owner] = owners.values();
    if (owner === undefined) throw notFound("activation");
    if (owners.size === 1) return owner;
    const hint = "Add --partner SLUG, and --sandbox for the sandbox; esimctl partners list names the partners.";
    throw usageError("These requests belong to several partners or environments.", hint);
  };
}

/** Targets given without a file. */
export function namedTargets(items: TargetItem[]): Targets {
  return { items, rejected: 0, rejects: null, suggestions: [], close: async () => null };
}

async function fromFile(context: Context, file: string, reading: Reading): Promise<Targets> {
  const [{ openCsv }, { rejectedFile }] = await Promise.all([
    import("../../csv/open.ts"),
    import("../../csv/rejected.ts"),
  ]);
  const csv = await openCsv(file, activationChangesCsv, await readingOf(context, reading));
  for (const warning of csv.header.warnings) context.warn(warning);
  for (const note of csv.header.notes) context.note(note);
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
  return { items, rejected, rejects, suggestions: csv.suggestions(), close };
}

type Row = CsvRow<(typeof activationChangesCsv)["columns"][number]>;

/** The item, or why the row names none. */
function itemOf(row: Row): TargetItem | string {
  const { activation_id, iccid, requested_activation_date, note } = row.values;
  if (row.fault !== null) return row.fault;
  if (activation_id === "" && iccid === "") return "activation_id or iccid is required";
  if (activation_id !== "" && iccid !== "") return "both activation_id and iccid are given: one is enough";
  if (activation_id !== "" && !isUuid(activation_id)) return "activation_id is not an id";
  if (activation_id === "" && iccid.length > 40) return "iccid must be 13-20 digits";
  const key = activation_id === "" ? { iccid } : { activation_id };
  return { key, requested_activation_date, note, row };
}

interface OpenQuery {
  /** More of the API's filters. */
  query?: { activation_from?: string | undefined; activation_to?: string | undefined };
  /** Whether what was found so far suffices. */
  enough?(found: readonly Activation[]): boolean;
}

/** The requests that may still be changed, newest first, read page by page from the API. */
export async function openRequests(
  context: Context,
  api: Api,
  { query: filter = {}, enough = () => false }: OpenQuery = {},
): Promise<Activation[]> {
  const { startProgress } = await import("../../output/progress.ts");
  const progress = startProgress(context.globals);
  const found: Activation[] = [];
  try {
    for (let cursor: string | null | undefined; cursor !== null; ) {
      if (context.interruption.aborted) throw interrupted("Nothing was changed.");
      const query = { ...filter, status: "pending", limit: 100, cursor };
      const { body } = await api.request<PageBody<Activation>>("GET", apiPath`/activations`, { query });
      found.push(...body.data);
      cursor = body.pagination.next_cursor;
      if (enough(found)) break;
      if (cursor !== null) progress.show("Reading what is open", found.length, null);
    }
  } finally {
    progress.stop();
  }
  return found;
}

/** The request of each item as it is now, in their order; null: it is not open, or there is none. */
export async function requestsOf(
  context: Context,
  api: Api,
  items: readonly TargetItem[],
): Promise<(Activation | null)[]> {
  const byKey = new Map(items.flatMap(({ picked }) => (picked === undefined ? [] : keysOf(picked))));
  const isKnown = ({ key }: TargetItem) => byKey.has(keyOf(key));
  if (!items.every(isKnown)) {
    let seen = 0;
    const enough = (found: readonly Activation[]) => {
      for (const one of found.slice(seen)) for (const [key, value] of keysOf(one)) byKey.set(key, value);
      seen = found.length;
      return items.every(isKnown);
    };
    await openRequests(context, api, { enough });
  }
  return items.map(({ key }) => byKey.get(keyOf(key)) ?? null);
}

function keysOf(one: Activation): [string, Activation][] {
  return [
    [one.id, one],
    [one.iccid, one],
  ];
}

function keyOf(key: TargetItem["key"]): string {
  return "iccid" in key ? key.iccid : key.activation_id.toLowerCase();
}

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
    const term = await ask(searchWords(ticked.size, open.length), "An id", context.globals, { optional: true });
    if (term === "" && ticked.size > 0) break;
    const found = open.filter((one) => !ticked.has(one) && matches(one, term));
    if (found.length === 0) context.warn(`Nothing open matches "${clean(term)}".`);
    else for (const one of await ticks(context, found)) ticked.add(one);
    if (ticked.size === 0 && found.length > 0) context.warn("Nothing is ticked yet: the space bar ticks.");
    // With all of them on screen there is no more to search for.
    if (term === "" && ticked.size > 0) break;
  }
  return namedTargets([...ticked].map(pickedItem));
}

/** An item that a person or a range of dates picked. */
export function pickedItem(picked: Activation): TargetItem {
  return { key: { activation_id: picked.id }, requested_activation_date: "", note: "", picked };
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
