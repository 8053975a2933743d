import type { GivenKey } from "../../core/maintenance/verify-backup.ts";
import { dataDirectory } from "../../core/store/data-directory.ts";
import { readKeyFile } from "../../core/store/key-files.ts";
import type { Globals } from "../kernel/globals.ts";
import type { Place } from "./place.ts";

/** Where the key file of a place is. */
export function keyFileOf(place: Place): string {
  return place.kind === "directory" ? dataDirectory(place.path).keyFile : place.keyFile;
}

/** The key file that --key-file names beside a backup; null without one. Throws `StoreError`. */
export function givenKey({ keyFile }: Pick<Globals, "keyFile">): GivenKey | null {
  return keyFile === undefined ? null : { text: readKeyFile(keyFile), name: keyFile };
}
