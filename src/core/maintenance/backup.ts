import { existsSync } from "node:fs";
import { open, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Actor } from "../audit/record.ts";
import { type Clock, isoTime } from "../kernel/clock.ts";
import type { Ids } from "../kernel/ids.ts";
import { dataDirectory } from "../store/data-directory.ts";
import { type BackupNotes, copyDatabase, writeChecksum, writeNotes } from "../store/engines/backup-file.ts";
import { openForReading } from "../store/engines/reading.ts";
import { isCurrent } from "../store/engines/sqlite-reading.ts";
import { parseMasterKey, readKeyFile } from "../store/key-files.ts";
import { StoreError } from "../store/problems.ts";
import { checkDatabase } from "./database-checks.ts";
import { isFault } from "./finding.ts";
import { recordAct } from "./record-act.ts";

/** What is to be kept, and where. */
export interface BackupInput {
  /** The data directory. */
  directory: string;
  /** Where the backup goes. */
  file: string;
  withKey: boolean;
  /** Of this program. */
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
  /** False: the database is of an earlier version, whose audit trail this program does not write. */
  audited: boolean;
}

/**
 * Copies the database as it is at one moment, served or not, into one file (0600) that also holds the key file unless
 * it is left out. The file takes its name once it is complete, checked and on disk. The audit trail has it before the
 * first byte is copied. Throws `StoreError`, also when something of that name is there.
 */
export async function makeBackup(input: BackupInput): Promise<Backup> {
  const { directory, file, withKey, version, clock, ids, actor } = input;
  if (existsSync(file)) throw new StoreError(`${file} is there already.`, "Choose another name: backups are kept.");
  const { databaseFile, keyFile } = dataDirectory(directory);
  const keyText = readKeyFile(keyFile);
  const notes = { made_at: isoTime(clock.now()), version, key_file: withKey ? keyText : null };
  const masterKey = parseMasterKey(keyText, keyFile);
  // A database is not brought up to date on the way: an older daemon may be serving it.
  const audited = await isCurrent(databaseFile);
  if (audited) {
    const entry = { actor, action: "data.backup", targetKind: "backup", targetId: file };
    await recordAct(databaseFile, { clock, ids, masterKey }, { ...entry, fields: withKey ? ["key_file"] : [] });
  }
  const partial = `${file}.partial`;
  await rm(partial, { force: true });
  try {
    // Made by us first, so that no other user may read it for a moment.
    await writeFile(partial, "", { mode: 0o600, flag: "wx" });
    await copyDatabase(databaseFile, partial);
    await refuseUnsound(partial, masterKey, clock);
    writeNotes(partial, notes);
    writeChecksum(partial, masterKey);
    await flush(partial);
    await rename(partial, file);
    await flush(dirname(file));
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
  const { size: bytes } = await stat(file);
  return { file, bytes, made_at: notes.made_at, version, holds_key: withKey, audited };
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
