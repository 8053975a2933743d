import type { PartnerId } from "../core/kernel/brand.ts";
import type { Clock } from "../core/kernel/clock.ts";
import type { Environment } from "../core/kernel/environment.ts";
import type { Ids } from "../core/kernel/ids.ts";
import type { Store } from "../core/store/store.ts";
import type { Api } from "./client/api.ts";
import type { Globals } from "./globals.ts";
import type { Sheet } from "./output/sheet.ts";
import type { Place, Where } from "./place.ts";
import type { CommandTree } from "./tree.ts";

/** Who a partner-side command acts for, where the place does not say it itself. */
export interface ActsFor {
  partner: string | undefined;
  sandbox: boolean;
  /** Naming a partner is not needed: the command reads what all partners share. */
  optional: boolean;
}

/** Finds whose a thing is. Throws what says that there is none. */
export type OwnerOf = (store: Store) => Promise<{ partner_id: PartnerId; environment: Environment }>;

/** The store of the place and what writing to it takes. */
export interface Opened {
  store: Store;
  clock: Clock;
  ids: Ids;
}

/** What a confirmation shows beside the question. */
export interface Confirmed {
  /** Whose it is, e.g. "acme, production"; left out where the question says it. */
  whose?: string;
  /** What will change, drawn above the question; made only where a person is asked. */
  changes?(sheet: Sheet): Promise<string>;
}

/** What a command may use. Everything heavy is loaded when it is asked for. */
export interface Context {
  readonly globals: Globals;
  /** All commands there are. */
  readonly tree: CommandTree;
  /** Where the command acts. Throws a usage error when the options contradict each other, `no_such_profile`. */
  where(): Promise<Where>;
  /** The data that it works on; throws also `operator_only` where the command would act at a server. */
  place(): Promise<Place>;
  /** Runs `work` on the place's store, which is closed afterwards however it ends. */
  withStore<T>(work: (opened: Opened) => Promise<T>): Promise<T>;
  /**
   * Runs `work` with the v1 API: as the partner that --partner names, or as whom the server takes us for. On data at
   * hand `ownerOf` finds the owner of what was named, where --partner is absent.
   */
  withApi<T>(work: (api: Api) => Promise<T>, ownerOf?: OwnerOf): Promise<T>;
  /** Asks before an act, naming the place; returns when the answer is yes. Throws otherwise, and without a terminal. */
  confirm(question: string, about?: Confirmed): Promise<void>;
  /** A line for a person, on stderr; nothing with --quiet. */
  note(line: string): void;
  /** A line on stderr that stays even with --quiet. */
  warn(line: string): void;
  /** Aborted by Ctrl-C: a command in batches ends after the one under way. */
  readonly interruption: AbortSignal;
}

/** Who the audit trail names for what is done here. */
export const OPERATOR = operatorName(process.env.SUDO_USER);

/** Several people may share the account that holds the data: behind sudo the audit trail distinguishes them. */
function operatorName(sudoUser: string | undefined): string {
  return sudoUser !== undefined && /^[\w.-]{1,64}$/.test(sudoUser) ? `operator (${sudoUser})` : "operator";
}
