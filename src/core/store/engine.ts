import type { Nodes, Pulse, Read, ReplicaLook, Topic, Tx } from "./store.ts";
import type { Commits, Writer } from "./writer.ts";

/** A connection's side of a read or transaction; the store adds time, ids and vault. */
export type Connection = Pick<Read, "db" | "t" | "prepared" | "dialect" | "context">;

/** Makes the transaction of one command over a connection. */
export type TxMaker = (connection: Connection, signal: (topic: Topic) => void, requestId: string | null) => Tx;

/** What group commit takes of the store. */
export interface CommitsBase {
  makeTx: TxMaker;
  /** The writer with a step before the first command of each batch. */
  prepared(writer: Writer): Writer;
  /** Called after each commit, for each topic that it signaled. */
  committed(topic: Topic): void;
}

/** A database that several nodes may use at once. */
export interface SharedDatabase extends Nodes {
  /** Notifies the processes that listen of a topic, soon and together with others. */
  notify(topic: Topic): void;
}

/** What has been committed up to a moment, by the server that takes writes. */
export interface Position {
  /** In its log. */
  at: string;
  /** The history that its log is of: another one after each failover. */
  timeline: string;
  /** What a replica of that history shows (`replica-line.ts`). */
  line: string | null;
}

/** A replica cannot answer a read now; the primary can. */
export class ReplicaUnused extends Error {
  constructor(reason: string) {
    super(`the replica is not used: ${reason}`);
    this.name = "ReplicaUnused";
  }
}

/** A server that follows the one that takes writes, for reads only. */
export interface Replica {
  /** Runs `run` on a snapshot that has all up to `position`. Throws `ReplicaUnused`. */
  snapshot<T>(position: Position, run: (connection: Connection) => Promise<T>): Promise<T>;
  /** How it follows. Never throws. */
  look(position: Position): Promise<ReplicaLook>;
  close(): Promise<void>;
}

/** What the store needs of SQLite or PostgreSQL. */
export interface Engine {
  /** Runs `run` on one consistent snapshot of committed data. */
  snapshot<T>(run: (connection: Connection) => Promise<T>): Promise<T>;
  /** The same for what takes long: `run` may wait for more than its own statements, and holds up no other read. */
  apart<T>(run: (connection: Connection) => Promise<T>): Promise<T>;
  /** Runs `run`, which is one statement, on what is committed when it is called or later. */
  readOne<T>(run: (connection: Connection) => Promise<T>): Promise<T>;
  /** Group commit of the writes of this process. */
  commits(base: CommitsBase): Commits;
  /** The epoch of what is committed (see `Store.epoch`), as cheaply as the engine can read it. */
  epoch(): Promise<number>;
  ping(): Promise<Pulse>;
  /** What `Store.erase` promises. */
  erase(): Promise<boolean>;
  /** Null: no other node can use this database. */
  nodes: SharedDatabase | null;
  /** The replica for reads, and what the primary has committed by now; null: there is none. */
  replica: (Replica & { position(): Promise<Position> }) | null;
  close(): Promise<void>;
}

/** What a store needs of its engine beside the writing. */
export type ReadingEngine = Omit<Engine, "commits" | "erase">;
