import { type Context, command } from "../frame/command.ts";
import { CliError, usageError } from "../kernel/errors.ts";
import { argument } from "../kernel/input.ts";
import { readSecretArgument } from "../output/prompts.ts";
import { type Result, recordResult } from "../output/result.ts";
import { shown } from "../output/words.ts";
import { keyFileOf, keysOf } from "../place/key-file.ts";
import { OPERATOR } from "../place/operator.ts";
import { type DatabasePlace, type Place, placeWords } from "../place/place.ts";

export default command({
  target: "operator",
  effects:
    "Copies a whole data directory into an empty PostgreSQL database, or one of PostgreSQL (--database) into a data " +
    "directory, and compares it row by row. Refused while anything serves it. Afterwards the place that was left " +
    "refuses work and keeps what it has. To PostgreSQL the key file stays where it is; a directory gets a copy of " +
    "it, and one that moved to PostgreSQL before keeps its former data aside. An address of - is read from standard " +
    "input or asked for, so that its password stays unseen.",
  json: "{place, rows, key_file (null: kept outside), replaced (where a directory's former data is, or null), seconds}",
  examples: [
    "migrate-to postgres://esimctl@db.example/esimctl?sslmode=verify-full --data /var/lib/esimctl",
    "migrate-to - --data /var/lib/esimctl",
    "migrate-to /var/lib/esimctl --database postgres://esimctl@db.example/esimctl --key-file esimctl.key",
  ],
  args: { to: argument("to", "postgres://user:password@host/database, -, or a data directory", "secret") },
  options: {},
  async run(context, { to }) {
    const place = await context.place();
    return place.kind === "database" ? toDirectory(context, place, to) : toPostgres(context, place, to);
  },
});

const isAddress = (text: string) => /^postgres(ql)?:\/\//.test(text);

async function toPostgres(context: Context, place: Place & { kind: "directory" }, given: string): Promise<Result> {
  const url = await readSecretArgument(given, "Address of the PostgreSQL database", context.globals);
  if (!isAddress(url) || !URL.canParse(url)) {
    throw usageError(
      "That is no address of PostgreSQL.",
      "It looks like postgres://user@host/name. A directory is moved to from a database: --database URL.",
    );
  }
  const [{ moveToPostgres }, { requireInitialised }] = await Promise.all([
    import("../../core/maintenance/migrate-to.ts"),
    import("../place/local-store.ts"),
  ]);
  requireInitialised(place);
  const keyFile = keyFileOf(place);
  const insecure = context.globals.insecure || process.env.ESIMCTL_INSECURE === "yes";
  const name = placeWords({ kind: "database", url });
  const target = { directory: place.path, keys: keysOf(place), url, insecure, name };
  const { rows, seconds } = await copying(context, async (sources) => ({
    rows: await moveToPostgres({ ...target, ...sources }),
  }));
  return recordResult(
    { place: name, rows, key_file: keyFile, replaced: null, seconds },
    () => ({ "moved to": name, rows: String(rows), seconds: String(seconds) }),
    `Go on there: esimctl serve --database URL${keyFile === null ? ", with the same key" : ` --key-file ${keyFile}`}`,
  );
}

async function toDirectory(context: Context, place: DatabasePlace, directory: string): Promise<Result> {
  if (isAddress(directory) || directory === "-") {
    throw new CliError(
      "not_a_directory",
      `${placeWords(place)} is PostgreSQL already.`,
      "Name the data directory to move with --data DIR; to move this database back, name a directory.",
    );
  }
  const { moveToDirectory } = await import("../../core/maintenance/migrate-to.ts");
  const { url, insecure } = place;
  const source = { address: { url, insecure }, name: placeWords(place), keys: keysOf(place), directory };
  const moved = await copying(context, (sources) => moveToDirectory({ ...source, ...sources }));
  const { rows, keyFile, replaced, seconds } = moved;
  return recordResult(
    { place: directory, rows, key_file: keyFile, replaced, seconds },
    () => ({ "moved to": directory, rows: String(rows), "former data": shown(replaced), seconds: String(seconds) }),
    `Go on there: esimctl serve --data ${directory}${keyFile === null ? ", with the same key" : ""}`,
  );
}

/** What both ways take from outside. */
async function sourcesOf() {
  const [{ systemClock }, { randomIds }] = await Promise.all([
    import("../../core/kernel/clock.ts"),
    import("../../core/kernel/ids.ts"),
  ]);
  return { actor: OPERATOR, clock: systemClock, ids: randomIds() };
}

type Sources = Awaited<ReturnType<typeof sourcesOf>> & {
  onProgress: (progress: { done: number; total: number }) => void;
};

/** Runs a copy with its progress shown, and adds how long it took. */
async function copying<T>(context: Context, copy: (sources: Sources) => Promise<T>): Promise<T & { seconds: number }> {
  const { startProgress } = await import("../output/progress.ts");
  const sources = await sourcesOf();
  const progress = startProgress(context.globals);
  const began = performance.now();
  const onProgress: Sources["onProgress"] = ({ done, total }) => progress.show("Copying", done, total);
  const result = await copy({ ...sources, onProgress }).finally(progress.stop);
  return { ...result, seconds: Math.round((performance.now() - began) / 100) / 10 };
}
