import { existsSync, rmSync } from "node:fs";
import type { Clock } from "../../core/kernel/clock.ts";
import type { Ids } from "../../core/kernel/ids.ts";
import {
  createKeyFile,
  dataDirectory,
  isInitialised,
  missingKey,
  prepareDataDirectory,
  readMasterKey,
  refuseMoved,
} from "../../core/store/data-directory.ts";
import { openStore } from "../../core/store/engines/open.ts";
import { StoreError } from "../../core/store/problems.ts";
import type { Store } from "../../core/store/store.ts";
import { CliError } from "../kernel/errors.ts";
import { type DatabasePlace, type Place, placeWords } from "./place.ts";

/** What a store takes from outside, and how it is opened. */
export interface Sources {
  clock: Clock;
  ids: Ids;
  /** Read a database file whole for damage before it is used. */
  verify?: boolean;
}

/** Opens the store that is at `place`. Throws `not_initialised` when there is none, StoreError when it is unusable. */
export async function openExisting(place: Place, sources: Sources): Promise<Store> {
  if (place.kind === "database") {
    return openStore(addressOf(place), { ...sources, masterKey: readMasterKey(place.keyFile) });
  }
  requireInitialised(place);
  refuseMoved(place.path);
  const { databaseFile, keyFile } = dataDirectory(place.path);
  return openStore({ file: databaseFile, create: false }, { ...sources, masterKey: readMasterKey(keyFile) });
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
  const { databaseFile: file, keyFile } = prepareDataDirectory(place.path, sources.ids);
  const masterKey = readMasterKey(keyFile);
  const verify = sources.verify ?? false;
  return { store: await openStore({ file, create: true, verify }, { ...sources, masterKey }), created };
}

/** Where the database of a place is. */
function addressOf({ url, insecure }: DatabasePlace) {
  return { url, insecure };
}

async function openDatabase(place: DatabasePlace, sources: Sources) {
  const { keyFile } = place;
  const created = !existsSync(keyFile);
  if (created) createKeyFile(keyFile, sources.ids);
  try {
    return { store: await openStore(addressOf(place), { ...sources, masterKey: readMasterKey(keyFile) }), created };
  } catch (error) {
    // The database has data under another key, or is out of reach: a new key would only be in the way.
    if (created) rmSync(keyFile, { force: true });
    throw created && error instanceof StoreError && error.wrongKey ? missingKey(keyFile) : error;
  }
}
