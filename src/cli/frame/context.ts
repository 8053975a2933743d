import type { Api } from "../client/api.ts";
import type { Caller, OwnerOf } from "../client/caller.ts";
import type { Sheet } from "../output/sheet.ts";
import type { Place, Where } from "../place/place.ts";
import type { CommandTree } from "./tree.ts";

/** What a confirmation shows beside the question. */
export interface Confirmed {
  /** Whose it is, e.g. "acme, production"; left out where the question says it. */
  whose?: string;
  /** What will change, drawn above the question; made only where a person is asked. */
  changes?(sheet: Sheet): Promise<string>;
}

/** What a command may use. Heavy modules are loaded on first use. */
export interface Context extends Caller {
  /** All commands there are. */
  readonly tree: CommandTree;
  /** Where the command acts. Throws a usage error when the options contradict each other, `no_such_profile`. */
  where(): Promise<Where>;
  /** The data that it works on; throws also `operator_only` where the command would act at a server. */
  place(): Promise<Place>;
  /**
   * Runs `work` with the v1 API: as the partner of --partner, or of the server's credential. On local data without
   * --partner, `ownerOf` finds the owner of the named object.
   */
  withApi<T>(work: (api: Api) => Promise<T>, ownerOf?: OwnerOf): Promise<T>;
  /** Asks before an act, naming the place; returns when the answer is yes. Throws otherwise, and without a terminal. */
  confirm(question: string, about?: Confirmed): Promise<void>;
  /** Prints a line on stderr, not with --quiet. */
  note(line: string): void;
  /** Prints a line on stderr, also with --quiet. */
  warn(line: string): void;
}
