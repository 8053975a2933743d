import type { Writer } from "../group-commit.ts";
import type { Moment, Nodes, Pulse, Read, Topic, Tx } from "../store.ts";

/** A connection's side of a read or transaction; the store adds time, ids and vault. */
export type Connection = Pick<Read, "db" | "t" | "prepared">;

/** Makes the transaction of one command over a connection. */
export type TxMaker = (connection: Connection, signal: (topic: Topic) => void, requestId: string | null) => Tx;

/** A database that several nodes may use at once. */
export interface SharedDatabase extends Nodes {
  /** Notifies the processes that listen of a topic, soon and together with others. */
  notify(topic: Topic): void;
}

/** What the store needs of SQLite or PostgreSQL. */
export interface Engine {
  /** Runs `run` on one consistent snapshot of committed data. */
  snapshot<T>(run: (connection: Connection) => Promise<T>): Promise<T>;
  /** Runs `run`, which is one statement, on what is committed when it is called or later. */
  look<T>(run: (connection: Connection) => Promise<T>): Promise<T>;
  /** The one writer of this process. */
  writer(makeTx: TxMaker): Writer;
  /** This moment of the database, as cheaply as the engine can read it. */
  moment(): Promise<Moment>;
  ping(): Promise<Pulse>;
  /** What `Store.erase` promises. */
  erase(): Promise<boolean>;
  /** Null: no other node can use this database. */
  nodes: SharedDatabase | null;
  close(): Promise<void>;
}
