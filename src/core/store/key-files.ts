import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { platform } from "node:os";
import { dirname } from "node:path";
import type { Ids } from "../kernel/ids.ts";
import { StoreError } from "./problems.ts";

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
    return readFileSync(file, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") throw missingKey(file);
    throw new StoreError(`Cannot read the key file ${file}: ${reason(error)}.`, "Check its owner and rights.", error);
  }
}

/** The master key in the text of a key file; `file` is what messages call it. Throws `StoreError` when it is none. */
export function parseMasterKey(text: string, file: string): Buffer {
  const match = KEY_LINE.exec(text.trim());
  if (match?.[1] === undefined) {
    throw new StoreError(
      `${file} is not an esimctl key file.`,
      "Put back the key file that was made with the database.",
    );
  }
  return Buffer.from(match[1], "base64url");
}

/** What to throw where data is without its key file. */
export function missingKey(file: string): StoreError {
  return new StoreError(
    `The key file ${file} is missing.`,
    "Put it back from your backup: without it identity data is lost.",
  );
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

/** The keys of the key file and of the one that may be about to take its place, as they are on disk now. */
export function masterKeysAt(file: string): Buffer[] {
  return [file, nextOf(file)].filter((one) => existsSync(one)).map(readMasterKey);
}

/** Puts the next key in place where a rotation was cut off after its commit: `opens` says whether it is the one. */
export async function settleKeyFile(file: string, opens: (key: Buffer) => Promise<boolean>, at: string): Promise<void> {
  if (!existsSync(nextOf(file))) return;
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
