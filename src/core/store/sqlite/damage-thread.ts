import { parentPort, workerData } from "node:worker_threads";
import Database from "better-sqlite3";

/** What is damaged, in SQLite's words; null: nothing. */
export type DamageFound = string | null;

const connection = new Database(String(workerData), { readonly: true, fileMustExist: true, timeout: 2_000 });
// Each page is read once.
connection.pragma("cache_size = -2000");

/** Table by table: between two of them the thread can be ended, and the WAL be moved into the file. */
function damage(): DamageFound {
  for (const name of connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all()) {
    const verdict = connection.pragma(`quick_check('${name}')`, { simple: true });
    if (verdict !== "ok") return String(verdict);
  }
  return null;
}

function found(): DamageFound {
  try {
    return damage();
  } catch (error) {
    // Anything else, such as a lock, is met by those who serve.
    const corrupt = error instanceof Database.SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code);
    return corrupt ? error.message : null;
  } finally {
    connection.close();
  }
}

parentPort?.postMessage(found());
