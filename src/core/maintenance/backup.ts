import { existsSync } from "node:fs";
import { open, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Actor } from "../audit/record.ts";
import { type Clock, isoTime } from "../kernel/clock.ts";
import type { Ids } from "../kernel/ids.ts";
import { dataDirectory, lockSealing } from "../platform/data-directory.ts";
import { type BackupNotes, copyDatabase, writeChecksum, writeNotes } from "../store/open/backup-file.ts";
import { isCurrent, openForReading } from "../store/open/reading.ts";
import { StoreError } from "../store/problems.ts";
import { findMasterKey, type KeySources } from "../store/sealing/key-files.ts";
import { checkDatabase } from "./database-checks.ts";
import { isFault } from "./finding.ts";
import { recordAct } from "./record-act.ts";
import { sealFile } from "./seal.ts";

/** What is to be kept, and where. */
export interface BackupInput {
  /** The data directory. */
  directory: string;
  /** Where the backup goes. */
  file: string;
  /** Where the master key is. */
  keys: KeySources;
  /** Whether it goes into the backup; one that is kept outside never does. */
  withKey: boolean;
  /** Seals the backup; null: it is not sealed. */
  passphrase: string | null;
  /** The version of this program. */
  version: string;
  /** Who makes it, for the audit trail. */
  actor: Actor;
  clock: Clock;
  ids: Ids;
}

/** A backup that was made. */
export interface Backup extends Omit<BackupNotes, "key_file" | "checksum"> {
  file: string;
  bytes: number;
  holds_key: boolean;
  sealed: boolean;
  /** The master key is kept outside, and not in the backup. */
  key_outside: boolean;
  /** False: the database is of an earlier version, whose audit trail this program does not write. */
  audited: boolean;
}

/**
 * Copies the database as it is at one moment, served or not, into one file (0600) that also holds the key file unless
 * it is left out or kept outside. The file takes its name once it is complete, checked and on disk. The audit trail has
 * it before the first byte is copied. What is to be sealed is copied within the data directory first: no byte of it is
 * ever in clear where the backup goes. Throws `StoreError`, also when something of that name is there.
 */
export async function makeBackup(input: BackupInput): Promise<Backup> {
  const { directory, file, keys, passphrase, version, clock, ids, actor } = input;
  if (existsSync(file)) throw new StoreError(`${file} is there already.`, "Choose another name: backups are kept.");
  const { databaseFile } = dataDirectory(directory);
  const { key: masterKey, text, outside } = findMasterKey(keys);
  const withKey = input.withKey && !outside;
  const notes = { made_at: isoTime(clock.now()), version, key_file: withKey ? text : null };
  // A database is not brought up to date on the way: an older daemon may be serving it.
  const audited = await isCurrent({ file: databaseFile });
  if (audited) {
    const entry = { actor, action: "data.backup", targetKind: "backup", targetId: file };
    await recordAct(databaseFile, { clock, ids, masterKey }, { ...entry, fields: withKey ? ["key_file"] : [] });
  }
  const partial = `${file}.partial`;
  const release = passphrase === null ? () => undefined : lockSealing(directory);
  const plain = passphrase === null ? partial : join(directory, ".sealing.partial");
  try {
    await rm(partial, { force: true });
    await copyInto(plain, { databaseFile, masterKey, notes, clock });
    if (passphrase !== null) await sealFile(plain, partial, passphrase);
    await flush(partial);
    await rename(partial, file);
    await flush(dirname(file));
  } finally {
    await rm(partial, { force: true });
    await rm(plain, { force: true });
    release();
  }
  const { size: bytes } = await stat(file);
  const sealed = passphrase !== null;
  return { file, bytes, made_at: notes.made_at, version, holds_key: withKey, sealed, key_outside: outside, audited };
}

/** Writes the backup, checked and with its checksum, to `into`; what a crash left there is replaced. */
async function copyInto(
  into: string,
  from: { databaseFile: string; masterKey: Buffer; notes: Omit<BackupNotes, "checksum">; clock: Clock },
): Promise<void> {
  await rm(into, { force: true });
  // Made by us first, so that no other user may read it for a moment.
  await writeFile(into, "", { mode: 0o600, flag: "wx" });
  await copyDatabase(from.databaseFile, into);
  await refuseUnsound(into, from.masterKey, from.clock);
  writeNotes(into, from.notes);
  writeChecksum(into, from.masterKey);
}

/** A damaged database would only be found out on the day that its backup is needed. */
async function refuseUnsound(file: string, masterKey: Buffer, clock: Clock): Promise<void> {
  const fault = (await checkDatabase({ file })).found.find(isFault);
  if (fault !== undefined) {
    throw new StoreError(fault.message, "Nothing was kept. See esimctl doctor, and do not give up older backups.");
  }
  const reading = await openForReading({ file }, { clock });
  try {
    await reading.openKeys(masterKey);
  } finally {
    await reading.close();
  }
}

/** Waits until a file, or a directory's names, are on disk. */
export async function flush(path: string): Promise<void> {
  const handle = await open(path, "r").catch(() => null);
  // Windows opens no directories.
  if (handle === null) return;
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
