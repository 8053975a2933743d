import { type Context, command } from "../frame/command.ts";
import { CliError } from "../kernel/errors.ts";
import { argument, flag } from "../kernel/input.ts";
import { recordResult } from "../output/result.ts";
import { moment, shown } from "../output/words.ts";
import { OPERATOR } from "../place/operator.ts";
import { placeWords } from "../place/place.ts";
import { countsJson, openingOf, withoutChecksum } from "./verify-backup.ts";

export default command({
  target: "process",
  effects:
    "Verifies a copy of FILE and puts it into --data DIR, which is made if absent (0700, files 0600). Over data only " +
    "with --force, and what was there is kept in DIR. Refused while serve runs on DIR. With --key-file FILE that " +
    "key. The passphrase of a sealed one is asked for, or one line of standard input.",
  json: "{place, made_at, replaced (where the former data is, or null), counts: {partners, products, orders, …}}",
  examples: [
    "restore nightly.backup --data /var/lib/esimctl",
    "restore nightly.backup --key-file esimctl.key --data ./esimctl-data",
    "restore nightly.backup --data /var/lib/esimctl --force --yes",
  ],
  args: { file: argument("file", "what backup made") },
  options: {
    force: flag("--force", "also over a directory that holds data; asks first"),
    withoutChecksum,
  },
  async run(context, { file, force, withoutChecksum }) {
    const directory = await emptyPlace(context, force);
    const [{ restoreBackup }, { systemClock }, { randomIds }] = await Promise.all([
      import("../../core/maintenance/restore.ts"),
      import("../../core/kernel/clock.ts"),
      import("../../core/kernel/ids.ts"),
    ]);
    const sources = { actor: OPERATOR, clock: systemClock, ids: randomIds() };
    const opening = { ...(await openingOf(context, file)), withoutChecksum };
    const { made_at, replaced, counts } = await restoreBackup({ file, directory, ...opening, ...sources });
    const more = "Orders placed since that moment are not in it; partners may send them again with the same keys.";
    const kept = "Delete the former data once it is not needed any more.";
    return recordResult(
      { place: directory, made_at, replaced, counts: countsJson(counts) },
      () => ({ restored: directory, "as it was": moment(made_at), "former data": shown(replaced) }),
      replaced === null ? more : `${more} ${kept}`,
    );
  },
});

/** The directory to restore into: empty, or confirmed to be overwritten. */
async function emptyPlace(context: Context, force: boolean): Promise<string> {
  const place = await context.place();
  if (place.kind === "database") {
    throw new CliError(
      "not_a_directory",
      `restore fills a data directory; ${placeWords(place)} is PostgreSQL's to restore.`,
      "Use pg_restore or psql there.",
    );
  }
  const { holdingOf } = await import("../../core/platform/data-directory.ts");
  if (holdingOf(place.path) !== "data") return place.path;
  if (!force) {
    throw new CliError(
      "holds_data",
      `${place.path} holds data already.`,
      "Restore into another directory with --data, or add --force to replace it.",
    );
  }
  await context.confirm("Replace the data that is there by the backup's?");
  return place.path;
}
