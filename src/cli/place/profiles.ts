import { chmodSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import envPaths from "env-paths";
import { makeDirectory } from "../../core/platform/make-directory.ts";
import { CliError, usageError } from "../kernel/errors.ts";

/** A login: a server and its credential. Kept in the user's config folder, readable by the user alone. */
export interface Profile {
  name: string;
  server: string;
  client_id: string;
  client_secret: string;
  /** Milliseconds since 1970. */
  logged_in_at: number;
}

/** An access token of a profile, kept so that a loop in a shell does not request one each time. */
export interface KeptToken {
  access_token: string;
  /** Milliseconds since 1970. */
  expires_at: number;
}

/** The profile that `login` makes unless a name is given. */
export const DEFAULT_PROFILE = "default";

/** The name, if it is a safe file name. Throws a usage error. */
export function profileName(typed: string): string {
  if (/^[a-z0-9][a-z0-9_-]{0,63}$/i.test(typed)) return typed;
  throw usageError(`"${typed}" cannot name a profile.`, "Use letters, digits, - and _, at most 64.");
}

/** The names of all profiles, in alphabetical order. */
export function profileNames(): string[] {
  try {
    const files = readdirSync(folder());
    return files.flatMap((file) => /^([\w-]+)\.json$/.exec(file)?.[1] ?? []).sort();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** The profile, or null when there is no login under this name. Throws `profile_broken`. */
export function readProfile(typed: string): Profile | null {
  const name = profileName(typed);
  const text = readIfThere(profileFile(name));
  if (text === null) return null;
  const { server, client_id, client_secret, logged_in_at } = parsed(text);
  if (![server, client_id, client_secret].every((one) => typeof one === "string") || !Number.isFinite(logged_in_at)) {
    throw new CliError("profile_broken", `The profile ${name} cannot be read.`, loginHint(name));
  }
  return { name, server, client_id, client_secret, logged_in_at };
}

/** The same for one that must be there. Throws `no_such_profile`. */
export function requireProfile(name: string): Profile {
  const profile = readProfile(name);
  if (profile !== null) return profile;
  const known = profileNames();
  const others = known.length > 0 ? `There are: ${known.join(", ")}.` : "There are none yet.";
  throw new CliError("no_such_profile", `There is no login as profile ${name}. ${others}`, loginHint(name));
}

/** The profile that was logged in last, of those that still are; null when none is. */
export function lastProfile(): Profile | null {
  const all = profileNames().flatMap((name) => readProfile(name) ?? []);
  return all.reduce<Profile | null>((last, one) => (last && last.logged_in_at >= one.logged_in_at ? last : one), null);
}

/** Keeps the profile; a token kept under its name belongs to another login and is removed. */
export function keepProfile(profile: Profile): void {
  const { name, ...rest } = profile;
  rmSync(tokenFile(name), { force: true });
  writePrivately(profileFile(profileName(name)), rest);
}

/** Forgets the profile and its token. */
export function forgetProfile(name: string): void {
  rmSync(tokenFile(name), { force: true });
  rmSync(profileFile(name), { force: true });
}

/** The token kept for a profile, or null. A file that cannot be read counts as none: a new token is requested. */
export function readToken(profile: string): KeptToken | null {
  const { access_token, expires_at } = parsed(readIfThere(tokenFile(profile)) ?? "");
  return typeof access_token === "string" && typeof expires_at === "number" ? { access_token, expires_at } : null;
}

/** Keeps a token beside its profile. */
export function keepToken(profile: string, token: KeptToken): void {
  writePrivately(tokenFile(profile), token);
}

function folder(): string {
  return join(envPaths("esimctl", { suffix: "" }).config, "profiles");
}

function profileFile(name: string): string {
  return join(folder(), `${name}.json`);
}

/** No profile can have a dot in its name: the two kinds of files never meet. */
function tokenFile(name: string): string {
  return join(folder(), `${name}.token.json`);
}

/** Atomic: another process may be reading. */
function writePrivately(path: string, content: object): void {
  makeDirectory(folder());
  const fresh = `${path}.${process.pid}.new`;
  writeFileSync(fresh, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  // A file left by a crash may have other permissions.
  chmodSync(fresh, 0o600);
  renameSync(fresh, path);
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** The members of a JSON object; an empty list for anything else. */
function parsed(text: string) {
  try {
    return Object(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

function loginHint(name: string): string {
  return `Log in: esimctl login${name === DEFAULT_PROFILE ? "" : ` --profile ${name}`}`;
}
