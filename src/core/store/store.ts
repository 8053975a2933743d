import type { Column, SQL, SQLWrapper } from "drizzle-orm";
import type { BetterSQLite3Database } from "drizzle-orm/better-sqlite3";
import type { OrderId, OrderLineId, PartnerId, ProductId } from "../kernel/brand.ts";
import type { Ids } from "../kernel/ids.ts";
import type { Owner } from "../kernel/owner.ts";
import type { Lane } from "./schema/lanes.ts";
import type { NewRow, TableName, Tables, TableWithId } from "./schema/tables.ts";
import type { UnreadableError, Vault } from "./vault.ts";

// The store as core sees it: queries and commands, and what each engine says in words of its own.

/** drizzle's query builder. SQLite's types serve both engines; every query is awaited. */
export type Db = BetterSQLite3Database;

/** What a query gets: one consistent snapshot of committed data. */
export interface Read {
  readonly db: Db;
  readonly t: Tables;
  /** The moment this read or transaction began (ms); read from the clock once. */
  readonly now: number;
  readonly vault: Vault;
  /** Statements prepared on this connection, by the function that builds them. */
  readonly prepared: Map<unknown, Prepared>;
  readonly dialect: Dialect;
  /** The context that a command shares with others; null: it reads and writes at once. */
  readonly context: BatchContext | null;
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
export const topics = ["fulfillment", "deliveries", "activations", "sandbox"] as const;
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
   * What commands that follow each other in one transaction look up together; they share a context, on which all that
   * they read and write has to rest. It may not seal or open anything: the keys are not known to be the present ones
   * yet. Left out: each reads and writes at once.
   */
  prefetch?: readonly Prefetch<I>[];
}

/** Looks up together what commands with these inputs will ask for. */
export type Prefetch<I> = (tx: Tx, inputs: readonly I[]) => Promise<void>;

/** A statement as the builder of either engine makes it. */
export interface Preparable<R> {
  toSQL(): { sql: string };
  prepare(name: string): { execute(params: Record<string, unknown>): PromiseLike<R> };
}

/** A statement that the engine has parsed and planned once. */
export interface Prepared {
  execute(params: Record<string, unknown>): Promise<unknown>;
}

/** What the engines have to say in words of their own. */
export interface Dialect {
  prepare(made: Preparable<unknown>): Prepared;
  /** The elements of a JSON array, each as `listed.value`: many values are one parameter of a prepared statement. */
  listed(json: SQL): SQL;
  /** Whether a column is one of the few values that a query answers, found by the column's index. */
  among(column: Column, query: SQLWrapper): SQL;
  /** Joins the rows to be updated with `listed`, by the first cell of each element and by the column's index. */
  joined(column: Column, json: SQL): SQL;
  /**
   * Keeps the rows of a table that a query answers from other transactions until the commit. It waits for those that
   * are locked, in the order of the query, or leaves them out (`skipLocked`).
   */
  lock<Q>(query: Q, config: { of?: Tables[TableName]; skipLocked?: true }): Q;
  /** Whether other transactions write beside this one: else there is nothing to lock. */
  readonly locks: boolean;
  /** Inserts one row; all columns are given or null, so no default of an engine is relied on. */
  insertOne<N extends TableName>(tx: Tx, table: N, row: NewRow<N>): Promise<void>;
  /** Inserts rows in their order; columns as above. `skipKnown`: those that are there already stay as they are. */
  insertMany<N extends TableName>(tx: Tx, table: N, rows: readonly NewRow<N>[], skipKnown: boolean): Promise<void>;
  /** The same with `skipKnown`; answers the places of those that were there already, or came before. */
  insertNew<N extends TableWithId>(tx: Tx, table: N, rows: readonly NewRow<N>[]): Promise<number[]>;
  /**
   * Hands eSIMs of the stock to order lines, line after line, the oldest first but for those that other writes under
   * way have chosen. Answers those that were left to be handed out.
   */
  claim(tx: Tx, claims: readonly StockClaim[]): Promise<ClaimedUnit[]>;
}

/** Rows, and what writes all of them. */
interface LaterRows {
  rows: unknown[];
  write: () => Promise<void>;
}

/**
 * What commands of one kind share that follow each other in one transaction, with no other write between them
 * (batch-context.ts): what they looked up, and what is written at their end.
 */
export interface BatchContext {
  /** What loaders know, by loader and key. */
  loaded: Map<object, Map<string, unknown>>;
  /** Rows to be inserted, by table, and others to be written, by kind. */
  inserts: Map<TableName, LaterRows>;
  writes: Map<string, LaterRows>;
  /** How often something was put off. */
  count: number;
}

/** So many eSIMs of a product for a line of an order. */
export interface StockClaim {
  productId: ProductId;
  orderId: OrderId;
  lineId: OrderLineId;
  partnerId: PartnerId;
  quantity: number;
  /** When it was placed (ms): the commands of a batch have moments of their own. */
  at: number;
}

/** An eSIM of the stock that a line has got, and what it cost; null: as its product says. */
export interface ClaimedUnit {
  line_id: OrderLineId | null;
  cost: number | null;
  cost_currency: string | null;
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
   * Runs a query as `read` does, which may wait for turns of the event loop between its statements: other reads go on
   * meanwhile. For what reads whole tables.
   */
  readLong<I, O>(query: Query<I, O>, input: I): Promise<O>;
  /**
   * Runs a query as `read` does, where there is a replica on that one, once it has all that was committed before this
   * call, by whichever node. For lists, exports and reports: what takes time.
   */
  list<I, O>(query: Query<I, O>, input: I): Promise<O>;
  /** Runs a query of one statement that opens no sealed value: a single statement sees one state by itself. */
  readOne<I, O>(query: Query<I, O>, input: I): Promise<O>;
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
