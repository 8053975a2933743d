import { createHmac, type Hmac, hkdfSync } from "node:crypto";
import Database from "better-sqlite3";
import { StoreError } from "../problems.ts";
import { asStoreError } from "../sqlite/faults.ts";
import { BACKUP_TABLE } from "../sqlite/reading.ts";

/** What a backup says of itself. */
export interface BackupNotes {
  /** ISO 8601. */
  made_at: string;
  /** The version of the program that made it. */
  version: string;
  /** The text of the key file; null: it was left out. */
  key_file: string | null;
  /** `contentMac` of the rest of the file; null: an older version made it. */
  checksum: string | null;
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
export function writeNotes(file: string, notes: Omit<BackupNotes, "checksum">): void {
  withFile(file, (backup) => {
    backup.exec(`CREATE TABLE ${BACKUP_TABLE} (name text PRIMARY KEY NOT NULL, value text)`);
    const insert = backup.prepare(`INSERT INTO ${BACKUP_TABLE} VALUES (?, ?)`);
    for (const [name, value] of Object.entries(notes)) insert.run(name, value);
  });
}

/** Adds the checksum of everything that a backup holds by now, keyed with its master key. */
export function writeChecksum(file: string, masterKey: Buffer): void {
  const checksum = contentMac(file, masterKey);
  withFile(file, (backup) => void backup.prepare(`INSERT INTO ${BACKUP_TABLE} VALUES ('checksum', ?)`).run(checksum));
}

/**
 * HMAC-SHA256 (hex) of a backup's whole content but the checksum itself: its schema, and every value of every row with
 * its type, in the order of the row IDs, or of the primary key of a table without them. Its key is derived from the
 * master key.
 */
export function contentMac(file: string, masterKey: Buffer): string {
  const mac = createHmac("sha256", Buffer.from(hkdfSync("sha256", masterKey, "", "esimctl backup checksum v1", 32)));
  const backup = new Database(file, { readonly: true, fileMustExist: true });
  try {
    backup.defaultSafeIntegers(true);
    const objects = "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name";
    for (const row of backup.prepare(objects).raw().iterate()) addRow(mac, row);
    const tables = backup.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").pluck().all();
    for (const table of tables) {
      addRow(mac, [table]);
      const own = table === BACKUP_TABLE ? "WHERE name <> 'checksum'" : "";
      const order = orderOf(backup, String(table));
      for (const row of backup.prepare(`SELECT * FROM "${table}" ${own} ORDER BY ${order}`).raw().iterate()) {
        addRow(mac, row);
      }
    }
    return mac.digest("hex");
  } finally {
    backup.close();
  }
}

function orderOf(backup: Database.Database, table: string): string {
  const without = backup.prepare("SELECT wr FROM pragma_table_list WHERE name = ?").pluck().get(table);
  if (without !== 1n) return "rowid";
  const key = backup.prepare("SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk").pluck().all(table);
  return key.map((column) => `"${column}"`).join(", ");
}

/** Adds the values of a row, each with its type and length, so that no two rows look alike. */
function addRow(mac: Hmac, row: unknown): void {
  const values: unknown[] = Array.isArray(row) ? row : [row];
  mac.update(`row ${values.length}\n`);
  for (const value of values) {
    const bytes = Buffer.isBuffer(value) ? value : Buffer.from(String(value));
    const type = value === null ? "null" : Buffer.isBuffer(value) ? "blob" : typeof value;
    mac.update(`${type} ${bytes.length}\n`).update(bytes);
  }
}

/** What a backup, called `name`, says of itself. Throws `StoreError` when it cannot be read or is no backup. */
export function readNotes(file: string, name = file): BackupNotes {
  const hint = "Name a file that esimctl backup made.";
  try {
    const backup = new Database(file, { readonly: true, fileMustExist: true });
    try {
      const held = backup.prepare("SELECT 1 FROM sqlite_master WHERE name = ?").get(BACKUP_TABLE);
      if (held === undefined) throw new StoreError(`${name} is not an esimctl backup.`, hint);
      const value = backup.prepare(`SELECT value FROM ${BACKUP_TABLE} WHERE name = ?`).pluck();
      const noted = (name: string) => {
        const found = value.get(name);
        return typeof found === "string" ? found : null;
      };
      return {
        made_at: noted("made_at") ?? "",
        version: noted("version") ?? "",
        key_file: noted("key_file"),
        checksum: noted("checksum"),
      };
    } finally {
      backup.close();
    }
  } catch (error) {
    const words = asStoreError(error, name);
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
