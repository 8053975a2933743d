import packageFile from "../../../package.json" with { type: "json" };
import { command } from "../frame/command.ts";
import { CliError } from "../kernel/errors.ts";
import { argument, flag } from "../kernel/input.ts";
import { recordResult } from "../output/result.ts";
import { mebibytes, moment, yesNo } from "../output/words.ts";
import { OPERATOR } from "../place/operator.ts";
import { placeWords } from "../place/place.ts";

export default command({
  target: "operator",
  effects:
    "Writes FILE (0600) with the database as it is at one moment, checked, and the key file. Anyone who has the file " +
    "can read everything: keep it as you keep the key. Never replaces a file that is there.",
  json: "{file, bytes, made_at, version, holds_key}",
  examples: ["backup /backup/esimctl-2026-03-01.backup --data /var/lib/esimctl", "backup nightly.backup --without-key"],
  args: { file: argument("file", "where the backup goes") },
  options: { withoutKey: flag("--without-key", "leave the key file out: restoring then takes the one you keep apart") },
  async run(context, { file, withoutKey }) {
    const place = await context.place();
    if (place.kind === "database") {
      throw new CliError(
        "not_a_directory",
        `backup copies a data directory; ${placeWords(place)} is PostgreSQL's to back up.`,
        `Use pg_dump or your server's base backups, and keep a copy of ${place.keyFile} apart.`,
      );
    }
    const [{ makeBackup }, { requireInitialised }, { systemClock }, { randomIds }] = await Promise.all([
      import("../../core/maintenance/backup.ts"),
      import("../place/local-store.ts"),
      import("../../core/kernel/clock.ts"),
      import("../../core/kernel/ids.ts"),
    ]);
    requireInitialised(place);
    const { version } = packageFile;
    const sources = { actor: OPERATOR, clock: systemClock, ids: randomIds() };
    const { audited, ...made } = await makeBackup({
      directory: place.path,
      file,
      withKey: !withoutKey,
      version,
      ...sources,
    });
    if (!audited) context.warn("The data is of an earlier version: this backup is not in its audit trail.");
    const record = () => ({
      file: made.file,
      size: mebibytes(made.bytes),
      "made at": moment(made.made_at),
      "holds the key": yesNo(made.holds_key),
    });
    const warning = "It holds the key file: anyone who has this file can read all identity data.";
    const kept = "The key file is not in it: keep a copy of that apart, or the backup is worth nothing.";
    return recordResult(made, record, made.holds_key ? warning : kept);
  },
});
