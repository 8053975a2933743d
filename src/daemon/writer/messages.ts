import type { Owner } from "../../core/kernel/owner.ts";
import type { KeySources } from "../../core/store/sealing/key-files.ts";
import type { Topic } from "../../core/store/store.ts";
import type { CommandName } from "./commands.ts";
import type { SentError } from "./sent-errors.ts";

/** What the thread is started with. */
export interface WriterWork {
  file: string;
  create: boolean;
  verify: boolean;
  /** Few large transactions follow each other: more memory for pages, and a WAL that grows further. */
  bulk?: boolean | undefined;
  masterKey: Uint8Array;
  keys: KeySources;
}

/** A command that the thread is asked to run, with its input encoded. */
export interface AskedCommand {
  how: "write" | "rehearse";
  command: CommandName;
  input: unknown;
  requestId: string | undefined;
  owner: Owner | undefined;
}

/** What is asked of the thread, each under a number of its own. */
export type WriterRequest = { id: number } & (AskedCommand | { how: "erase" });

/** To the thread: what was asked in one turn of the event loop, or that it closes the store and ends. */
export type ToWriter = WriterRequest[] | "close";

export type Answered = { id: number } & ({ value: unknown } | { error: SentError });

/** From the thread. `opened` or `failed` comes first, and once. */
export type FromWriter =
  | { kind: "opened" }
  | { kind: "failed"; error: SentError }
  | { kind: "answers"; answers: Answered[]; topics: Topic[] }
  | { kind: "unreadable"; error: SentError };
