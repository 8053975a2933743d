import type { BetterSQLite3Database } from "drizzle-orm/better-sqlite3";
import type { Ids } from "../kernel/ids.ts";
import type { Owner } from "../kernel/owner.ts";
import type { Lane } from "./schema/lanes.ts";
import type { Tables } from "./schema/tables.ts";
import type { UnreadableError, Vault } from "./vault.ts";

/** drizzle's query builder. SQLite's types serve both engines; every query is awaited. */
export type Db = BetterSQLite3Database;

/** Rows of one table, and their insertion. */
export interface Gathered {
  rows: object[];
  insert: () => Promise<void>;
}

/**
 * What commands of one kind share that run one after the other in one transaction, with no other write between them:
 * what they looked up, and what only the last of them has to write.
 */
export interface RunMemory {
  found: Map<string, unknown>;
  /** By what is written: a later write replaces an earlier one. */
  due: Map<string, () => Promise<void>>;
  /** What the writes of `due` write together: by the same name, and by what is written. */
  together: Map<string, Map<string, unknown>>;
  /** Rows that are inserted together, by table. */
  rows: Map<string, Gathered>;
  /** Writes that were put off. */
  count: number;
}

/** What a query gets: one consistent snapshot of committed data. */
export interface Read {
  readonly db: Db;
  readonly t: Tables;
  /** The moment this read or transaction began (ms); read from the clock once. */
  readonly now: number;
  readonly vault: Vault;
  /** Statements prepared on this connection, by the function that builds them. */
  readonly prepared: Map<unknown, Prepared>;
  /** The memory of the run that a command is part of; left out or null: it is in none. */
  readonly memory?: RunMemory | null;
}

/** What a command gets: a transaction of its own. */
export interface Tx extends Read {
  readonly ids: Ids;
  /** The id of the HTTP request that this command serves; null for workers and most of the terminal's commands. */
  readonly requestId: string | null;
  /** After the commit, wakes the worker that waits for `topic` in this process. */
  signal(topic: Topic): void;
  /** Marks reference data (partners, credentials, catalog, keys, settings) as changed, for every process's caches. */
  touch(): Promise<void>;
}

/** Work that a commit may have made: each has a worker that also finds it by polling. */
export const topics = ["fulfilment", "deliveries", "activations", "sandbox"] as const;
/** `events`: the feed of a partner has grown, which no worker waits for. */
export type Topic = (typeof topics)[number] | "events";
export const allTopics: readonly Topic[] = [...topics, "events"];

/** A query: named, exported, reads only. */
export type Query<I, O> = (q: Read, input: I) => Promise<O>;

/**
 * A command: a named, exported core function that runs as one transaction. Input and result are plain data. Inside it
 * only `tx` is awaited: never network, disk or timers.
 */
export interface Command<I, O> {
  (tx: Tx, input: I): Promise<O>;
  /** What it keeps to, so that others may write beside it; left out or null: it runs with no other under way. */
  lane?: (input: I) => Lane | null;
  /**
   * Those that follow each other in one transaction may share a memory (run-memory.ts): it writes nothing that it
   * remembers without saying so.
   */
  remembers?: true;
  /**
   * Looks up together what commands of a run that are to follow will ask for, as their memory has it; left out: each
   * asks for itself. It may not seal or open anything: the keys are not known to be the present ones yet.
   */
  lookAhead?: (tx: Tx, inputs: readonly I[]) => Promise<void>;
}

/** A statement that the engine has parsed and planned once. */
export interface Prepared {
  execute(params: Record<string, unknown>): Promise<unknown>;
  /** The same, with null for each parameter that is left out; missing where the engine has no quicker way for it. */
  insert?(row: object): Promise<void>;
  /**
   * Executes it for each of these at once, or for each `together` of them, which it must have slots for; the list is of
   * whole groups. Answers the places of those groups that changed no row. Missing where the engine has no quicker way.
   */
  each?(list: readonly Record<string, unknown>[], together?: number): number[];
}

/** What a database says of itself. */
export interface Pulse {
  /** The time of its own clock (ms); null: it has none but this machine's. */
  now: number | null;
  /** For how long (ms) another session has held up all writes while it does nothing; null: none does. */
  heldMs: number | null;
}

/** What a node asks of a window that all nodes count in: a minute of one caller. */
export interface WindowDraw {
  /** A keyed digest of who is counted. */
  id: string;
  /** Minutes since 1970. */
  minute: number;
  /** Requests allowed in the minute. */
  limit: number;
  /** Requests accepted, since the draw before, of what that one got ahead. */
  spent: number;
  /** Requests that wait for this draw. */
  wanted: number;
}

/** What a node gets of a window. */
export interface WindowShare {
  /** Requests of all nodes in it. Those that nodes accept of what they drew ahead are reported at their next draws. */
  used: number;
  /** How many of the requests that waited are allowed, all of them or as many as the limit leaves. */
  allowed: number;
  /** How many more this node may accept without another draw. */
  ahead: number;
}

/** What the nodes of one database share beside its data. */
export interface Nodes {
  /**
   * Draws from windows by one statement, and answers in the order asked. What all nodes hold ahead of one window is at
   * most 5 % of its limit: so much more than the limit may be accepted, and none is refused before the limit is used
   * up. Throws `StoreUnavailable`.
   */
  draw(draws: readonly WindowDraw[]): Promise<WindowShare[]>;
  /**
   * Listens on one connection of its own to what other processes commit: it signals their topics here, as a commit of
   * this process does, and calls `woken`. A connection that broke is made again; then all topics are signaled.
   */
  listen(woken: (topic: Topic) => void): { stop(): Promise<void> };
}

/** How a replica follows the primary. */
export interface ReplicaLook {
  /** `foreign`: it is no hot standby of the database. Only one that is `used` answers reads. */
  state: "used" | "behind" | "away" | "foreign";
  /** How long what is committed takes to be there (ms); null: that is unknown. */
  lagMs: number | null;
  /** Why it is not used; null: it is. */
  detail: string | null;
}

/** The replica that reads may go to. */
export interface ReplicaReads {
  /** Looks how it follows, and marks the history that it has to follow. Throws `StoreUnavailable` of the primary. */
  look(): Promise<ReplicaLook>;
  /** Reads of this process that might go to it, by the server that answered. */
  counted(): { replica: number; primary: number };
}

/** The database, whichever engine it is. Only this folder knows. */
export interface Store {
  /** Runs a query on one consistent snapshot of what is committed. */
  read<I, O>(query: Query<I, O>, input: I): Promise<O>;
  /**
   * Runs a query as `read` does, where there is a replica on that one, once it has all that was committed before this
   * call, by whichever node. For lists, exports and reports: what takes time.
   */
  list<I, O>(query: Query<I, O>, input: I): Promise<O>;
  /** Runs a query of one statement that opens no sealed value: a single statement sees one state by itself. */
  look<I, O>(query: Query<I, O>, input: I): Promise<O>;
  /**
   * Runs a command as one transaction; resolves once its outcome is durable on disk. `requestId` is that of the HTTP
   * request it serves: what it writes can be found by it. `owner` is on whose behalf it is made: where writes wait,
   * production goes before the sandbox and owners take turns. Left out: a write of the platform's own, as production.
   */
  write<I, O>(command: Command<I, O>, input: I, requestId?: string, owner?: Owner): Promise<O>;
  /** Runs a command as `write` does and takes all of it back: its result is what would have come of it. */
  rehearse<I, O>(command: Command<I, O>, input: I): Promise<O>;
  /**
   * A number that changes whenever any process changed reference data, read after this call. Cheap: asked at every
   * request, read once in a turn of the event loop.
   */
  epoch(): Promise<number>;
  /** Calls `wake` after commits that signaled `topic`; the result stops it. */
  onSignal(topic: Topic, wake: () => void): () => void;
  /** Wakes what waits for `topic` in this process, as a commit that signals it does. */
  signal(topic: Topic): void;
  /** Calls `listener` for each sealed value that a list shows as unreadable, once a process. */
  onUnreadable(listener: (error: UnreadableError) => void): void;
  /**
   * Removes from the database's files what was purged, or sealed under a key that is gone: SQLite's WAL is emptied
   * into the file, whose freed bytes are zeros; PostgreSQL's tables of sealed values are vacuumed. False: it is
   * not done, as a reader still sees the old state. Every process that keeps the SQLite database open retries each
   * second; on PostgreSQL the next call does.
   */
  erase(): Promise<boolean>;
  /** Throws unless the database answers. */
  ping(): Promise<Pulse>;
  /**
   * Lets the transaction under way end, refuses the writes that wait with `StoreUnavailable`, then closes. Closing
   * again is the same closing.
   */
  close(): Promise<void>;
  readonly vault: Vault;
  /** Null: no other node can serve this database. */
  readonly nodes: Nodes | null;
  /** Null: there is none. */
  readonly replica: ReplicaReads | null;
}
