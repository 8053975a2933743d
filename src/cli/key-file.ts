import { dataDirectory } from "../core/store/data-directory.ts";
import type { Place } from "./place.ts";

/** Where the key file of a place is. */
export function keyFileOf(place: Place): string {
  return place.kind === "directory" ? dataDirectory(place.path).keyFile : place.keyFile;
}
