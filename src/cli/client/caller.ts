import type { PartnerId } from "../../core/kernel/brand.ts";
import type { Clock } from "../../core/kernel/clock.ts";
import type { Environment } from "../../core/kernel/environment.ts";
import type { Ids } from "../../core/kernel/ids.ts";
import type { Store } from "../../core/store/store.ts";
import type { Globals } from "../kernel/globals.ts";

/** The partner and environment that a partner-side command acts for, where the place does not set them. */
export interface ActsFor {
  partner: string | undefined;
  sandbox: boolean;
  /** Naming a partner is not needed: the command reads what all partners share. */
  optional: boolean;
}

/** Finds the owner of an object. Throws when there is no such object. */
export type OwnerOf = (store: Store) => Promise<{ partner_id: PartnerId; environment: Environment }>;

/** The store of the place and what writing to it takes. */
export interface Opened {
  store: Store;
  clock: Clock;
  ids: Ids;
}

/** What the client needs of the command that uses it. */
export interface Caller {
  readonly globals: Globals;
  /** Aborted by Ctrl-C: a command in batches ends after the one under way. */
  readonly interruption: AbortSignal;
  /** Runs `work` on the place's store, which is closed afterwards however it ends. */
  withStore<T>(work: (opened: Opened) => Promise<T>): Promise<T>;
}
