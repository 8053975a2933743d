import { usageError } from "./errors.ts";
import type { Globals } from "./globals.ts";

/** Where a command acts: on the data in a directory, or on a PostgreSQL with its key file. */
export type Place = { kind: "directory"; path: string } | { kind: "database"; url: string; keyFile: string };

const DEFAULT_DIRECTORY = "./esimctl-data";

/** The place that options name, else the environment, else ./esimctl-data. Throws a usage error for two at once. */
export function resolvePlace(globals: Globals, env: NodeJS.ProcessEnv): Place {
  const named = { data: globals.data, database: globals.database };
  const inherited = { data: env.ESIMCTL_DATA || undefined, database: env.ESIMCTL_DATABASE || undefined };
  const chosen = named.data === undefined && named.database === undefined ? inherited : named;
  if (chosen.data !== undefined && chosen.database !== undefined) {
    const names = chosen === named ? "--data and --database" : "ESIMCTL_DATA and ESIMCTL_DATABASE";
    throw usageError(`${names} name two places at once.`, "Give one of them.");
  }
  if (chosen.database === undefined) return { kind: "directory", path: chosen.data ?? DEFAULT_DIRECTORY };
  const keyFile = globals.keyFile ?? env.ESIMCTL_KEY_FILE;
  if (keyFile === undefined || keyFile === "") {
    throw usageError("A database needs its key file beside it.", "Add --key-file FILE (or ESIMCTL_KEY_FILE).");
  }
  return { kind: "database", url: chosen.database, keyFile };
}

/** The place in words, for confirmations and messages; a database address without its password. */
export function placeWords(place: Place): string {
  if (place.kind === "directory") return place.path;
  const url = URL.parse(place.url);
  return url === null ? "the database" : `${url.protocol}//${url.host}${url.pathname}`;
}
