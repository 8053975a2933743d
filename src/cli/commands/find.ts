import type { Match, Story } from "../../core/find/find.ts";
import type { ActivationId, PassportId } from "../../core/kernel/brand.ts";
import type { Store } from "../../core/store/store.ts";
import type { LogRecord } from "../../daemon/log/filter.ts";
import type { SearchResult } from "../client/answers.ts";
import { apiPath } from "../client/api.ts";
import { type Context, command } from "../frame/command.ts";
import { CliError } from "../kernel/errors.ts";
import { argumentWords, flag } from "../kernel/input.ts";
import { logLine } from "../logs/line.ts";
import { clean } from "../output/clean.ts";
import { readSecretArgument } from "../output/prompts.ts";
import type { Result } from "../output/result.ts";
import type { Column, Sheet } from "../output/sheet.ts";
import { moment, statusPaint } from "../output/words.ts";
import { OPERATOR } from "../place/operator.ts";

const HINT = "Give a name, a telephone, e-mail, order or tracking number, or an ICCID: esimctl find --help.";

export default command({
  target: "partner",
  shows: "record",
  effects:
    "Reads only. At a server, or with --partner, the partner's own records are listed, without their timelines. On " +
    "the operator's data all are searched. Passport numbers are masked; --reveal shows them whole, and each one " +
    "shown is in the audit trail. " +
    "A person is found by the beginnings of first and last name in any order, accents folded, by e-mail address, " +
    "and by the last four digits or more of a telephone number; a SIM by the last four digits or more of its " +
    "ICCID. A name, the end of a number and a day (of the record, or its activation date) may be typed together; a " +
    "day alone lists the activations for it. An order is found also by EID, tracking number and the partner's own " +
    "number. Several that fit a name or the end of a number are listed, and the id of each leads to its story. " +
    "Ids of lines, items, events, deliveries and ledger transactions lead to their order too; the X-Request-Id of an " +
    "answer to what that request did, and to what the daemon's log has of it. The newest 50 of each kind are shown; " +
    "truncated names those of which there are or may be more.",
  json:
    "{matched: [{kind, id, name, partner, environment, status, person, passport_no}], " +
    "timeline: [{at, kind, id, text, request_id}], ambiguous, truncated: [kind], " +
    "log: [the lines of a request]}; kinds " +
    "there: order, money, item, esim, activation, carrier, webhook, passport, audit; of a partner the API's body: " +
    "{data: [{kind, id, name, status, person}], count, truncated: [kind]}",
  examples: [
    "find 8944500102198304826",
    "find ORD-20260301-7K2M9Q",
    "find muller anna",
    "find underwold 0789",
    "find 2027-12-24 --partner acme",
    "find '+61 412 345 678'",
    "find chen --partner acme",
    "find traveler@example.com --json",
    "find 01a1feae-5c1e-7aa2-8d3f-2b7a90c41e55",
    "find - --reveal",
  ],
  args: {
    what: argumentWords(
      "what",
      "one thing, or words that belong together; - reads it from standard input or asks",
      "secret",
    ),
  },
  options: { reveal: flag("--reveal", "passport numbers whole; recorded in the audit trail") },
  async run(context, { what, reveal }) {
    const typed = await readSecretArgument(
      what,
      "Name, telephone, e-mail, ICCID, order, request, passport number or id:",
      context.globals,
    );
    if ((await context.where()).kind === "server" || context.actsFor.partner !== undefined) {
      return foundAs(context, typed.trim(), reveal);
    }
    const story = await context.withStore(async ({ store }) => {
      const masked = await storyOf(context, store, typed.trim());
      return reveal ? { ...masked, matched: await revealed(store, masked.matched) } : masked;
    });
    return { json: story, text: (sheet) => shownStory(sheet, story) };
  },
});

/** What a partner finds of its own. Throws a usage error for --reveal, `not_found`. */
async function foundAs(context: Context, query: string, reveal: boolean): Promise<Result> {
  if (reveal) {
    const words = "--reveal works on the operator's data, and without --partner.";
    throw new CliError("operator_only", words, "Run it where the data is: esimctl find --help.");
  }
  const { body } = await context.withApi((api) =>
    api.request<SearchResult>("POST", apiPath`/search`, { body: { query } }),
  );
  if (body.count === 0) {
    throw new CliError("not_found", "No such order, eSIM, activation, passport or person of this partner.", HINT);
  }
  return { json: body, text: (sheet) => foundTable(sheet, ownColumns, body.data, body.truncated) };
}

/** A story, and the log lines of the request. */
interface LoggedStory extends Story {
  log: LogRecord[];
}

const MOST_LINES = 200;

/** A request that failed or only read is found in the log alone. Throws `not_found`. */
async function storyOf(context: Context, store: Store, typed: string): Promise<LoggedStory> {
  const [{ findStory, foundNothing }, { Problem }, { lastRecords }, { logFolder }] = await Promise.all([
    import("../../core/find/find.ts"),
    import("../../core/kernel/problem.ts"),
    import("../../daemon/log/read.ts"),
    import("../logs/log-folder.ts"),
  ]);
  const story = await store.read(findStory, typed).catch((error: unknown) => {
    if (foundNothing(error)) return error;
    throw error;
  });
  const isStory = !(story instanceof Problem);
  if (isStory && !story.timeline.some(({ request_id }) => request_id === typed)) return { ...story, log: [] };
  const folder = logFolder(await context.place());
  const { records } = await lastRecords(folder, { most: MOST_LINES, requestId: typed });
  if (isStory) return { ...story, log: records };
  if (records.length === 0) throw story;
  return { matched: [], timeline: [], ambiguous: false, truncated: [], log: records };
}

/** The matches with their passport numbers whole. */
async function revealed(store: Store, matched: readonly Match[]): Promise<Match[]> {
  const [{ revealActivation }, { revealPassport }] = await Promise.all([
    import("../../core/activations/reveal.ts"),
    import("../../core/passports/reveal.ts"),
  ]);
  const numberOf = async ({ kind, id }: Match): Promise<string | null> => {
    // Ids that the database returned for rows of this kind.
    if (kind === "passport") {
      const identity = await store.write(revealPassport, { id: id as PassportId, actor: OPERATOR });
      return identity.reveal().passport_no;
    }
    const { identity } = await store.write(revealActivation, { id: id as ActivationId, actor: OPERATOR });
    return identity?.reveal().passport_no ?? null;
  };
  const whole: Match[] = [];
  for (const match of matched) {
    whole.push(match.passport_no === null ? match : { ...match, passport_no: await numberOf(match) });
  }
  return whole;
}

type OwnMatch = SearchResult["data"][number];

const ownColumns: Column<OwnMatch>[] = [
  { title: "what", value: ({ kind }) => kind },
  { title: "name", value: ({ name }) => name },
  { title: "status", value: ({ status }) => status, paint: (sheet, { status }) => statusPaint(sheet, status) },
  { title: "person", value: ({ person }) => person, shrinks: true },
  { title: "id", value: ({ id }) => id },
];

/** What was found, and of which kinds there is more. */
function foundTable<M extends { kind: string }>(
  sheet: Sheet,
  shown: readonly Column<M>[],
  matched: readonly M[],
  truncated: readonly string[],
): string {
  const more = truncated.map((kind) => {
    const count = matched.filter((match) => match.kind === kind).length;
    const seen = count === 0 ? "Not all" : `The newest ${count}`;
    return sheet.paint.yellow(`${seen} of kind ${kind}; there may be more: type more to see them.`);
  });
  return [sheet.table(shown, matched, ""), ...more].join("\n");
}

const columns: Column<Match>[] = [
  { title: "what", value: ({ kind }) => kind },
  { title: "name", value: ({ name }) => name },
  { title: "partner", value: ({ partner }) => partner },
  { title: "environment", value: ({ environment }) => environment },
  { title: "status", value: ({ status }) => status, paint: (sheet, { status }) => statusPaint(sheet, status) },
  { title: "person", value: ({ person }) => person, shrinks: true },
  { title: "passport", value: ({ passport_no }) => passport_no },
  { title: "id", value: ({ id }) => id },
];

function shownStory(sheet: Sheet, { matched, timeline, ambiguous, truncated, log }: LoggedStory): string {
  const { paint } = sheet;
  const lines = timeline.map(({ at, kind, text, request_id }) => {
    const request = request_id === null ? "" : paint.dim(`  request ${clean(request_id)}`);
    return `${paint.dim(moment(at))}  ${paint.cyan(kind.padEnd(10))}  ${clean(text)}${request}`;
  });
  const table = matched.length === 0 ? [] : [foundTable(sheet, columns, matched, truncated)];
  const logged = log.map((record) => logLine(sheet, record, { verbose: false }));
  const choice = ambiguous ? ["Several fit. Print the story of one with `esimctl find ID`."] : [];
  const title = paint.bold("in the log of the daemon");
  return [
    ...table,
    ...choice,
    ...(lines.length > 0 ? [lines.join("\n")] : []),
    ...(logged.length > 0 ? [[title, ...logged].join("\n")] : []),
  ].join("\n\n");
}
