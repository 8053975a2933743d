import { command } from "../frame/command.ts";
import { CliError, usageError } from "../kernel/errors.ts";
import { argument } from "../kernel/input.ts";
import { readSecretArgument } from "../output/prompts.ts";
import { recordResult } from "../output/result.ts";
import { keyFileOf, keysOf } from "../place/key-file.ts";
import { OPERATOR } from "../place/operator.ts";
import { placeWords } from "../place/place.ts";

export default command({
  target: "operator",
  effects:
    "Copies the whole data directory into an empty PostgreSQL database, in one transaction, and compares it row by " +
    "row. Refused while serve runs. Afterwards the directory refuses work and its files stay; the key file goes on " +
    "being needed. An address of - is read from standard input or asked for, so that its password stays unseen.",
  json: "{place, rows, key_file (null: kept outside), seconds}",
  examples: [
    "migrate-to postgres://esimctl@db.example/esimctl?sslmode=verify-full --data /var/lib/esimctl",
    "migrate-to - --data /var/lib/esimctl",
  ],
  args: { url: argument("url", "postgres://user:password@host/database, or -", "secret") },
  options: {},
  async run(context, { url: given }) {
    const place = await context.place();
    if (place.kind === "database") {
      throw new CliError(
        "not_a_directory",
        `${placeWords(place)} is PostgreSQL already.`,
        "Name the data directory to move with --data DIR.",
      );
    }
    const url = await readSecretArgument(given, "Address of the PostgreSQL database", context.globals);
    if (!/^postgres(ql)?:\/\//.test(url) || !URL.canParse(url)) {
      throw usageError("That is no address of PostgreSQL.", "It looks like postgres://user@host/name.");
    }
    const [{ moveToPostgres }, { requireInitialised }, { startProgress }, { systemClock }, { randomIds }] =
      await Promise.all([
        import("../../core/maintenance/migrate-to.ts"),
        import("../place/local-store.ts"),
        import("../output/progress.ts"),
        import("../../core/kernel/clock.ts"),
        import("../../core/kernel/ids.ts"),
      ]);
    requireInitialised(place);
    const keyFile = keyFileOf(place);
    const keys = keysOf(place);
    const insecure = context.globals.insecure || process.env.ESIMCTL_INSECURE === "yes";
    const name = placeWords({ kind: "database", url });
    const progress = startProgress(context.globals);
    const began = performance.now();
    const rows = await moveToPostgres({
      directory: place.path,
      keys,
      url,
      insecure,
      name,
      actor: OPERATOR,
      clock: systemClock,
      ids: randomIds(),
      onProgress: ({ done, total }) => progress.show("Copying", done, total),
    }).finally(progress.stop);
    const seconds = Math.round((performance.now() - began) / 100) / 10;
    return recordResult(
      { place: name, rows, key_file: keyFile, seconds },
      () => ({ "moved to": name, rows: String(rows), seconds: String(seconds) }),
      `Go on there: esimctl serve --database URL${keyFile === null ? ", with the same key" : ` --key-file ${keyFile}`}`,
    );
  },
});
