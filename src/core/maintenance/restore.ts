import { chmod, copyFile, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Actor } from "../audit/record.ts";
import { type Clock, isoTime } from "../kernel/clock.ts";
import type { Ids } from "../kernel/ids.ts";
import { dataDirectory, forgetMove, holdingOf, lockDataDirectory } from "../platform/data-directory.ts";
import { makeDirectory } from "../platform/make-directory.ts";
import { type BackupNotes, readNotes, removeNotes } from "../store/open/backup-file.ts";
import { StoreError } from "../store/problems.ts";
import { findMasterKey, type GivenKey, parseMasterKey } from "../store/sealing/key-files.ts";
import { flush } from "./backup.ts";
import { isFault } from "./finding.ts";
import { placeData, putAside } from "./place-data.ts";
import { recordAct } from "./record-act.ts";
import { isSealed, openSealed } from "./seal.ts";
import { type Counts, checkContent, checkCopy, chooseKey, type Opening } from "./verify-backup.ts";

/** What is to be restored where. */
export interface RestoreInput extends Opening {
  /** The backup. */
  file: string;
  /** The data directory; made when absent. */
  directory: string;
  /** Who restores it, for the audit trail. */
  actor: Actor;
  clock: Clock;
  ids: Ids;
}

/** A data directory that was restored. */
export interface Restored {
  directory: string;
  made_at: string;
  /** Where the data that was there before is now; null: there was none. */
  replaced: string | null;
  counts: Counts | null;
}

/**
 * Puts a backup into a data directory (0700, its files 0600). It is copied beside and verified there; then the files
 * change places, and what was there before is kept in a directory of its own. The audit trail of the restored data has
 * it; a backup of an earlier version is brought up to date. No key file is written where the key is kept outside.
 * Throws `StoreError` when the backup is not sound or no key opens it, when the directory holds something else, and
 * while a daemon runs on it: then everything is as it was.
 */
export async function restoreBackup(input: RestoreInput): Promise<Restored> {
  const { file, directory, passphrase, withoutChecksum, outside, clock } = input;
  await refuseOther(file, passphrase);
  const holding = holdingOf(directory);
  if (holding === "other") {
    throw new StoreError(`${directory} holds something else than esimctl data.`, "Choose an empty or new directory.");
  }
  const made = makeDirectory(directory);
  const staging = join(directory, ".restoring");
  const release = lockDataDirectory(directory);
  let done = false;
  try {
    const { databaseFile, keyFile } = dataDirectory(staging);
    await stage(file, staging, passphrase);
    const notes = readNotes(databaseFile, file);
    const { made_at, checksum } = notes;
    const chosen = requireKey(input, notes);
    const content = checkContent(databaseFile, { key: chosen, checksum, withoutChecksum });
    removeNotes(databaseFile);
    await flush(databaseFile);
    const counts = await verify(staging, { key: chosen, clock });
    // After the rest: with another key than the backup's own it would differ too.
    if (isFault(content)) {
      throw new StoreError(content.message, checksum === null ? (content.remedy ?? "") : NOTHING_RESTORED);
    }
    if (outside.length === 0) await writeFile(keyFile, `${chosen.text.trim()}\n`, { mode: 0o600, flush: true });
    await record(staging, input, { chosen, made_at });
    const replaced = holding === "data" ? await putAside(directory, isoTime(clock.now())) : null;
    forgetMove(directory);
    await placeData(staging, directory);
    done = true;
    return { directory, made_at, replaced, counts };
  } finally {
    await rm(staging, { recursive: true, force: true });
    release();
    if (!done && made !== undefined) await rm(made, { recursive: true, force: true });
  }
}

const NOTHING_RESTORED = "Nothing was restored. Take an older backup; esimctl verify-backup shows which is sound.";

/** Throws `StoreError` for what is no backup, before anything is made. */
async function refuseOther(file: string, passphrase: string | null): Promise<void> {
  if (passphrase !== null) return;
  if (await isSealed(file)) throw new StoreError(`${file} is sealed.`, "Give its passphrase.");
  readNotes(file);
}

/** The key that opens the backup. Throws `StoreError` without one, and where it is not the one kept outside. */
function requireKey(opening: Opening & { file: string }, notes: BackupNotes): GivenKey {
  const chosen = chooseKey(opening, notes);
  if (chosen === null) {
    throw new StoreError(`${opening.file} holds no key file.`, "Name the one that was kept apart: --key-file FILE.");
  }
  const { outside } = opening;
  if (outside.length === 0) return chosen;
  const kept = findMasterKey({ file: null, given: outside });
  if (parseMasterKey(chosen.text, chosen.name).equals(kept.key)) return chosen;
  throw new StoreError(
    `${chosen.name} and ${kept.name} hold different keys.`,
    `Restore without ${kept.name}, which writes the key file; then esimctl keys rotate master --new-key takes it out.`,
  );
}

/** The database of a backup, still with its notes, in a place of its own. */
async function stage(file: string, staging: string, passphrase: string | null): Promise<void> {
  await rm(staging, { recursive: true, force: true });
  await mkdir(staging, { mode: 0o700 });
  const { databaseFile } = dataDirectory(staging);
  if (passphrase !== null) return openSealed(file, databaseFile, passphrase);
  await writeFile(databaseFile, "", { mode: 0o600 });
  await copyFile(file, databaseFile);
  await chmod(databaseFile, 0o600);
}

async function record(
  staging: string,
  { file, actor, clock, ids }: RestoreInput,
  { chosen, made_at }: { chosen: GivenKey; made_at: string },
): Promise<void> {
  const { databaseFile } = dataDirectory(staging);
  const masterKey = parseMasterKey(chosen.text, chosen.name);
  const entry = { actor, action: "data.restore", targetKind: "backup", targetId: file, note: `made at ${made_at}` };
  // A cookie that was worth nothing any more must not be again.
  await recordAct(databaseFile, { clock, ids, masterKey }, { ...entry, signOut: true });
  await flush(databaseFile);
}

async function verify(staging: string, using: { key: GivenKey; clock: Clock }): Promise<Counts | null> {
  const { found, counts } = await checkCopy(dataDirectory(staging).databaseFile, using);
  const fault = found.find(isFault);
  if (fault === undefined) return counts;
  const hint =
    fault.check === "data_keys" ? "Name the key file that belongs to this backup: --key-file FILE." : NOTHING_RESTORED;
  throw new StoreError(fault.message, hint);
}
