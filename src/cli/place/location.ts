import type { Installation } from "../../core/maintenance/doctor.ts";
import type { Place } from "./place.ts";

/** Where the database and the key of a place are, for reading without opening it. Throws `not_initialised`. */
export async function locationAt(place: Place): Promise<Omit<Installation, "clock">> {
  if (place.kind === "database") {
    const { url, insecure, keyFile } = place;
    return { where: { url, insecure }, keyFile, directory: null };
  }
  const [{ dataDirectory }, { requireInitialised }] = await Promise.all([
    import("../../core/store/data-directory.ts"),
    import("./local-store.ts"),
  ]);
  requireInitialised(place);
  const { databaseFile, keyFile } = dataDirectory(place.path);
  return { where: { file: databaseFile }, keyFile, directory: place.path };
}
