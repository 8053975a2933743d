import type { Installation } from "../../core/maintenance/doctor.ts";
import { keysOf } from "./key-file.ts";
import type { Place } from "./place.ts";

/** Where the database and the key of a place are, for reading without opening it. Throws `not_initialised`. */
export async function locationAt(place: Place): Promise<Omit<Installation, "clock">> {
  if (place.kind === "database") {
    const { url, insecure } = place;
    return { where: { url, insecure }, keys: keysOf(place), directory: null };
  }
  const [{ dataDirectory }, { requireInitialised }] = await Promise.all([
    import("../../core/platform/data-directory.ts"),
    import("./local-store.ts"),
  ]);
  requireInitialised(place);
  const { databaseFile } = dataDirectory(place.path);
  return { where: { file: databaseFile }, keys: keysOf(place), directory: place.path };
}
