import type { LogFilter, LogRecord, StatusRange } from "../../../daemon/log/filter.ts";
import { logLevels } from "../../../daemon/log/lines.ts";
import type { LogRead } from "../../../daemon/log/read.ts";
import { type Context, command } from "../../frame/command.ts";
import { CliError, usageError } from "../../kernel/errors.ts";
import { exitCodes } from "../../kernel/exit-codes.ts";
import { choice, integer, text, toggle } from "../../kernel/input.ts";
import { logLine } from "../../logs/line.ts";
import type { Result } from "../../output/result.ts";
import type { Sheet } from "../../output/sheet.ts";

const LINES = 50;

export default command({
  target: "operator",
  effects:
    "Reads only, while serve runs or not. On a terminal it goes on with what comes in, until Ctrl-C; elsewhere, and " +
    "with --json, only with --follow or not at all. --request looks through all that is kept: five files of 20 MiB. " +
    "So do the other filters. --verbose adds the stacks of errors.",
  json: "{data: [{level, time, msg, request_id, …}], count}",
  examples: [
    "logs tail",
    "logs tail --request 01a1febc-3203-7c41-9f6e-5a6d0c6b2f10",
    "logs tail --level warn --no-follow",
    "logs tail --partner acme --status 4xx --route /api/v1/orders",
    "logs tail --lines 500 --no-follow --data /var/lib/esimctl",
  ],
  stays: true,
  args: {},
  options: {
    request: text("--request <id>", "only lines of this request: the X-Request-Id of its answer"),
    level: choice("--level <level>", logLevels.slice(0, -1), "only this level and those above it"),
    status: text("--status <code>", "only responses with this code, or of this class: 404, 5xx"),
    partner: text("--partner <slug>", "only requests of this partner"),
    route: text("--route <path>", 'only requests whose route begins so: /api/v1/orders, "POST /api/v1/orders"'),
    lines: integer("--lines <n>", `lines to begin with (default ${LINES})`, { min: 1, max: 100_000 }),
    follow: toggle("follow", "go on with what comes in, or not (default: on a terminal)"),
  },
  async run(context, { request: requestId, level, status, partner, route, lines, follow }) {
    const { json } = context.globals;
    const filter = { requestId, level, status: statusRange(status), partner, route };
    if (json && follow === true) {
      throw usageError("--follow never ends, and --json is one document.", "Leave one of them out.");
    }
    const [{ lastRecords, followRecords }, { logFolder }, { makeSheet }] = await Promise.all([
      import("../../../daemon/log/read.ts"),
      import("../../logs/log-folder.ts"),
      import("../../output/make-sheet.ts"),
    ]);
    const folder = logFolder(await context.place());
    const seen = await lastRecords(folder, { most: lines ?? LINES, ...filter });
    if (seen.end === null) throw noLog(folder);
    if (json || !(follow ?? process.stdout.isTTY === true)) return listed(context, seen, filter);
    const sheet = makeSheet(process.stdout, context.globals);
    show(context, sheet, seen.records);
    const { signal } = endOnSignals();
    await followRecords(folder, { from: seen.end, signal, ...filter }, (records) => show(context, sheet, records));
    return { json: null, text: () => "", exitCode: exitCodes.interrupted };
  },
});

function listed({ globals }: Context, { records }: LogRead, filter: LogFilter): Result {
  const isFiltered = Object.values(filter).some((one) => one !== undefined);
  const nothing = isFiltered ? "The log that is kept has no such line." : "The log is empty.";
  return {
    json: { data: records, count: records.length },
    text: (sheet) => records.map((record) => logLine(sheet, record, globals)).join("\n") || nothing,
  };
}

function show({ globals }: Context, sheet: Sheet, records: readonly LogRecord[]): void {
  for (const record of records) process.stdout.write(`${logLine(sheet, record, globals)}\n`);
}

function endOnSignals(): AbortController {
  const ending = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(name, () => ending.abort());
  return ending;
}

function noLog(folder: string): CliError {
  return new CliError(
    "no_log",
    `There is no log in ${folder}.`,
    "esimctl serve keeps it: see that it runs, on this host and as this user.",
  );
}

/** "404" or "5xx". Throws a usage error for anything else. */
function statusRange(typed: string | undefined): StatusRange | undefined {
  if (typed === undefined) return undefined;
  const [, hundreds, rest] = /^([1-5])(xx|\d\d)$/i.exec(typed) ?? [];
  if (hundreds === undefined || rest === undefined) {
    throw usageError(`--status must be a code such as 404 or a class such as 5xx, not "${typed}".`, "Correct it.");
  }
  const from = Number(hundreds) * 100;
  return /xx/i.test(rest) ? { from, to: from + 99 } : { from: from + Number(rest), to: from + Number(rest) };
}
