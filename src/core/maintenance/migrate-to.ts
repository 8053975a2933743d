import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Actor, recordAudit } from "../audit/record.ts";
import { type Clock, isoTime } from "../kernel/clock.ts";
import type { Ids } from "../kernel/ids.ts";
import {
  dataDirectory,
  forgetMove,
  holdingOf,
  isMoved,
  lockDataDirectory,
  noteMove,
  refuseMoved,
} from "../platform/data-directory.ts";
import { makeDirectory } from "../platform/make-directory.ts";
import { servingState } from "../platform/serving.ts";
import { copyToPostgres } from "../store/open/copy-to-postgres.ts";
import { copyToSqlite } from "../store/open/copy-to-sqlite.ts";
import { openStore } from "../store/open/open.ts";
import { type Existing, openForReading } from "../store/open/reading.ts";
import { StoreError } from "../store/problems.ts";
import { findMasterKey, type KeySources, type MasterKey } from "../store/sealing/key-files.ts";
import { checkLedger } from "./data-checks.ts";
import { checkEvidence } from "./evidence-check.ts";
import { isFault } from "./finding.ts";
import { placeData, putAside } from "./place-data.ts";
import { recordAct } from "./record-act.ts";

const DIRECTORY_STAYS = "The data directory stays in use: see esimctl doctor there, and drop the PostgreSQL database.";

/** What is to be moved where. */
export interface MoveInput {
  /** The data directory; no daemon runs on it. */
  directory: string;
  /** Where its master key is. */
  keys: KeySources;
  /** The address of an unused PostgreSQL database. */
  url: string;
  /** Whether that may be beyond this machine without TLS. */
  insecure: boolean;
  /** The same address for people, without its password. */
  name: string;
  /** Who moves it, for the audit trail. */
  actor: Actor;
  clock: Clock;
  ids: Ids;
  onProgress: (progress: { done: number; total: number }) => void;
}

/**
 * Moves an installation to PostgreSQL: all or nothing, compared row by row, its ledger checked and its key tried there.
 * From then on the directory refuses to be worked on; its files stay as they are. Answers the rows that were copied.
 * Throws `StoreError`; the directory then stays in use.
 */
export async function moveToPostgres(input: MoveInput): Promise<number> {
  const { directory, keys, name, actor, clock, ids, onProgress } = input;
  const address = { url: input.url, insecure: input.insecure };
  refuseMoved(directory);
  const { databaseFile } = dataDirectory(directory);
  const { key: masterKey } = findMasterKey(keys);
  const release = lockDataDirectory(directory);
  try {
    // Brought up to date, sealed as this program seals, and read whole for damage.
    const source = await openStore({ file: databaseFile, create: false, verify: true }, { clock, ids, masterKey });
    await source.close();
    const entry = { actor, action: "data.migrate", targetKind: "database", targetId: name };
    await recordAct(databaseFile, { clock, ids, masterKey }, entry);
    return await copyToPostgres(databaseFile, address, {
      onProgress,
      async committed() {
        await tryCopy(address, { masterKey, clock, hint: DIRECTORY_STAYS });
        noteMove(directory, name);
      },
    });
  } finally {
    release();
  }
}

/** What is to be moved where. */
interface MoveBackInput {
  /** The PostgreSQL database; no daemon serves it. */
  address: { url: string; insecure: boolean };
  /** The same address for people, without its password. */
  name: string;
  /** Where its master key is. */
  keys: KeySources;
  /** A directory that is absent or empty, or that moved to PostgreSQL before. */
  directory: string;
  /** Who moves it, for the audit trail. */
  actor: Actor;
  clock: Clock;
  ids: Ids;
  onProgress: (progress: { done: number; total: number }) => void;
}

/** An installation that moved into a directory. */
interface MovedBack {
  rows: number;
  /** Its key file; null: the key is kept outside. */
  keyFile: string | null;
  /** Where the data is that moved away from this directory before; null: there was none. */
  replaced: string | null;
}

/**
 * Moves an installation from PostgreSQL into a data directory: all or nothing, compared row by row, its ledger checked
 * and its key tried there. From then on the database refuses work; its rows stay as they are. At no moment do both
 * take work: until the database refuses it, the directory does. Throws `StoreError`; the database then stays in use.
 */
export async function moveToDirectory(input: MoveBackInput): Promise<MovedBack> {
  const { address, keys, directory, onProgress } = input;
  refuseTarget(directory);
  const master = findMasterKey(keys);
  await prepareSource(input, master.key);
  const made = makeDirectory(directory);
  const release = lockDataDirectory(directory);
  const target: Target = { staging: join(directory, STAGING), replaced: null, placed: false };
  try {
    await rm(target.staging, { recursive: true, force: true });
    await mkdir(target.staging, { mode: 0o700 });
    const { databaseFile } = dataDirectory(target.staging);
    const copied = () => place(input, master, target);
    const rows = await copyToSqlite(address, databaseFile, { onProgress, copied });
    forgetMove(directory);
    return { rows, keyFile: master.outside ? null : dataDirectory(directory).keyFile, replaced: target.replaced };
  } finally {
    await rm(target.staging, { recursive: true, force: true });
    release();
    if (!target.placed && made !== undefined) await rm(made, { recursive: true, force: true });
  }
}

interface Target {
  staging: string;
  replaced: string | null;
  placed: boolean;
}

/** Puts the complete copy into the directory, which refuses work until the source does. Answers the directory. */
async function place(input: MoveBackInput, master: MasterKey, target: Target): Promise<string> {
  const { directory, name, clock } = input;
  const { databaseFile, keyFile } = dataDirectory(target.staging);
  await tryCopy({ file: databaseFile }, { masterKey: master.key, clock, hint: DATABASE_STAYS });
  if (!master.outside) await writeFile(keyFile, `${master.text.trim()}\n`, { mode: 0o600, flush: true });
  if (isMoved(directory)) target.replaced = await putAside(directory, isoTime(clock.now()));
  noteMove(directory, name);
  target.placed = true;
  await placeData(target.staging, directory);
  return directory;
}

const STAGING = ".moving";
const DATABASE_STAYS = "The database stays in use: see esimctl doctor there.";

/** Throws `StoreError` for a directory in use: two installations are never mixed. */
function refuseTarget(directory: string): void {
  const holding = holdingOf(directory);
  if (holding === "nothing" || (holding === "data" && isMoved(directory))) return;
  if (holding === "other") {
    throw new StoreError(`${directory} holds something else than esimctl data.`, "Choose an empty or new directory.");
  }
  throw new StoreError(
    `${directory} holds esimctl data already.`,
    "Name an empty or new directory, or the one that moved to PostgreSQL before.",
  );
}

/** Brings the source up to date, and records there who moves it. Throws `StoreError` while a daemon serves it. */
async function prepareSource({ address, actor, directory, clock, ids }: MoveBackInput, masterKey: Buffer) {
  const store = await openStore(address, { clock, ids, masterKey });
  try {
    const { nodes } = await store.read(servingState, null);
    const serving = nodes.filter(({ state }) => state === "serving").map(({ url }) => url);
    if (serving.length > 0) {
      const words = `The database is served by ${serving.join(", ")}.`;
      throw new StoreError(words, "Stop every node first. One that was killed counts for 30 seconds.");
    }
    await store.write(recordAudit, { actor, action: "data.migrate", targetKind: "directory", targetId: directory });
  } finally {
    await store.close();
  }
}

/** Opens a copy with its key and checks its ledger and its evidence. Throws `StoreError` with `hint`. */
async function tryCopy(
  where: Existing,
  { masterKey, clock, hint }: { masterKey: Buffer; clock: Clock; hint: string },
): Promise<void> {
  const reading = await openForReading(where, { clock });
  try {
    await reading.openKeys(masterKey);
    const found = [await reading.read(checkLedger, null), await reading.read(checkEvidence, { keyed: true })].find(
      isFault,
    );
    if (found !== undefined) throw new StoreError(found.message, hint);
  } finally {
    await reading.close();
  }
}
