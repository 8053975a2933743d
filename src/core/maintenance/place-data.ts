import { existsSync } from "node:fs";
import { chmod, mkdir, rename } from "node:fs/promises";
import { basename, join } from "node:path";
import { dataDirectory } from "../platform/data-directory.ts";
import { flush } from "./backup.ts";

/**
 * Moves the data of a directory away, the key first: whatever cuts this off, no daemon starts on half of it. Answers
 * the directory that it is in; `now` (ISO 8601) names it.
 */
export async function putAside(directory: string, now: string): Promise<string> {
  const aside = join(directory, `replaced-${now.replaceAll(/[-:]|\.\d+/g, "")}`);
  await mkdir(aside, { mode: 0o700 });
  const { databaseFile, keyFile } = dataDirectory(directory);
  for (const path of [keyFile, `${databaseFile}-wal`, `${databaseFile}-shm`, databaseFile]) {
    if (existsSync(path)) await rename(path, join(aside, basename(path)));
  }
  return aside;
}

/**
 * Puts the data of `staging` into a directory that holds none. The database first: without its key nothing opens it,
 * and no daemon makes a new one.
 */
export async function placeData(staging: string, directory: string): Promise<void> {
  const [from, to] = [dataDirectory(staging), dataDirectory(directory)];
  await rename(from.databaseFile, to.databaseFile);
  if (existsSync(from.keyFile)) await rename(from.keyFile, to.keyFile);
  await chmod(directory, 0o700);
  await flush(directory);
}
