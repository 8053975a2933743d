import type { Logger } from "pino";
import type { Clock } from "../../core/kernel/clock.ts";
import type { Ids } from "../../core/kernel/ids.ts";
import type { Store } from "../../core/store/store.ts";
import type { ServedAt } from "../context/addresses.ts";

/** How the platform is served. */
export interface ServeOptions extends ServedAt {
  trustProxy: boolean;
  /** Serves portal and console. */
  pages: boolean;
  allowPrivateWebhooks: boolean;
  /** Refuses EIDs with a wrong check digit. */
  strictEid: boolean;
  /** When the deprecated inventory endpoint ends (ms); left out: nothing is announced. */
  inventorySunset?: number | undefined;
  /** Days that sandbox orders are kept; left out: 90. */
  sandboxDays?: number | undefined;
  /** Where /metrics listens on loopback; left out: nowhere. */
  metricsPort?: number | undefined;
  /** How many processes serve HTTP; 1: this one does. */
  workers: number;
  /** Changes the settings of a platform that other nodes may serve too. */
  takeOverSettings: boolean;
  /** The SMTP server of all mail, e.g. smtp://user:password@host:587; left out: none. */
  smtpUrl?: string | undefined;
  /** Lets mail go beyond this machine without TLS. */
  insecure: boolean;
  /** The directory whose room is watched; left out: none, since the database is elsewhere. */
  dataDirectory?: string | undefined;
}

/** What writes to the log. */
export interface Logged {
  log: Logger;
}

/** What serving needs. */
export interface ServeDependencies extends Logged {
  /** Where the lines that it logs are kept, on this machine. */
  logFolder: string;
  store: Store;
  clock: Clock;
  ids: Ids;
}

/** What the main process of a daemon needs. */
export interface MainDependencies extends ServeDependencies {
  /** No other daemon can serve this database: its directory is locked. */
  alone: boolean;
  /** Keeps a line that another process of this daemon logged. */
  keepLine(line: string): void;
  /** What processes that answer HTTP find in their environment beside this one's: secrets that no other child needs. */
  frontEnv: Readonly<Record<string, string | undefined>>;
}
