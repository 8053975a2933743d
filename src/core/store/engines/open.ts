import { eq, sql } from "drizzle-orm";
import type { Clock } from "../../kernel/clock.ts";
import type { Ids } from "../../kernel/ids.ts";
import { bindSealedValues } from "../bind-sealed.ts";
import {
  ensureBindingKey,
  ensureDataKeys,
  hasNoDataKeys,
  hasPlainCredentials,
  hasUnboundKeys,
  type Keyring,
  keyCredentials,
  keyring,
  withCurrentKeys,
} from "../data-keys.ts";
import { headsAreUnmarked, markHeads } from "../mark-heads.ts";
import { oncePerTurn } from "../once-per-turn.ts";
import { StoreError } from "../problems.ts";
import { peopleAreClear, sealPeople } from "../seal-people.ts";
import { statement } from "../statement.ts";
import type { Command, Nodes, Read, Store, Topic } from "../store.ts";
import { createVault, UnknownKeyError, type UnreadableError, type Vault, withAllKeys } from "../vault.ts";
import { type Writers, writeLines } from "../write-lines.ts";
import type { Connection, Engine, SharedDatabase, TxMaker } from "./engine.ts";
import { listReads } from "./replica-reads.ts";
import { openSqlite } from "./sqlite.ts";
import type { SyncFile } from "./wal-sync.ts";

/** Where the database is: a file of SQLite, or a PostgreSQL address, and that of a replica for reads. */
export type Location = FileLocation | { url: string; insecure?: boolean; replica?: string | undefined };

interface FileLocation {
  file: string;
  create: boolean;
  verify?: boolean;
  /** No other process serves it: then no write stops the event loop for the disk. */
  alone?: boolean;
}

/** What a store takes from outside. */
export interface StoreDependencies {
  clock: Clock;
  ids: Ids;
  /** The 256-bit master key: wraps the data keys. */
  masterKey: Buffer;
  /** Keys to try where that one is not the database's any more: it may have been rotated since it was read. */
  masterKeys?: (() => Buffer[]) | undefined;
  /** Called, with words for a person, each time that opening waits for other sessions on PostgreSQL. */
  onWait?: ((words: string) => void) | undefined;
  /** How a file served alone is synced; left out: by the operating system's call. */
  sync?: SyncFile | undefined;
  /** How many connections to PostgreSQL this process may keep open; left out: 12. */
  connections?: number | undefined;
}

/**
 * Opens the database, brings its schema up to date, unwraps its data keys. Throws `StoreError`, in words, when the
 * database is damaged, newer than this program, out of reach, or belongs to another key file.
 */
export async function openStore(location: Location, dependencies: StoreDependencies): Promise<Store> {
  const engine = await openEngine(location, dependencies);
  try {
    return await storeOver(engine, dependencies);
  } catch (error) {
    await engine.close();
    throw error;
  }
}

async function openEngine(location: Location, given: StoreDependencies): Promise<Engine> {
  if ("file" in location) {
    const { file, create, verify = false, alone } = location;
    return openSqlite(file, { create, verify, alone, sync: given.sync });
  }
  if (!/^postgres(ql)?:\/\//.test(location.url)) {
    throw new StoreError(
      "The database address is not one of PostgreSQL.",
      "Give --database postgres://user@host/name.",
    );
  }
  // Loaded only when asked for: most installations never need the driver.
  const { openPostgres } = await import("./postgres.ts");
  return openPostgres(location, { ...given, id: given.ids.uuid(given.clock.now()) });
}

interface Preparing extends Pick<Store, "write" | "erase"> {
  holds(ask: (q: Read) => Promise<boolean>): Promise<boolean>;
  reloadKeys(): Promise<void>;
}

/** Gives a new database its keys, and one of an earlier version what only code can compute. */
async function prepareData({ holds, reloadKeys, write, erase }: Preparing): Promise<void> {
  if (await holds(hasNoDataKeys)) await write(ensureDataKeys, null);
  await reloadKeys();
  if (await holds(hasPlainCredentials)) {
    await write(keyCredentials, null);
    await reloadKeys();
  }
  const unbound = await holds(hasUnboundKeys);
  if (await holds(peopleAreClear)) {
    // Before the keys of an earlier version go: names join what is sealed under them.
    if (unbound) await write(ensureBindingKey, null);
    await sealPeople({ write, erase });
    await reloadKeys();
  }
  if (unbound) {
    await bindSealedValues({ write, erase });
    await reloadKeys();
  }
  if (await holds(headsAreUnmarked)) await write(markHeads, null);
}

async function storeOver(engine: Engine, { clock, ids, masterKey, masterKeys }: StoreDependencies): Promise<Store> {
  const unreadable = reportOnce();
  const vault = createVault(masterKey, unreadable.report);
  // In a transaction, and in a read that reloaded the keys: a key that is unknown there is gone for good.
  const complete = withAllKeys(vault, unreadable.report);
  const signals = signalling(engine.nodes);
  const read = (connection: Connection, held = vault): Read => ({ ...connection, now: clock.now(), vault: held });
  const keys = keyring(vault, masterKey, masterKeys);
  const makeTx: TxMaker = (connection, signal, requestId) => {
    const touch = () => bumpEpoch({ ...read(connection) });
    return { ...read(connection, complete), ids, requestId, signal, touch };
  };
  const writers = writersOf(engine, makeTx, keys);
  const commits = writeLines(writers, signals.committed);
  const reloadKeys = () => engine.snapshot((connection) => keys.refresh(read(connection)));

  const moment = oncePerTurn(async () => {
    const now = await engine.moment();
    if (now.epoch > keys.epoch()) await reloadKeys();
    return now;
  });

  const write: Store["write"] = (command, input, requestId, owner) =>
    // Who was answered sees what it wrote.
    commits.write(command, input, { requestId: requestId ?? null, owner: owner ?? null }).finally(forget);
  const toRead = snapshotReads(engine, { over: read, durable: writers.alone.durable, refresh: keys.refresh, complete });
  const lists = listReads(engine, { read: toRead, write, over: read });
  function forget(): void {
    moment.forget();
    lists.forget();
  }
  const holds = (ask: (q: Read) => Promise<boolean>) => engine.snapshot((connection) => ask(read(connection)));
  await prepareData({ holds, reloadKeys, write, erase: engine.erase });

  let closing: Promise<void> | null = null;
  return {
    vault,
    read: toRead,
    list: lists.list,
    replica: lists.replica,
    look: (query, input) => engine.look((connection) => query(read(connection), input)),
    write,
    rehearse: (command, input) => rehearse(write, command, input),
    epoch: () => moment.ask().then(({ epoch }) => epoch),
    state: () => moment.ask().then(({ state }) => state),
    onSignal: signals.onSignal,
    onUnreadable: unreadable.listen,
    erase: () => engine.erase(),
    ping: () => engine.ping(),
    signal: signals.wake,
    nodes: engine.nodes && nodesOf(engine.nodes, signals.wake),
    close() {
      closing ??= commits.close().then(() => engine.close());
      return closing;
    },
  };
}

function writersOf({ writer, slotWriter }: Engine, makeTx: TxMaker, keys: Keyring): Writers {
  return {
    alone: withCurrentKeys(writer(makeTx), keys),
    ofSlot: slotWriter === null ? null : (slot) => withCurrentKeys(slotWriter(makeTx, slot), keys),
  };
}

interface Reading {
  over(connection: Connection, held?: Vault): Read;
  durable(): Promise<void>;
  /** Reads the data keys of a snapshot into its vault. */
  refresh(q: Read): Promise<void>;
  complete: Vault;
}

/** Reads on a snapshot; once more where a data key is unknown. */
function snapshotReads(engine: Engine, { over, durable, refresh, complete }: Reading): Store["read"] {
  return async (query, input) => {
    try {
      return await engine.snapshot((connection) => query(over(connection), input));
    } catch (error) {
      if (!(error instanceof UnknownKeyError)) throw error;
    }
    // The data key was rotated since, here or by another process: once more, with the keys of that very snapshot.
    await durable();
    return engine.snapshot(async (connection) => {
      const again = over(connection, complete);
      await refresh(again);
      return query(again, input);
    });
  };
}

/** The nodes as their store shows them: what others commit is signalled as its own commits are. */
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
function signalling(nodes: SharedDatabase | null) {
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

/** Runs a command by `write` and takes all of it back by failing in the end; answers what the command answered. */
async function rehearse<I, O>(write: Store["write"], command: Command<I, O>, input: I): Promise<O> {
  const takenBack = new Error("this was a rehearsal");
  const results: { value: O }[] = [];
  try {
    return await write<null, O>(async (tx) => {
      results.push({ value: await command(tx, input) });
      throw takenBack;
    }, null);
  } catch (error) {
    const last = results.at(-1);
    if (error === takenBack && last !== undefined) return last.value;
    throw error;
  }
}
