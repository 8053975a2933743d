import { join } from "node:path";
import { count } from "drizzle-orm";
import type { Clock } from "../kernel/clock.ts";
import { type BackupNotes, contentMac, readNotes } from "../store/open/backup-file.ts";
import { openForReading } from "../store/open/reading.ts";
import type { TableName } from "../store/schema/tables.ts";
import { type GivenKey, parseMasterKey } from "../store/sealing/key-files.ts";
import { first, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { checkLedger } from "./data-checks.ts";
import { checkDatabase } from "./database-checks.ts";
import { checkEvidence } from "./evidence-check.ts";
import { type Finding, fault, findings, fine, isFault, isSound, warning } from "./finding.ts";
import { openSealed } from "./seal.ts";
import { checkSealed } from "./sealed-check.ts";

const counted = ["partners", "products", "orders", "esims", "activations", "passports", "ledgerTransactions"] as const;

/** How many rows the tables hold that people ask for. */
export type Counts = Record<(typeof counted)[number], number>;

/** What a look into a backup came to. */
export interface Verified extends Omit<BackupNotes, "key_file" | "checksum"> {
  holds_key: boolean;
  sealed: boolean;
  findings: Finding[];
  /** Null when the database cannot be read. */
  counts: Counts | null;
}

/** What opens a backup. */
export interface Opening {
  /** The key that was kept apart; null: the backup's own. */
  key: GivenKey | null;
  /** Keys that are kept outside: tried where the backup holds none. */
  outside: readonly GivenKey[];
  /** What a sealed backup opens with; null: it is not sealed. */
  passphrase: string | null;
  /** Also accepts a backup without a checksum, as versions before checksums made it. */
  withoutChecksum: boolean;
}

/** The key to open a backup with: the one given, else its own, else one from outside; null: there is none. */
export function chooseKey(
  { key, outside }: Pick<Opening, "key" | "outside">,
  { key_file }: Pick<BackupNotes, "key_file">,
): GivenKey | null {
  const own = key_file === null ? null : { text: key_file, name: "The key in the backup" };
  return key ?? own ?? outside[0] ?? null;
}

/**
 * Reads a backup whole: damage, schema, whether a key opens it, whether its ledger agrees. Changes nothing. A sealed
 * one is opened within the folder `scratch`, which the caller removes. Throws `StoreError` when it is no backup, the
 * passphrase is wrong, or a key is invalid.
 */
export async function verifyBackup(
  file: string,
  input: Opening & { scratch: string; clock: Clock },
): Promise<Verified> {
  const { passphrase, clock, withoutChecksum } = input;
  const opened = passphrase === null ? file : join(input.scratch, "opened.backup");
  if (passphrase !== null) await openSealed(file, opened, passphrase);
  const notes = readNotes(opened, file);
  const { key_file, checksum, ...shown } = notes;
  const key = chooseKey(input, notes);
  const { found, counts } = await checkCopy(opened, { key, clock });
  const content = isSound(found) ? [checkContent(opened, { key, checksum, withoutChecksum })] : [];
  const held = { holds_key: key_file !== null, sealed: passphrase !== null };
  return { ...shown, ...held, findings: [...found.map(ofBackup), ...content], counts };
}

/** Whether a backup holds what it held when it was made, by its keyed checksum. */
export function checkContent(
  file: string,
  { key, checksum, withoutChecksum }: { key: GivenKey | null; checksum: string | null; withoutChecksum: boolean },
): Finding {
  if (checksum === null) {
    const words = "It has no checksum: it is of a version before checksums, or the checksum was removed.";
    if (withoutChecksum) return warning("checksum", words, "Make a new backup with this version.");
    return fault("checksum", words, "Only where you know that such a version made it: --without-checksum.");
  }
  if (key === null) {
    const words = "It holds no key file: whether its content was changed was not checked.";
    return warning("checksum", words, "Name the key file that is kept apart: --key-file FILE.");
  }
  const changed = fault("checksum", "Its content was changed after it was made.", UNSOUND);
  const masterKey = parseMasterKey(key.text, key.name);
  try {
    if (contentMac(file, masterKey) !== checksum) return changed;
  } catch {
    // Damage that the driver meets while it reads.
    return changed;
  }
  return fine("checksum", "Its content is what it was when it was made.");
}

/** The same for the database file itself, whatever it says of itself. */
export async function checkCopy(
  file: string,
  { key, clock }: { key: GivenKey | null; clock: Clock },
): Promise<{ found: Finding[]; counts: Counts | null }> {
  const { found: database, current } = await checkDatabase({ file });
  if (!isSound(database)) return { found: database, counts: null };
  const reading = await openForReading({ file }, { clock });
  try {
    const keys = await findings("data_keys", async () => {
      if (key === null) return [unchecked];
      await reading.openKeys(parseMasterKey(key.text, key.name));
      return [fine("data_keys", `${key.name} opens the data keys.`)];
    });
    const sealed = key !== null && isSound(keys) ? [tolerable(await reading.read(checkSealed, null))] : [];
    const ledger = await reading.read(checkLedger, null);
    const keyed = key !== null && isSound(keys);
    // A backup of an earlier version has no chains yet.
    const evidence = current ? [await reading.read(checkEvidence, { keyed })] : [];
    const found = [...database, ...keys, ...sealed, ledger, ...evidence];
    return { found, counts: await reading.read(countRows, null) };
  } finally {
    await reading.close();
  }
}

/** The backup is of use all the same: its data may have held such a row when it was made, as the checksum shows. */
function tolerable(finding: Finding): Finding {
  const remedy = "Once it is restored, put back those rows from an older backup.";
  return isFault(finding) ? { ...finding, level: "warning", remedy } : finding;
}

const unchecked = warning(
  "data_keys",
  "It holds no key file: whether yours opens it was not checked.",
  "Name the key file that is kept apart: --key-file FILE.",
);

const UNSOUND = "Do not count on this file: make a new backup, and look at older ones.";

function ofBackup(finding: Finding): Finding {
  return isFault(finding) ? { ...finding, remedy: UNSOUND } : finding;
}

const tallies = new Map(counted.map((name) => [name, tally(name)]));

function tally(name: TableName) {
  return statement((db, t, _slot) => db.select({ many: count() }).from(t[name]));
}

async function countRows(q: Read): Promise<Counts> {
  const zero = { partners: 0, products: 0, orders: 0, esims: 0, activations: 0, passports: 0, ledgerTransactions: 0 };
  const counts: Counts = { ...zero };
  for (const [name, query] of tallies) counts[name] = first(await query(q, {}))?.many ?? 0;
  return counts;
}
