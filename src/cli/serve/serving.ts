import cluster, { type Worker } from "node:cluster";
import type { Logger } from "pino";
import { systemClock } from "../../core/kernel/clock.ts";
import { randomIds } from "../../core/kernel/ids.ts";
import {
  dataDirectory,
  exposedPaths,
  lockDataDirectory,
  prepareDataDirectory,
} from "../../core/platform/data-directory.ts";
import { releaseLeases } from "../../core/platform/lease.ts";
import { watchForDamage } from "../../core/store/open/reading.ts";
import type { StoreError } from "../../core/store/problems.ts";
import type { Store } from "../../core/store/store.ts";
import type { LogLevel } from "../../daemon/log/lines.ts";
import { type LogFile, openLogFile } from "../../daemon/log/log-file.ts";
import { createLogger, describeError, type LogOutput } from "../../daemon/log/logger.ts";
import type { ServeOptions } from "../../daemon/serve/options.ts";
import { listensInClear, type Running, serve } from "../../daemon/serve/serve.ts";
import { startWriter } from "../../daemon/writer/start-writer.ts";
import type { Context } from "../frame/command.ts";
import { usageError } from "../kernel/errors.ts";
import { exitCodes } from "../kernel/exit-codes.ts";
import { failureOf } from "../kernel/failure.ts";
import { onSecondSignal } from "../kernel/signals.ts";
import { logFolder } from "../logs/log-folder.ts";
import { keyFileOf, madeWords } from "../place/key-file.ts";
import { openExisting, openOrCreate, type Sources } from "../place/local-store.ts";
import { type Place, placeWords } from "../place/place.ts";
import type { PoolSizes } from "./connection-budget.ts";
import { listeningLine } from "./listening.ts";

/** What `serve` is asked for. */
export interface Serving extends ServeOptions {
  logLevel: LogLevel;
  /** Connections to PostgreSQL that the processes may open. */
  connections: PoolSizes;
  /** The replica for reads; left out: none. */
  readDatabase: string | undefined;
}

/**
 * Runs the daemon on the context's place until a signal stops it gracefully; a second signal ends it at once.
 * `listening` is called once it accepts requests. Throws StoreError and ListenError.
 */
export async function serveUntilStopped(
  context: Context,
  serving: Serving,
  listening: (running: Running) => void,
): Promise<void> {
  const place = await context.place();
  const self = cluster.worker;
  const { main, front } = serving.connections;
  const connections = self === undefined ? main : front;
  const sources = { clock: systemClock, ids: randomIds(), connections, replica: replicaFor(place, serving) };
  if (self !== undefined) return answerOnly(self, { place, serving, sources, people: forPeople(context) });
  outliveBrokenOutput();
  const release = takePlace(place, sources.ids);
  const folder = logFolder(place);
  const file = openLog(folder, context);
  try {
    const opening = { verify: true, startWriter, onWait: context.warn };
    const { store, created } = await openOrCreate(place, { ...sources, ...opening });
    try {
      const log = await createLogger(serving.logLevel, { ...shownTo(forPeople(context)), file });
      endOnCrash(log);
      if (created) reportMade(context, log, place);
      // The directory's lock says that no other daemon works on it. Several daemons may share a PostgreSQL.
      const alone = place.kind === "directory";
      if (alone) await store.write(releaseLeases, null);
      // From before it listens: a process that reads the line may stop it at once.
      const signaled = nextSignal();
      const running = await serve(
        { store, ...sources, log, logFolder: folder, alone, keepLine: file.write, frontEnv: context.secretEnv },
        { ...serving, dataDirectory: place.kind === "directory" ? place.path : undefined },
      );
      for (const [event, words] of dangers(place, serving, running)) warn(context, log, { event, words });
      if (serving.logLevel !== "silent") file.write(listeningLine(running));
      listening(running);
      const check = watchForDamage(
        place.kind === "directory" ? { file: dataDirectory(place.path).databaseFile } : place,
      );
      try {
        await stopOn(Promise.race([signaled, check.found]), running, log);
      } finally {
        await check.end();
      }
    } finally {
      await store.close();
    }
  } finally {
    await file.close();
    release();
  }
}

/** Throws a usage error for a replica of a data directory. */
function replicaFor(place: Place, { readDatabase }: Serving): string | undefined {
  if (readDatabase === undefined || place.kind === "database") return readDatabase;
  throw usageError("--read-database names a replica of PostgreSQL.", "Give it together with --database.");
}

/** The reader of the output may close it: the daemon continues, and its log is on disk too. */
function outliveBrokenOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners("error").on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
    });
  }
}

/** What is unsafe about how the platform is served: an event's name and one line each. */
function dangers(place: Place, serving: Serving, { publicUrl }: Running): [event: string, words: string][] {
  const found: [string, string][] = [];
  if (process.getuid?.() === 0) {
    found.push(["running_as_root", "Running as root: better give esimctl a user of its own."]);
  }
  for (const { path, mode } of place.kind === "directory" ? exposedPaths(place.path) : []) {
    found.push(["exposed_files", `Others than its owner have rights to ${path}: chmod ${mode} ${path}`]);
  }
  if (listensInClear(serving, publicUrl)) {
    const remedy = "put a proxy with TLS in front and name it with --public-url https://…";
    found.push(["cleartext", `${serving.host} is reached without TLS and secrets travel in clear: ${remedy}`]);
  }
  return found;
}

/** That the place held nothing before: a mistyped directory is noticed, and the key file is kept. */
function reportMade(context: Context, log: Logger, place: Place): void {
  const words = `${madeWords(place)} It has no products and no partners yet.`;
  if (context.globals.json)
    log.info({ event: "initialized", place: placeWords(place), key_file: keyFileOf(place) }, words);
  else context.note(words);
}

/** As a log line where the log is JSON, so that every line of it can be parsed. */
function warn(context: Context, log: Logger, { event, words }: { event: string; words: string }): void {
  if (context.globals.json) log.warn({ event }, words);
  else context.warn(words);
}

/** Where log lines are shown: standard output, whose last lines are not lost when the process ends all at once. */
function shownTo(people: boolean): LogOutput {
  if (people) return { pretty: true };
  // As bytes: a text waits for a slow reader in all the pieces that it was put together from.
  return { pretty: false, destination: { write: (line) => process.stdout.write(Buffer.from(line)) } };
}

/** The log on disk, whose last lines are not lost either when the process ends all at once. */
function openLog(folder: string, { warn }: Context): LogFile {
  const file = openLogFile(folder, { warn });
  process.once("exit", file.flushSync);
  return file;
}

/** One of several processes that answer HTTP; all else is the main process's, and so are the signals. */
async function answerOnly(
  self: Worker,
  { place, serving, sources, people }: { place: Place; serving: Serving; sources: Sources; people: boolean },
): Promise<void> {
  for (const name of signals) process.on(name, () => undefined);
  const { linesToMain, reportFailure, runFrontProcess } = await import("../../daemon/serve/front-process.ts");
  const file = linesToMain(self);
  let store: Store | undefined;
  try {
    store = await openExisting(place, sources);
    const log = await createLogger(serving.logLevel, { ...shownTo(people), file });
    endOnCrash(log);
    await runFrontProcess(self, { store, ...sources, log, logFolder: logFolder(place) }, serving);
  } catch (error) {
    // The main process logs it, and starts another front later.
    await reportFailure(self, failureOf(error));
  } finally {
    await store?.close();
    // The channel to the main process would keep this one alive.
    self.disconnect();
  }
}

/** Whether stdout is a terminal without --json: text instead of JSON lines. */
function forPeople({ globals }: Context): boolean {
  return !globals.json && process.stdout.isTTY === true;
}

/** One daemon a data directory; several may share one PostgreSQL. */
function takePlace(place: Place, ids: ReturnType<typeof randomIds>): () => void {
  if (place.kind === "database") return () => undefined;
  prepareDataDirectory(place.path, ids, place.given.length > 0);
  return lockDataDirectory(place.path);
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

function nextSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const name of signals) process.once(name, resolve);
  });
}

/** The process ends so long (ms) after the signal, also where closing the store waits for a statement. */
const STOP_LIMIT_MS = 28_500;

/** Throws the damage that ended it, if it was that. */
async function stopOn(end: Promise<string | StoreError>, running: Running, log: Logger): Promise<void> {
  const why = await end;
  onSecondSignal(signals, () => process.exit(exitCodes.interrupted));
  if (typeof why === "string") log.info({ event: "stopping", signal: why }, "stopping");
  else log.fatal({ event: "database_damaged", detail: why.message, hint: why.hint }, "the database is damaged");
  const code = typeof why === "string" ? exitCodes.done : exitCodes.failed;
  setTimeout(() => process.exit(code), STOP_LIMIT_MS).unref();
  await running.stop();
  log.info({ event: "stopped" }, "stopped");
  if (typeof why !== "string") throw why;
}

/**
 * An error that nothing caught, in whatever thread, is logged as any other one is, and ends the process: what state it
 * left behind is unknown. Node itself would print all of the error, with the parameters of a query among it.
 */
function endOnCrash(log: Logger): void {
  process.once("uncaughtException", (error: unknown) => {
    log.fatal({ event: "crashed", err: error }, "an unexpected error ends the process");
    const { type = "Error", message } = describeError(error);
    process.stderr.write(`error: an unexpected error ends the process: ${type}: ${message}\n`);
    process.exit(exitCodes.failed);
  });
}
