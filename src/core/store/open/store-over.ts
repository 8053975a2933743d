import { eq, sql } from "drizzle-orm";
import type { Clock } from "../../kernel/clock.ts";
import type { Ids } from "../../kernel/ids.ts";
import type { Connection, Engine, ReadingEngine, SharedDatabase, TxMaker } from "../engine.ts";
import { createVault, withAllKeys } from "../sealing/create-vault.ts";
import { type Keyring, keyring } from "../sealing/data-keys.ts";
import { statement } from "../statement.ts";
import type { Nodes, Read, Store, Topic } from "../store.ts";
import { UnknownKeyError, type UnreadableError, type Vault } from "../vault.ts";
import { oncePerTurn } from "./once-per-turn.ts";
import { listReads } from "./replica-reads.ts";

/** What any store takes from outside. */
export interface StoreBase {
  clock: Clock;
  ids: Ids;
  /** The 256-bit master key: wraps the data keys. */
  masterKey: Buffer;
  /** Keys to try where that one is not the database's any more: it may have been rotated since it was read. */
  masterKeys?: (() => Buffer[]) | undefined;
}

/** The writes of a store: this thread's own, or another one's. */
export interface Writes extends Pick<Store, "write" | "rehearse" | "erase"> {
  /** What `Store.close` promises of writes. */
  close(): Promise<void>;
}

/** What writes take from their store. */
export interface WritesBase {
  makeTx: TxMaker;
  keys: Keyring;
  /** Called after each commit, for each topic that it signaled. */
  committed(topic: Topic): void;
  /** Called with each sealed value that a list shows as unreadable. */
  report(error: UnreadableError): void;
}

/** A store before its keys are loaded. */
export interface Opening {
  store: Store;
  /** Takes over the data keys as they are in the database now. */
  reloadKeys(): Promise<void>;
  holds(ask: (q: Read) => Promise<boolean>): Promise<boolean>;
}

/** The store over an engine's reads and the writes that `connect` makes. */
export function storeOver(
  engine: ReadingEngine,
  connect: (base: WritesBase) => Writes,
  { clock, ids, masterKey, masterKeys }: StoreBase,
): Opening {
  const unreadable = reportOnce();
  const vault = createVault(masterKey, unreadable.report);
  // In a transaction, and in a read that reloaded the keys: a key that is unknown there is gone for good.
  const complete = withAllKeys(vault, unreadable.report);
  const signals = signaling(engine.nodes);
  const read = (connection: Connection, held = vault): Read => ({ ...connection, now: clock.now(), vault: held });
  const keys = keyring(vault, masterKey, masterKeys);
  const makeTx: TxMaker = (connection, signal, requestId) => {
    const touch = () => bumpEpoch({ ...read(connection) });
    return { ...read(connection, complete), ids, requestId, signal, touch };
  };
  const writes = connect({ makeTx, keys, committed: signals.committed, report: unreadable.report });
  const reloadKeys = () => engine.snapshot((connection) => keys.refresh(read(connection)));

  const epoch = oncePerTurn(async () => {
    const now = await engine.epoch();
    if (now > keys.epoch()) await reloadKeys();
    return now;
  });

  const write: Store["write"] = (command, input, requestId, owner) =>
    // Who was answered sees what it wrote.
    writes.write(command, input, requestId, owner).finally(forget);
  const reading = { over: read, refresh: keys.refresh, complete };
  const toRead = snapshotReads(engine.snapshot, reading);
  const lists = listReads(engine, { read: toRead, write, over: read });
  function forget(): void {
    epoch.forget();
    lists.forget();
  }

  let closing: Promise<void> | null = null;
  const store: Store = {
    vault,
    read: toRead,
    readLong: snapshotReads(engine.apart, reading),
    list: lists.list,
    replica: lists.replica,
    readOne: (query, input) => engine.readOne((connection) => query(read(connection), input)),
    write,
    rehearse: writes.rehearse,
    epoch: epoch.ask,
    onSignal: signals.onSignal,
    onUnreadable: unreadable.listen,
    erase: writes.erase,
    ping: () => engine.ping(),
    signal: signals.wake,
    nodes: engine.nodes && nodesOf(engine.nodes, signals.wake),
    close() {
      closing ??= writes.close().then(() => engine.close());
      return closing;
    },
  };
  return { store, reloadKeys, holds: (ask) => engine.snapshot((connection) => ask(read(connection))) };
}

interface Reading {
  over(connection: Connection, held?: Vault): Read;
  /** Reads the data keys of a snapshot into its vault. */
  refresh(q: Read): Promise<void>;
  complete: Vault;
}

/** Reads on a snapshot; once more where a data key is unknown. */
function snapshotReads(snapshot: Engine["snapshot"], { over, refresh, complete }: Reading): Store["read"] {
  return async (query, input) => {
    try {
      return await snapshot((connection) => query(over(connection), input));
    } catch (error) {
      if (!(error instanceof UnknownKeyError)) throw error;
    }
    // The data key was rotated since, here or by another process: once more, with the keys of that very snapshot.
    return snapshot(async (connection) => {
      const again = over(connection, complete);
      await refresh(again);
      return query(again, input);
    });
  };
}

/** The nodes as their store shows them: what others commit is signaled as its own commits are. */
function nodesOf({ draw, listen }: Nodes, signal: (topic: Topic) => void): Nodes {
  return {
    draw,
    listen: (woken) =>
      listen((topic) => {
        signal(topic);
        woken(topic);
      }),
  };
}

/** Who waits for which topic in this process; others are notified of what it commits. */
function signaling(nodes: SharedDatabase | null) {
  const listeners = new Map<Topic, Set<() => void>>();
  const wake = (topic: Topic) => {
    for (const listener of listeners.get(topic) ?? []) listener();
  };
  return {
    wake,
    committed(topic: Topic) {
      wake(topic);
      nodes?.notify(topic);
    },
    onSignal(topic: Topic, wake: () => void) {
      const own = listeners.get(topic) ?? new Set();
      listeners.set(topic, own.add(wake));
      return () => own.delete(wake);
    },
  };
}

/** Most cells that one process reports; doctor lists all. */
const MOST_REPORTED = 1000;

/** Passes each unreadable cell on to its listener once. */
function reportOnce() {
  const reported = new Set<string>();
  let listener: ((error: UnreadableError) => void) | null = null;
  return {
    report(error: UnreadableError): void {
      const name = `${error.cell.column} ${error.cell.row}`;
      if (listener === null || reported.has(name) || reported.size >= MOST_REPORTED) return;
      reported.add(name);
      listener(error);
    },
    listen(given: (error: UnreadableError) => void): void {
      listener = given;
    },
  };
}

const raiseEpoch = statement((db, t, _slot) =>
  db
    .update(t.settings)
    .set({ value: sql`cast(cast(${t.settings.value} as bigint) + 1 as text)` })
    .where(eq(t.settings.key, "epoch"))
    .returning({ key: t.settings.key }),
);

async function bumpEpoch(tx: Read): Promise<void> {
  const raised = await raiseEpoch(tx, {});
  if (raised.length === 0) throw new Error("the epoch is missing from settings");
}
