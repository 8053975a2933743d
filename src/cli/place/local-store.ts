import { existsSync, rmSync } from "node:fs";
import { type Clock, isoTime } from "../../core/kernel/clock.ts";
import type { Ids } from "../../core/kernel/ids.ts";
import { dataDirectory, isInitialised, prepareDataDirectory, refuseMoved } from "../../core/platform/data-directory.ts";
import { type Location, openBeside, openStore, type StoreDependencies } from "../../core/store/open/open.ts";
import { openForReading } from "../../core/store/open/reading.ts";
import { StoreError } from "../../core/store/problems.ts";
import { hasNoDataKeys } from "../../core/store/sealing/data-keys.ts";
import {
  createKeyFile,
  findMasterKey,
  type KeySources,
  masterKeysAt,
  missingKey,
  settleKeyFile,
} from "../../core/store/sealing/key-files.ts";
import type { Store } from "../../core/store/store.ts";
import type { WriterWork } from "../../daemon/writer/messages.ts";
import type { WriterThread } from "../../daemon/writer/start-writer.ts";
import { CliError } from "../kernel/errors.ts";
import { keysOf } from "./key-file.ts";
import { type DatabasePlace, type Place, placeWords } from "./place.ts";

/** What a store takes from outside, and how it is opened. */
export interface Sources {
  clock: Clock;
  ids: Ids;
  /** Read a database file whole for damage before it is used. */
  verify?: boolean;
  /** Makes the writes of a database file in a thread of their own; left out: this thread does. */
  startWriter?: (work: WriterWork) => Promise<WriterThread>;
  /** Called, with words for a person, each time that opening waits for other sessions on PostgreSQL. */
  onWait?: ((words: string) => void) | undefined;
  /** Connections to PostgreSQL that this process may open; left out: as many as a command of the terminal needs. */
  connections?: number;
  /** The address of a replica for reads; left out: none. */
  replica?: string | undefined;
}

/** Connections of a command of the terminal: few, so that it finds room beside the nodes. */
const COMMAND_CONNECTIONS = 2;

/** Opens the store that is at `place`. Throws `not_initialised` when there is none, StoreError when it is unusable. */
export async function openExisting(place: Place, sources: Sources): Promise<Store> {
  if (place.kind === "database") return openWith(keysOf(place), addressOf(place, sources), sources);
  requireInitialised(place);
  refuseMoved(place.path);
  const { databaseFile } = dataDirectory(place.path);
  return openWith(keysOf(place), { file: databaseFile, create: false }, sources);
}

/** Throws `not_initialised` when the directory holds no esimctl data. */
export function requireInitialised(place: Place & { kind: "directory" }): void {
  if (isInitialised(place.path)) return;
  throw new CliError(
    "not_initialised",
    `There is no esimctl data in ${placeWords(place)}.`,
    "Run esimctl init first, name the directory with --data, or sign in to a server: esimctl login.",
  );
}

/** Opens the store at `place` and makes it first where nothing is. A database without its key stays an error. */
export async function openOrCreate(place: Place, sources: Sources): Promise<{ store: Store; created: boolean }> {
  if (place.kind === "database") return openDatabase(place, sources);
  const created = !isInitialised(place.path);
  refuseMoved(place.path);
  const { databaseFile: file } = prepareDataDirectory(place.path, sources.ids, place.given.length > 0);
  const { verify = false } = sources;
  return { store: await openWith(keysOf(place), { file, create: true, verify }, sources), created };
}

/** Opens a store with its master key, and finishes a rotation of the key file that was cut off. */
async function openWith(keys: KeySources, location: Location, sources: Sources): Promise<Store> {
  const masterKeys = () => masterKeysAt(keys);
  const { connections = COMMAND_CONNECTIONS } = sources;
  const masterKey = findMasterKey(keys).key;
  const dependencies = { ...sources, connections, masterKey, masterKeys };
  const store = await openAs(location, keys, dependencies);
  if (keys.file !== null) {
    await settleKeyFile(keys.file, (key) => opensKeys(location, key, sources), isoTime(sources.clock.now()));
  }
  return store;
}

async function openAs(
  location: Location,
  keys: KeySources,
  { startWriter, ...dependencies }: StoreDependencies & Pick<Sources, "startWriter">,
): Promise<Store> {
  if (startWriter === undefined || !("file" in location)) return openStore(location, dependencies);
  const { file, create, verify = false } = location;
  const writer = await startWriter({ file, create, verify, keys, masterKey: dependencies.masterKey });
  try {
    return await openBeside(file, writer.connect, dependencies);
  } catch (error) {
    await writer.close();
    throw error;
  }
}

/** Whether a master key is the database's. */
async function opensKeys(location: Location, key: Buffer, { clock }: Sources): Promise<boolean> {
  const reading = await openForReading(location, { clock });
  try {
    return await reading.openKeys(key).then(
      () => true,
      () => false,
    );
  } finally {
    await reading.close();
  }
}

/** Where the database of a place is. */
function addressOf({ url, insecure }: DatabasePlace, { replica }: Pick<Sources, "replica"> = {}) {
  return { url, insecure, replica };
}

async function openDatabase(place: DatabasePlace, sources: Sources) {
  const { keyFile } = place;
  if (keyFile === null || place.given.length > 0) return openGiven(place, sources);
  const created = !existsSync(keyFile);
  if (created) createKeyFile(keyFile, sources.ids);
  try {
    return { store: await openWith(keysOf(place), addressOf(place, sources), sources), created };
  } catch (error) {
    // The database has data under another key, or is out of reach: a new key would only be in the way.
    if (created) rmSync(keyFile, { force: true });
    throw created && error instanceof StoreError && error.wrongKey ? missingKey(keyFile) : error;
  }
}

/** The same for a database whose key is kept outside. */
async function openGiven(place: DatabasePlace, sources: Sources) {
  const reading = await openForReading(addressOf(place), sources);
  // One without tables was never used.
  const created = await reading.read(hasNoDataKeys, null).catch(() => true);
  await reading.close();
  return { store: await openWith(keysOf(place), addressOf(place, sources), sources), created };
}
