import type { Clock } from "../core/kernel/clock.ts";
import type { Ids } from "../core/kernel/ids.ts";
import type { Store } from "../core/store/store.ts";
import type { Api } from "./client/api.ts";
import type { Globals } from "./globals.ts";
import { type Place, placeWords, resolvePlace } from "./place.ts";

/** Who a partner-side command acts for, where the place does not say it itself. */
export interface ActsFor {
  partner: string | undefined;
  sandbox: boolean;
  /** Naming a partner is not needed: the command reads what all partners share. */
  optional: boolean;
}

/** The store of the place and what writing to it takes. */
export interface Opened {
  store: Store;
  clock: Clock;
  ids: Ids;
}

/** What a command may use. Everything heavy is loaded when it is asked for. */
export interface Context {
  readonly globals: Globals;
  /** Where the command acts. Throws a usage error when the options contradict each other. */
  place(): Place;
  /** Runs `work` on the place's store, which is closed afterwards however it ends. */
  withStore<T>(work: (opened: Opened) => Promise<T>): Promise<T>;
  /** Runs `work` with the v1 API, as the partner that --partner names. */
  withApi<T>(work: (api: Api) => Promise<T>): Promise<T>;
  /** Asks before an act, naming the place; returns when the answer is yes. Throws otherwise, and where nobody is. */
  confirm(question: string): Promise<void>;
  /** A line for a person, on stderr; nothing with --quiet. */
  note(line: string): void;
  /** A line on stderr that stays even with --quiet. */
  warn(line: string): void;
  /** Aborted by Ctrl-C: a command in batches ends after the one under way. */
  readonly interruption: AbortSignal;
}

/** Who the audit trail names for what is done here. */
export const OPERATOR = "operator";

/** The context of one run of a command. */
export function createContext(globals: Globals, actsFor: ActsFor, interruption: AbortSignal): Context {
  const place = () => resolvePlace(globals, process.env);
  const context: Context = {
    globals,
    place,
    interruption,
    async withStore(work) {
      const [{ openExisting }, { systemClock }, { randomIds }] = await Promise.all([
        import("./local-store.ts"),
        import("../core/kernel/clock.ts"),
        import("../core/kernel/ids.ts"),
      ]);
      const sources = { clock: systemClock, ids: randomIds() };
      const store = await openExisting(place(), sources);
      try {
        return await work({ store, ...sources });
      } finally {
        await store.close();
      }
    },
    async withApi(work) {
      const { withLocalApi } = await import("./client/in-process.ts");
      return withLocalApi(context, actsFor, work);
    },
    async confirm(question) {
      const { confirm } = await import("./output/prompts.ts");
      await confirm(`${question} (${placeWords(place())})`, globals);
    },
    note(line) {
      if (!globals.quiet) process.stderr.write(`${line}\n`);
    },
    warn(line) {
      process.stderr.write(`${line}\n`);
    },
  };
  return context;
}
