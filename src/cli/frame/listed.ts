import type { Command, Entry, Noun, Works } from "./command.ts";

/** The summary of a command, where it works, and the module that exports it. */
type Listed = readonly [summary: string, works: Works, module: () => Promise<{ default: Command }>];

/** A noun with its verbs, in the order of the help. */
export function noun(name: string, summary: string, verbs: Readonly<Record<string, Listed>>): Noun {
  return { name, summary, verbs: entries(verbs) };
}

/** Commands in the order of the help. Each is loaded when it is named: lists of commands need its summary alone. */
export function entries(listed: Readonly<Record<string, Listed>>): Entry[] {
  return Object.entries(listed).map(([name, [summary, works, module]]) => ({
    name,
    summary,
    works,
    load: async () => (await module()).default,
  }));
}
