import Database from "better-sqlite3";
import { StoreError } from "../problems.ts";
import { asStoreError } from "./sqlite-faults.ts";

/** The table in a backup's file that makes it one. */
export const BACKUP_TABLE = "esimctl_backup";

/** What a backup says of itself. */
export interface BackupNotes {
  /** ISO 8601. */
  made_at: string;
  /** Of the program that made it. */
  version: string;
  /** The text of the key file; null: it was left out. */
  key_file: string | null;
}

const ALL_PAGES = 0x7fff_ffff;

/**
 * Copies a database, in use or not, as it is at one moment. `into` may exist if it is empty. The copy needs no file
 * beside it. Throws `StoreError`.
 */
export async function copyDatabase(file: string, into: string): Promise<void> {
  try {
    const source = new Database(file, { readonly: true, fileMustExist: true, timeout: 10_000 });
    try {
      // In one step: between steps another process may write, and then the copying starts again from the beginning.
      await source.backup(into, { progress: () => ALL_PAGES });
    } finally {
      source.close();
    }
    withFile(into, (copy) => copy.pragma("journal_mode = DELETE"));
  } catch (error) {
    throw asStoreError(error, into);
  }
}

/** Makes a database file a backup. */
export function writeNotes(file: string, notes: BackupNotes): void {
  withFile(file, (backup) => {
    backup.exec(`CREATE TABLE ${BACKUP_TABLE} (name text PRIMARY KEY NOT NULL, value text)`);
    const insert = backup.prepare(`INSERT INTO ${BACKUP_TABLE} VALUES (?, ?)`);
    for (const [name, value] of Object.entries(notes)) insert.run(name, value);
  });
}

/** What a backup says of itself. Throws `StoreError` when the file cannot be read or is no backup. */
export function readNotes(file: string): BackupNotes {
  const hint = "Name a file that esimctl backup made.";
  try {
    const backup = new Database(file, { readonly: true, fileMustExist: true });
    try {
      const held = backup.prepare("SELECT 1 FROM sqlite_master WHERE name = ?").get(BACKUP_TABLE);
      if (held === undefined) throw new StoreError(`${file} is not an esimctl backup.`, hint);
      const value = backup.prepare(`SELECT value FROM ${BACKUP_TABLE} WHERE name = ?`).pluck();
      const noted = (name: string) => {
        const found = value.get(name);
        return typeof found === "string" ? found : null;
      };
      return { made_at: noted("made_at") ?? "", version: noted("version") ?? "", key_file: noted("key_file") };
    } finally {
      backup.close();
    }
  } catch (error) {
    const words = asStoreError(error, file);
    throw words instanceof StoreError ? new StoreError(words.message, hint, error) : words;
  }
}

/** Makes a backup's copy a mere database again; what it said of itself is wiped from its pages. */
export function removeNotes(file: string): void {
  withFile(file, (copy) => {
    copy.pragma("secure_delete = ON");
    copy.exec(`DROP TABLE ${BACKUP_TABLE}`);
  });
}

function withFile(file: string, work: (connection: Database.Database) => void): void {
  const connection = new Database(file, { fileMustExist: true });
  try {
    work(connection);
  } finally {
    connection.close();
  }
}
