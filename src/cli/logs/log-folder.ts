import { join } from "node:path";
import envPaths from "env-paths";
import { dataDirectory } from "../../core/platform/data-directory.ts";
import type { Place } from "../place/place.ts";

/**
 * Where the daemon of a place keeps its log: beside the data; for a database, which has no place for it, in the folder
 * that the system has for the user's logs, under the name of the database.
 */
export function logFolder(place: Place): string {
  if (place.kind === "directory") return dataDirectory(place.path).logs;
  const url = URL.parse(place.url);
  const name = `${url?.host ?? ""}${url?.pathname ?? ""}`.replaceAll(/[^\w.-]+/g, "-");
  return join(envPaths("esimctl", { suffix: "" }).log, name === "" ? "database" : name);
}
