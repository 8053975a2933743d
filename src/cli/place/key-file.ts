import { dataDirectory } from "../../core/platform/data-directory.ts";
import { type GivenKey, type KeySources, readKeyFile } from "../../core/store/sealing/key-files.ts";
import type { Globals } from "../kernel/globals.ts";
import { type Place, placeWords } from "./place.ts";

/** Where the master key of a place may be: its key file, and keys that are kept outside. */
export function keysOf(place: Place): KeySources {
  const file = place.kind === "directory" ? dataDirectory(place.path).keyFile : place.keyFile;
  return { file, given: place.given };
}

/** The key file of a place; null where the key is kept outside. */
export function keyFileOf(place: Place): string | null {
  return place.given.length > 0 ? null : keysOf(place).file;
}

/** What was made at a place that held nothing, and what to keep of it. */
export function madeWords(place: Place): string {
  const file = keyFileOf(place);
  const keep =
    file === null
      ? "Its key is kept outside: keep a copy of it, without it identity data cannot be read."
      : `Keep a copy of ${file} apart from the data: without it identity data cannot be read.`;
  return `Made ${placeWords(place)}. ${keep}`;
}

/** The key file that --key-file names beside a backup; null without one. Throws `StoreError`. */
export function givenKey({ keyFile }: Pick<Globals, "keyFile">): GivenKey | null {
  return keyFile === undefined ? null : { text: readKeyFile(keyFile), name: keyFile };
}
