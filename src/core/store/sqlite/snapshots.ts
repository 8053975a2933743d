import Database from "better-sqlite3";
import type { Connection } from "../engine.ts";
import { connectionOver } from "./dialect.ts";
import { faultOf } from "./faults.ts";
import { withStablePlans } from "./stable-plans.ts";

/** The reads of a SQLite database, on connections beside its writer: they see what is committed, which is durable. */
export interface Snapshots {
  /** Runs a query on a snapshot. */
  run<T>(query: (connection: Connection) => Promise<T>): Promise<T>;
  /** The same on a connection of its own: other reads go on while the query waits for turns of the event loop. */
  apart<T>(query: (connection: Connection) => Promise<T>): Promise<T>;
  /** Runs a query of one statement: it needs no snapshot of its own. */
  readOne<T>(query: (connection: Connection) => Promise<T>): Promise<T>;
  /** The epoch that `run` would read. */
  epoch(): Promise<number>;
  /** Throws unless the file can be read. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the connections. */
export function snapshotsOf(file: string): Snapshots {
  const reader = openReader(file);
  const fresh = freshEpoch(file);
  let turn: Promise<unknown> = Promise.resolve();

  // One at a time on the connection: a query awaits nothing but microtasks, so this costs no throughput.
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = turn.then(work);
    turn = result.catch(() => undefined);
    return result;
  }

  return {
    run: (query) => faulting(file, () => inTurn(() => reader.snapshot(query))),
    apart: (query) => faulting(file, () => apart(file, query)),
    readOne: (query) => faulting(file, () => inTurn(() => query(reader.given))),
    epoch: () => faulting(file, async () => fresh.epoch()),
    ping: () => faulting(file, async () => fresh.ping()),
    async close() {
      await turn;
      fresh.close();
      reader.close();
    },
  };
}

async function apart<T>(file: string, query: (connection: Connection) => Promise<T>): Promise<T> {
  const reader = openReader(file);
  try {
    return await reader.snapshot(query);
  } finally {
    reader.close();
  }
}

/** Opens a connection that never writes. */
function connectReadOnly(file: string): Database.Database {
  return new Database(file, { readonly: true, fileMustExist: true, timeout: 2_000 });
}

/** A connection for queries, one at a time. */
function openReader(file: string) {
  const connection = connectReadOnly(file);
  connection.pragma("cache_size = -4000");
  const begin = connection.prepare("BEGIN");
  const commit = connection.prepare("COMMIT");
  const given = connectionOver(withStablePlans(connection));
  return {
    given,
    async snapshot<T>(query: (connection: Connection) => Promise<T>): Promise<T> {
      try {
        begin.run();
        return await query(given);
      } finally {
        if (connection.inTransaction) commit.run();
      }
    },
    close: () => void connection.close(),
  };
}

/** The epoch of what is committed. It is read only when any process committed, on a connection kept for it. */
function freshEpoch(file: string): { epoch(): number; ping(): void; close(): void } {
  const probe = connectReadOnly(file);
  // One row of one table.
  probe.pragma("cache_size = 10");
  const version = probe.prepare("PRAGMA data_version").pluck();
  const epoch = probe.prepare("SELECT value FROM settings WHERE key = 'epoch'").pluck();
  let last = { epoch: 0, version: -1 };
  return {
    epoch() {
      const now = Number(version.get());
      if (now !== last.version) last = { epoch: Number(epoch.get() ?? 0), version: now };
      return last.epoch;
    },
    ping: () => void epoch.get(),
    close: () => void probe.close(),
  };
}

/** Runs `work`, with its errors as `StoreUnavailable` where they are one. */
async function faulting<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw faultOf(error, file);
  }
}
