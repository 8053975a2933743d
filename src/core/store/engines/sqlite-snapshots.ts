import Database from "better-sqlite3";
import { drizzle } from "drizzle-orm/better-sqlite3";
import type { StoreError } from "../problems.ts";
import { sqliteTables } from "../schema/tables.ts";
import type { Db, Moment } from "../store.ts";
import type { Connection } from "./engine.ts";
import { faultOf } from "./sqlite-faults.ts";
import { withStablePlans } from "./stable-plans.ts";

/** Opens a connection that never writes. */
function connectReadOnly(file: string): Database.Database {
  return new Database(file, { readonly: true, fileMustExist: true, timeout: 2_000 });
}

/** A connection for snapshots, of which one may be kept open. */
interface Reader {
  given: Connection;
  /** The stored epoch, in the snapshot that is open. */
  epoch(): number;
  begin(): void;
  end(): void;
  close(): void;
}

function openReader(file: string): Reader {
  const connection = connectReadOnly(file);
  connection.pragma("cache_size = -4000");
  const begin = connection.prepare("BEGIN");
  const commit = connection.prepare("COMMIT");
  const epoch = connection.prepare("SELECT value FROM settings WHERE key = 'epoch'").pluck();
  return {
    // SQLite's types serve both engines.
    given: { db: drizzle(withStablePlans(connection)) as Db, t: sqliteTables, prepared: new Map() },
    epoch: () => Number(epoch.get() ?? 0),
    begin: () => void begin.run(),
    end() {
      if (connection.inTransaction) commit.run();
    },
    close: () => void connection.close(),
  };
}

/** The reads of a SQLite database. */
export interface Snapshots {
  /** Runs a query on a snapshot of what is committed and durable. */
  run<T>(query: (connection: Connection) => Promise<T>): Promise<T>;
  /** Runs a query of one statement on the state that `run` would read: it needs no snapshot of its own. */
  look<T>(query: (connection: Connection) => Promise<T>): Promise<T>;
  /** The moment that `run` would read. */
  moment(): Promise<Moment>;
  /** Throws unless the file can be read. */
  ping(): Promise<void>;
  /** Runs the writer's COMMIT; reads stay on the state before it until `advance`. */
  commit(step: () => void): Promise<void>;
  /** Takes the state as it is committed now, which the sync that begins now makes durable. */
  prepare(): void;
  /** That sync has ended: reads see the state. `more`: whether other commits wait for a sync of their own. */
  advance(more: () => boolean): Promise<void>;
  /** No state becomes durable any more. Reads go on until another process changes something. */
  fail(error: StoreError): void;
  /** `keep`: leaves a connection open, so that SQLite does not move the WAL into the file. */
  close(keep: boolean): Promise<void>;
}

/**
 * Reads on connections beside `writer`. While commits of the writer are not durable, a snapshot of the state before
 * them is kept open, and reads run on it. A read that begins after another process has committed waits until that
 * commit can be seen without them. Otherwise each read opens a snapshot of its own.
 */
export function snapshotsOf(writer: Database.Database): Snapshots {
  const file = writer.name;
  const states = keptStates(writer);
  const fresh = freshMoment(file);
  let moved = Promise.withResolvers<void>();
  let failure: StoreError | null = null;
  let turn: Promise<unknown> = Promise.resolve();

  // One at a time on the serving connection: a query awaits nothing but microtasks, so this costs no throughput.
  function inTurn<T>(work: () => T | Promise<T>): Promise<T> {
    const result = turn.then(work);
    turn = result.catch(() => undefined);
    return result;
  }

  async function current(): Promise<void> {
    while (states.isBehind()) {
      if (failure !== null) throw failure;
      await moved.promise;
    }
  }

  return {
    run: (query) =>
      faulting(file, async () => {
        await current();
        return inTurn(() => states.read(query));
      }),
    look: (query) =>
      faulting(file, async () => {
        await current();
        return inTurn(() => states.look(query));
      }),
    moment: () =>
      faulting(file, async () => {
        await current();
        const epoch = states.epoch();
        // A kept state is older than what is committed.
        return epoch === undefined ? fresh.moment() : { epoch, state: null };
      }),
    ping: () => faulting(file, async () => fresh.ping()),
    commit: (step) => inTurn(() => states.commit(step)),
    prepare: states.prepare,
    advance: (more) =>
      inTurn(() => {
        states.advance(more());
        moved.resolve();
        moved = Promise.withResolvers();
      }),
    fail(error) {
      failure = error;
      moved.resolve();
    },
    async close(keep) {
      await turn;
      fresh.close();
      states.close(keep);
    },
  };
}

/** A snapshot that is kept open. */
interface Kept {
  /** Of the writer's connection: another process has committed since if it differs. */
  version: unknown;
  epoch: number;
}

/** Two connections that take turns: one serves reads, the other one takes the state that is served next. */
function keptStates(writer: Database.Database) {
  let serving = openReader(writer.name);
  let spare = openReader(writer.name);
  // It changes when another process has committed, and not by own commits.
  const version = writer.prepare("PRAGMA data_version").pluck();
  let kept: Kept | null = null;
  let next: Kept | null = null;

  function release(): void {
    serving.end();
    kept = null;
  }

  return {
    isBehind: () => kept !== null && version.get() !== kept.version,
    epoch: () => kept?.epoch,
    async read<T>(query: (connection: Connection) => Promise<T>): Promise<T> {
      if (kept !== null) return query(serving.given);
      try {
        serving.begin();
        return await query(serving.given);
      } finally {
        serving.end();
      }
    },
    // In the kept snapshot, or by the statement itself.
    look: <T>(query: (connection: Connection) => Promise<T>): Promise<T> => query(serving.given),
    commit(step: () => void): void {
      const before = kept;
      kept ??= take(serving, version);
      try {
        step();
      } catch (error) {
        if (before === null) release();
        throw error;
      }
    },
    prepare(): void {
      spare.end();
      next = take(spare, version);
    },
    advance(more: boolean): void {
      serving.end();
      [serving, spare] = [spare, serving];
      kept = next;
      if (!more) release();
    },
    close(keep: boolean): void {
      spare.close();
      if (!keep) serving.close();
    },
  };
}

/** Opens a snapshot of what is committed by now. */
function take(reader: Reader, version: Database.Statement): Kept {
  // Before the snapshot: what is committed in between looks newer than it, never older.
  const before = version.get();
  reader.begin();
  try {
    // BEGIN alone reads nothing.
    return { version: before, epoch: reader.epoch() };
  } catch (error) {
    reader.end();
    throw error;
  }
}

/** The moment of what is committed. The epoch is read only when anything changed: on a connection kept for it. */
function freshMoment(file: string): { moment(): Moment; ping(): void; close(): void } {
  const probe = connectReadOnly(file);
  // One row of one table.
  probe.pragma("cache_size = 10");
  const version = probe.prepare("PRAGMA data_version").pluck();
  const epoch = probe.prepare("SELECT value FROM settings WHERE key = 'epoch'").pluck();
  let last: Moment = { epoch: 0, state: null };
  return {
    moment() {
      const state = Number(version.get());
      if (state !== last.state) last = { epoch: Number(epoch.get() ?? 0), state };
      return last;
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
