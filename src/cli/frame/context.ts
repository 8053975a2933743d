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

/** What a command may use. Everything heavy is loaded when it is asked for. */
export interface Context extends Caller {
  /** All commands there are. */
  readonly tree: CommandTree;
  /** Where the command acts. Throws a usage error when the options contradict each other, `no_such_profile`. */
  where(): Promise<Where>;
  /** The data that it works on; throws also `operator_only` where the command would act at a server. */
  place(): Promise<Place>;
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
}
