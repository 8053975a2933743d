import type { Command } from "./command.ts";

/** A noun and its verbs, which are loaded only when somebody asks for them. */
export interface Noun {
  name: string;
  summary: string;
  verbs(): Promise<readonly Command[]>;
}

/** A command without a noun. */
export interface Single {
  name: string;
  summary: string;
  load(): Promise<Command>;
}

/** Commands without a noun, in the order of the help. */
export const singles: readonly Single[] = [
  { name: "init", summary: "make a data directory", load: async () => (await import("./commands/init.ts")).init },
];

/** Nouns, in the order of the help. */
export const nouns: readonly Noun[] = [];
