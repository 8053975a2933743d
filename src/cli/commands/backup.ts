import packageFile from "../../../package.json" with { type: "json" };
import type { Backup } from "../../core/maintenance/backup.ts";
import { command } from "../frame/command.ts";
import { CliError } from "../kernel/errors.ts";
import { argument, flag } from "../kernel/input.ts";
import { newPassphrase } from "../output/passphrases.ts";
import { recordResult } from "../output/result.ts";
import { mebibytes, moment, yesNo } from "../output/words.ts";
import { OPERATOR } from "../place/operator.ts";
import { placeWords } from "../place/place.ts";

export default command({
  target: "operator",
  effects:
    "Writes FILE (0600) with the database as it is at one moment, checked, and the key file. Anyone who has the file " +
    "can read everything: keep it as you keep the key. A key that is kept outside never goes into it. With --seal " +
    "the file opens only with a passphrase, in the format of age: asked for twice, or one line of standard input. " +
    "Never replaces a file that is there.",
  json: "{file, bytes, made_at, version, holds_key, sealed}",
  examples: [
    "backup /backup/esimctl-2026-03-01.backup --data /var/lib/esimctl",
    "backup nightly.backup --without-key",
    "backup nightly.backup --seal < passphrase.txt",
  ],
  args: { file: argument("file", "where the backup goes") },
  options: {
    withoutKey: flag("--without-key", "leave the key file out: restoring then takes the one you keep apart"),
    seal: flag("--seal", "seal the backup with a passphrase"),
  },
  async run(context, { file, withoutKey, seal }) {
    const place = await context.place();
    if (place.kind === "database") {
      throw new CliError(
        "not_a_directory",
        `backup copies a data directory; ${placeWords(place)} is PostgreSQL's to back up.`,
        `Use pg_dump or your server's base backups, and keep a copy of ${place.keyFile ?? "the key"} apart.`,
      );
    }
    const [{ makeBackup }, { keysOf }, { requireInitialised }, { systemClock }, { randomIds }] = await Promise.all([
      import("../../core/maintenance/backup.ts"),
      import("../place/key-file.ts"),
      import("../place/local-store.ts"),
      import("../../core/kernel/clock.ts"),
      import("../../core/kernel/ids.ts"),
    ]);
    requireInitialised(place);
    const sources = { actor: OPERATOR, clock: systemClock, ids: randomIds(), version: packageFile.version };
    const passphrase = seal ? await newPassphrase(context.globals) : null;
    const { audited, key_outside, ...made } = await makeBackup({
      directory: place.path,
      file,
      keys: keysOf(place),
      withKey: !withoutKey,
      passphrase,
      ...sources,
    });
    if (!audited) context.warn("The data is of an earlier version: this backup is not in its audit trail.");
    const record = () => ({
      file: made.file,
      size: mebibytes(made.bytes),
      "made at": moment(made.made_at),
      "holds the key": yesNo(made.holds_key),
      sealed: yesNo(made.sealed),
    });
    return recordResult(made, record, keyWords({ ...made, key_outside }));
  },
});

/** What the backup opens with, in one line. */
function keyWords({ holds_key, sealed, key_outside }: Pick<Backup, "holds_key" | "sealed" | "key_outside">): string {
  const who = sealed ? "this file and its passphrase" : "this file";
  if (holds_key) return `It holds the key file: anyone who has ${who} can read all identity data.`;
  const key = key_outside ? "The key is kept outside, and" : "The key file";
  const apart = `${key} is not in it: keep a copy of that apart, or the backup is worth nothing.`;
  return sealed ? `${apart} Without the passphrase nothing opens it.` : apart;
}
