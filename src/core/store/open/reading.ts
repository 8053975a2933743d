import type { Clock } from "../../kernel/clock.ts";
import type { Connection, Engine } from "../engine.ts";
import { createVault, withAllKeys } from "../sealing/create-vault.ts";
import { loadDataKeys } from "../sealing/data-keys.ts";
import type { Inspection } from "../shape.ts";
import { checkBeside, type DamageCheck } from "../sqlite/damage.ts";
import { inspectSqlite, isCurrentSqlite, readSqlite } from "../sqlite/reading.ts";
import type { Pulse, Query, Read } from "../store.ts";

/** A database that is there: a file of SQLite, or a PostgreSQL address. */
export type Existing = { file: string } | { url: string; insecure?: boolean };

/** A database as it is: queries only, and opening it makes, migrates and repairs nothing. */
export interface Reading {
  /** Runs a query on one consistent snapshot. Sealed fields open only after `openKeys`. */
  read<I, O>(query: Query<I, O>, input: I): Promise<O>;
  /** Unwraps the data keys. Throws `StoreError` when the master key is not the one of this database. */
  openKeys(masterKey: Buffer): Promise<void>;
  /** What the database says of itself. */
  ping(): Promise<Pulse>;
  close(): Promise<void>;
}

/** Opens a database for reading. Throws `StoreError` when there is none, or it is damaged or out of reach. */
export async function openForReading(where: Existing, { clock }: { clock: Clock }): Promise<Reading> {
  const engine = await readingEngine(where);
  // Without a master key: what is read here never wraps new keys.
  const vault = withAllKeys(createVault(Buffer.alloc(0)), () => undefined);
  const read = (connection: Connection): Read => ({ ...connection, now: clock.now(), vault });
  let opened: Buffer | null = null;
  const keysOf = async (q: Read, masterKey: Buffer) => vault.reload(await loadDataKeys(q, masterKey));
  return {
    read: (query, input) =>
      engine.snapshot(async (connection) => {
        const q = read(connection);
        // Each time: another process may rotate the data key between two reads.
        if (opened !== null) await keysOf(q, opened);
        return query(q, input);
      }),
    async openKeys(masterKey) {
      await engine.snapshot((connection) => keysOf(read(connection), masterKey));
      opened = masterKey;
    },
    ping: () => engine.ping(),
    close: () => engine.close(),
  };
}

/** Looks for damage and for a schema that differs from the program's own, changing nothing. Throws `StoreError`. */
export async function inspectDatabase(where: Existing): Promise<Inspection> {
  if ("file" in where) return inspectSqlite(where.file);
  const { inspectPostgres } = await import("../postgres/reading.ts");
  return inspectPostgres(where);
}

/** Reads a large database file for damage while it is used; the server of PostgreSQL looks after damage itself. */
export function watchForDamage(where: Existing): DamageCheck {
  if ("file" in where) return checkBeside(where.file);
  return { found: Promise.withResolvers<never>().promise, end: async () => undefined };
}

/** Whether a database file has every migration of this program. Throws `StoreError`, also when it has more of them. */
export function isCurrent({ file }: { file: string }): Promise<boolean> {
  return isCurrentSqlite(file);
}

async function readingEngine(where: Existing): Promise<Pick<Engine, "snapshot" | "ping" | "close">> {
  if ("file" in where) return readSqlite(where.file);
  const { readPostgres } = await import("../postgres/reading.ts");
  return readPostgres(where);
}
