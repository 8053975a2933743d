import type { GivenKey } from "../../core/store/sealing/key-files.ts";
import { CliError, usageError } from "../kernel/errors.ts";
import { exitCodes } from "../kernel/exit-codes.ts";
import type { Globals } from "../kernel/globals.ts";
import { givenKeys } from "./given-keys.ts";
import type { Profile } from "./profiles.ts";

interface Keyed {
  /** Master keys that are kept outside the data. */
  given: readonly GivenKey[];
}

/** A PostgreSQL database with its key. */
export interface DatabasePlace extends Keyed {
  kind: "database";
  url: string;
  /** Null: its key is kept outside. */
  keyFile: string | null;
  /** Whether it may be reached beyond this machine without TLS. */
  insecure: boolean;
}

/** Local data: a directory, or a PostgreSQL database. */
export type Place = ({ kind: "directory"; path: string } & Keyed) | DatabasePlace;

/** A server, and as much of its credential as is known. */
export interface Server {
  kind: "server";
  /** Its public address, without a slash at its end. */
  url: string;
  clientId: string | undefined;
  /** `-`: to be read from standard input, or asked for. */
  clientSecret: string | undefined;
  /** The profile it comes from; null when options or the environment name it. */
  profile: string | null;
}

/** Where a command acts. */
export type Where = Place | Server;

const DEFAULT_DIRECTORY = "./esimctl-data";

/**
 * The first that applies: --server, or --data/--database; ESIMCTL_SERVER; ESIMCTL_DATA/ESIMCTL_DATABASE; --profile or
 * ESIMCTL_PROFILE; the profile last logged in; ./esimctl-data. Throws a usage error for two places at once, and
 * `no_such_profile`.
 */
export async function resolveWhere(globals: Globals, env: NodeJS.ProcessEnv): Promise<Where> {
  const { server, profile, ...local } = namedPlaces(globals, env);
  if (server !== undefined) return server;
  refuseStrayCredential(globals);
  if (local.place !== undefined) return local.place;
  const { lastProfile, requireProfile } = await import("./profiles.ts");
  if (profile !== undefined) return serverOf(requireProfile(profile));
  const last = lastProfile();
  return last === null ? directoryAt(DEFAULT_DIRECTORY, env) : serverOf(last);
}

/** The same for commands that act on local data only (init, serve); servers and profiles are ignored. */
export function resolvePlace(globals: Globals, env: NodeJS.ProcessEnv): Place {
  if (globals.server !== undefined) {
    throw usageError(
      "--server names a server; this acts on local data.",
      "Name it with --data, or leave --server out.",
    );
  }
  return localPlace(globals, env) ?? directoryAt(DEFAULT_DIRECTORY, env);
}

function directoryAt(path: string, env: NodeJS.ProcessEnv): Place {
  return { kind: "directory", path, given: givenKeys(env) };
}

/** The error of an operator's command that is run against a server. */
export function operatorOnly(server: Server): CliError {
  return new CliError(
    "operator_only",
    `This works on the operator's own data, and here commands act at ${placeWords(server)}.`,
    "Run it on the operator's host, naming the data: --data DIR, or --database URL.",
    exitCodes.usage,
  );
}

/** The place that a profile names. */
function serverOf({ name, server, client_id, client_secret }: Profile): Server {
  return { kind: "server", url: server, clientId: client_id, clientSecret: client_secret, profile: name };
}

interface Named {
  server?: Server;
  place?: Place;
  profile?: string | undefined;
}

/** What options and environment say, before any file is looked at. Options come before the environment. */
function namedPlaces(globals: Globals, env: NodeJS.ProcessEnv): Named {
  const local = globals.data !== undefined || globals.database !== undefined;
  if (globals.server !== undefined && local) {
    throw usageError(
      `--server and ${globals.data === undefined ? "--database" : "--data"} name two places at once.`,
      "Give one of them.",
    );
  }
  const address = globals.server ?? (local ? undefined : env.ESIMCTL_SERVER || undefined);
  if (address !== undefined) return { server: namedServer(address, globals, env) };
  const place = localPlace(globals, env);
  return place === null ? { profile: globals.profile ?? (env.ESIMCTL_PROFILE || undefined) } : { place };
}

function namedServer(address: string, globals: Globals, env: NodeJS.ProcessEnv): Server {
  return {
    kind: "server",
    url: serverUrl(address),
    clientId: globals.clientId ?? (env.ESIMCTL_CLIENT_ID || undefined),
    clientSecret: globals.clientSecret ?? (env.ESIMCTL_CLIENT_SECRET || undefined),
    profile: null,
  };
}

/** A credential on the line that nothing would use is a typo: the place signs in by itself, or not at all. */
function refuseStrayCredential({ clientId, clientSecret }: Globals): void {
  if (clientId === undefined && clientSecret === undefined) return;
  const flag = clientId === undefined ? "--client-secret" : "--client-id";
  throw usageError(`${flag} goes with --server.`, "Add --server URL, or leave it out.");
}

/** A typed address in its shortest form, without the API's path. Throws a usage error. */
export function serverUrl(typed: string): string {
  const url = URL.parse(typed);
  const plain = url !== null && url.search === "" && url.hash === "" && url.username === "" && url.password === "";
  if (plain && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+(api(\/v1)?\/*)?$/, "");
  throw usageError(`"${typed}" is no address of a server.`, "It looks like https://esim.example.com.");
}

/** The directory or database that options name, else the environment; null when neither does. */
function localPlace(globals: Globals, env: NodeJS.ProcessEnv): Place | null {
  const named = { data: globals.data, database: globals.database };
  const inherited = { data: env.ESIMCTL_DATA || undefined, database: env.ESIMCTL_DATABASE || undefined };
  const chosen = named.data === undefined && named.database === undefined ? inherited : named;
  if (chosen.data !== undefined && chosen.database !== undefined) {
    const names = chosen === named ? "--data and --database" : "ESIMCTL_DATA and ESIMCTL_DATABASE";
    throw usageError(`${names} name two places at once.`, "Give one of them.");
  }
  if (chosen.data !== undefined) return directoryAt(chosen.data, env);
  if (chosen.database === undefined) return null;
  const keyFile = globals.keyFile ?? (env.ESIMCTL_KEY_FILE || null);
  const given = givenKeys(env);
  if (keyFile === null && given.length === 0) {
    throw usageError("A database needs its key file beside it.", "Add --key-file FILE (or ESIMCTL_KEY_FILE).");
  }
  const insecure = globals.insecure || env.ESIMCTL_INSECURE === "yes";
  return { kind: "database", url: chosen.database, keyFile, given, insecure };
}

/** As much of a place as names it. */
type WhereNamed = { kind: "directory"; path: string } | Pick<DatabasePlace, "kind" | "url"> | Server;

/** The options that name a place on a command line that is shown, with a space before; none for the usual one. */
export function placeOptions(place: Place): string {
  const quoted = (word: string) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
  if (place.kind === "database") {
    const key = place.keyFile === null ? "" : ` --key-file ${quoted(place.keyFile)}`;
    return ` --database ${quoted(placeWords(place))}${key}`;
  }
  return place.path === DEFAULT_DIRECTORY ? "" : ` --data ${quoted(place.path)}`;
}

/** The place in words, for confirmations and messages; a database address without its password. */
export function placeWords(where: WhereNamed): string {
  if (where.kind === "directory") return where.path;
  if (where.kind === "server") return where.profile === null ? where.url : `${where.url}, profile ${where.profile}`;
  const url = URL.parse(where.url);
  return url === null ? "the database" : `${url.protocol}//${url.host}${url.pathname}`;
}
