import { count } from "drizzle-orm";
import type { Clock } from "../kernel/clock.ts";
import { type BackupNotes, contentMac, readNotes } from "../store/engines/backup-file.ts";
import { openForReading } from "../store/engines/reading.ts";
import { parseMasterKey } from "../store/key-files.ts";
import type { TableName } from "../store/schema/tables.ts";
import { first, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { checkLedger } from "./data-checks.ts";
import { checkDatabase } from "./database-checks.ts";
import { checkEvidence } from "./evidence-check.ts";
import { type Finding, fault, findings, fine, isFault, isSound, warning } from "./finding.ts";
import { checkSealed } from "./sealed-check.ts";

const counted = ["partners", "products", "orders", "esims", "activations", "passports", "ledgerTransactions"] as const;

/** How many rows the tables hold that people ask for. */
export type Counts = Record<(typeof counted)[number], number>;

/** What a look into a backup came to. */
export interface Verified extends Omit<BackupNotes, "key_file" | "checksum"> {
  holds_key: boolean;
  findings: Finding[];
  /** Null when the database cannot be read. */
  counts: Counts | null;
}

/** The text of a key file, and what messages call it. */
export interface GivenKey {
  text: string;
  name: string;
}

/**
 * Reads a backup whole: damage, schema, whether a key opens it (`key`, else its own), whether its ledger agrees.
 * Changes nothing. Throws `StoreError` when it is no backup, or `key` is no key file.
 */
export async function verifyBackup(file: string, input: { key: GivenKey | null; clock: Clock }): Promise<Verified> {
  const { key_file, checksum, ...notes } = readNotes(file);
  const key = input.key ?? (key_file === null ? null : { text: key_file, name: "The key in the backup" });
  const { found, counts } = await checkCopy(file, { key, clock: input.clock });
  const content = isSound(found) ? [checkContent(file, { key, checksum })] : [];
  return { ...notes, holds_key: key_file !== null, findings: [...found, ...content].map(ofBackup), counts };
}

/** Whether a backup holds what it held when it was made, by its keyed checksum. */
export function checkContent(
  file: string,
  { key, checksum }: { key: GivenKey | null; checksum: string | null },
): Finding {
  if (checksum === null) {
    const words = "It has no checksum, since an older version made it: a changed value would not be noticed.";
    return warning("checksum", words, "Make a new backup with this version.");
  }
  if (key === null) {
    const words = "It holds no key file: whether its content was changed was not checked.";
    return warning("checksum", words, "Name the key file that is kept apart: --key-file FILE.");
  }
  const changed = fault("checksum", "Its content was changed after it was made.", "Take an older backup.");
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

function ofBackup(finding: Finding): Finding {
  const remedy = "Do not count on this file: make a new backup, and look at older ones.";
  return isFault(finding) ? { ...finding, remedy } : finding;
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
