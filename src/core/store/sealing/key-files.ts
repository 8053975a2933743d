import { closeSync, existsSync, fsyncSync, openSync, readSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { platform } from "node:os";
import { dirname } from "node:path";
import type { Ids } from "../../kernel/ids.ts";
import { StoreError } from "../problems.ts";

/** The text of a master key, and what messages call the place that it comes from. */
export interface GivenKey {
  text: string;
  name: string;
}

/** Where the master key of an installation may be. All that is there must be one key. */
export interface KeySources {
  /** The key file, whether it is there or not; null: none is named. */
  file: string | null;
  /** Keys that are kept outside: in the environment, or as a credential of the service manager. */
  given: readonly GivenKey[];
}

/** The master key in use. */
export interface MasterKey extends GivenKey {
  key: Buffer;
  /** It is kept outside, where this program cannot replace it. */
  outside: boolean;
}

const KEY_LINE = /^esimctl-key-v1:([A-Za-z0-9_-]{43})$/;

/** Writes a fresh master key; fails when the file is there already. */
export function createKeyFile(file: string, ids: Ids): void {
  const line = `esimctl-key-v1:${ids.bytes(32).toString("base64url")}`;
  writeFileSync(file, `${line}\n`, { mode: 0o600, flag: "wx", flush: true });
}

/** The 256-bit master key in `file`. Throws `StoreError` when it is missing or not a key file. */
export function readMasterKey(file: string): Buffer {
  return parseMasterKey(readKeyFile(file), file);
}

/** The text of a key file. Throws `StoreError` when it is missing or cannot be read. */
export function readKeyFile(file: string): string {
  try {
    return firstBytes(file);
  } catch (error) {
    if (codeOf(error) === "ENOENT") throw missingKey(file);
    throw new StoreError(`Cannot read the key file ${file}: ${reason(error)}.`, "Check its owner and rights.", error);
  }
}

/** Longer than any key file: a device or a pipe without end is not read on. */
const MOST_BYTES = 1024;

function firstBytes(file: string): string {
  const descriptor = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(MOST_BYTES);
    let held = 0;
    for (let read = -1; read !== 0 && held < MOST_BYTES; held += read) {
      read = readSync(descriptor, bytes, held, MOST_BYTES - held, null);
    }
    return bytes.toString("utf8", 0, held);
  } finally {
    closeSync(descriptor);
  }
}

/** The master key in the text of a key file; messages call it `file`, never by its text. Throws `StoreError`. */
export function parseMasterKey(text: string, file: string): Buffer {
  const match = KEY_LINE.exec(text.trim());
  if (match?.[1] === undefined) {
    throw new StoreError(
      `${file} is not an esimctl key.`,
      "Put back the key that was made with the database: one line, esimctl-key-v1:…",
    );
  }
  return Buffer.from(match[1], "base64url");
}

/** What to throw where data is without its key file. */
export function missingKey(file: string): StoreError {
  return new StoreError(
    `The key file ${file} is missing.`,
    "Put it back from your backup, or give it in ESIMCTL_KEY or as a credential: without it identity data is lost.",
  );
}

/** The keys that are there: that of the file, if it is, and those from outside. Throws `StoreError` without any. */
export function presentKeys({ file, given }: KeySources): GivenKey[] {
  const inFile = file !== null && (given.length === 0 || existsSync(file));
  return [...(inFile ? [{ text: readKeyFile(file), name: file }] : []), ...given];
}

/** The master key of an installation. Throws `StoreError` when there is none, one is invalid, or two differ. */
export function findMasterKey(sources: KeySources): MasterKey {
  const found = presentKeys(sources).map((one) => ({ ...one, key: parseMasterKey(one.text, one.name) }));
  const used = found.at(-1);
  if (used === undefined) throw new Error("no place for the master key is named");
  const other = found.find(({ key }) => !key.equals(used.key));
  if (other !== undefined) {
    throw new StoreError(
      `${other.name} and ${used.name} hold different keys.`,
      "Leave one of them out: esimctl doctor says which one belongs to the database.",
    );
  }
  return { ...used, outside: sources.given.length > 0 };
}

/** The file of a key that is about to take the place of another. */
const nextOf = (file: string) => `${file}.next`;

/** Writes a fresh key beside the key file, durably. One that a rotation left behind before its commit is replaced. */
export function nextKeyFile(file: string, ids: Ids): Buffer {
  rmSync(nextOf(file), { force: true });
  createKeyFile(nextOf(file), ids);
  flushFolder(file);
  return readMasterKey(nextOf(file));
}

/** Keeps the text of a key file under the name of the moment (ISO 8601) that it ended. Returns its path. */
export function keepKeyFile(file: string, text: string, at: string): string {
  const kept = `${file}.until-${at.replaceAll(/[-:]|\.\d+/g, "")}`;
  if (!existsSync(kept)) writeFileSync(kept, text, { mode: 0o600, flag: "wx", flush: true });
  return kept;
}

/** Puts the next key in the place of the key file; does nothing where another process did. */
export function replaceKeyFile(file: string): void {
  if (!existsSync(nextOf(file))) return;
  renameSync(nextOf(file), file);
  flushFolder(file);
}

/** All keys to try: of the key file and of the one that may be about to take its place, as they are now, and others. */
export function masterKeysAt({ file, given }: KeySources): Buffer[] {
  const files = file === null ? [] : [file, nextOf(file)].filter((one) => existsSync(one));
  return [...files.map(readMasterKey), ...given.map(({ text, name }) => parseMasterKey(text, name))];
}

/** Puts the key file aside, where its key is no longer the database's. Returns its new path; null: there was none. */
export function putKeyFileAside(file: string | null, at: string): string | null {
  if (file === null || !existsSync(file)) return null;
  const kept = keepKeyFile(file, readKeyFile(file), at);
  rmSync(file);
  flushFolder(file);
  return kept;
}

/** Puts the next key in place where a rotation was cut off after its commit: `opens` says whether it is the one. */
export async function settleKeyFile(file: string, opens: (key: Buffer) => Promise<boolean>, at: string): Promise<void> {
  if (!existsSync(nextOf(file)) || !existsSync(file)) return;
  const old = readKeyFile(file);
  if (!(await opens(readMasterKey(nextOf(file))))) return;
  keepKeyFile(file, old, at);
  replaceKeyFile(file);
}

/** Waits until the names in a file's folder are on disk. */
function flushFolder(file: string): void {
  // Windows opens no directories.
  if (platform() === "win32") return;
  const folder = openSync(dirname(file), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** The code of a system error; undefined for any other. */
export function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

/** The code of a system error, or its words. */
export function reason(error: unknown): string {
  return String(codeOf(error) ?? error);
}
