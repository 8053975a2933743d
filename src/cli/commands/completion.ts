import { command } from "../command.ts";
import { type Completion, complete, shells } from "../completion/complete.ts";
import { scripts } from "../completion/scripts.ts";
import type { Context } from "../context.ts";
import { usageError } from "../errors.ts";
import { argument, argumentList } from "../input.ts";
import { profileNames } from "../profiles.ts";

export const completion = command({
  name: "completion",
  summary: "what makes bash, zsh or fish complete commands, options and names",
  stand: "process",
  effects: "Reads only: prints a script for the shell to read. The script asks this program what may come next.",
  json: "{shell, script}",
  examples: [
    "completion bash > ~/.local/share/bash-completion/completions/esimctl",
    "completion zsh > ~/.zfunc/_esimctl",
    "completion fish > ~/.config/fish/completions/esimctl.fish",
  ],
  args: {
    shell: argument("shell", "bash, zsh or fish", { oneOf: shells }),
    words: argumentList("words", "for the scripts: after `completion words --`, the line up to the cursor"),
  },
  options: {},
  async run(context, { shell, words }) {
    if (shell === "words") return offered(context, words);
    const known = shells.find((one) => one === shell);
    if (known === undefined) throw usageError(`There is no completion for ${shell}.`, `Say ${shells.join(", ")}.`);
    return { json: { shell: known, script: scripts[known] }, text: () => scripts[known].trimEnd() };
  },
});

async function offered(context: Context, typed: readonly string[]) {
  const found = await complete(typed, context.tree);
  const words = await wordsOf(context, found, typed);
  const lines = words.map(({ value, help }) => `${value}\t${help}`);
  return { json: { ...found, words }, text: () => (found.kind === "files" ? ":files" : lines.join("\n")) };
}

async function wordsOf(context: Context, found: Completion, typed: readonly string[]) {
  if (found.kind === "words") return found.words;
  if (found.kind === "profiles") return profileNames().map((value) => ({ value, help: "" }));
  return found.kind === "partners" ? partnersAtHand(context, typed) : [];
}

/** Partners of the data that the line so far names. A cursor is no place for failures: without data, no partners. */
async function partnersAtHand({ globals }: Context, typed: readonly string[]) {
  const [{ resolveWhere }, { openExisting }, { listPartners }, { systemClock }, { randomIds }] = await Promise.all([
    import("../place.ts"),
    import("../local-store.ts"),
    import("../../core/partners/list.ts"),
    import("../../core/kernel/clock.ts"),
    import("../../core/kernel/ids.ts"),
  ]);
  const said = (flag: string, otherwise: string | undefined) =>
    typed.includes(flag) ? typed[typed.indexOf(flag) + 1] : otherwise;
  const named = {
    data: said("--data", globals.data),
    database: said("--database", globals.database),
    keyFile: said("--key-file", globals.keyFile),
  };
  try {
    const where = await resolveWhere({ ...globals, ...named }, process.env);
    if (where.kind === "server") return [];
    const store = await openExisting(where, { clock: systemClock, ids: randomIds() });
    try {
      return (await store.read(listPartners, null)).map(({ slug, name }) => ({ value: slug, help: name }));
    } finally {
      await store.close();
    }
  } catch {
    return [];
  }
}
