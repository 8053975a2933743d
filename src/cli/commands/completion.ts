import { type Candidate, type Completion, complete, shells } from "../completion/complete.ts";
import { scripts } from "../completion/scripts.ts";
import { type Context, command } from "../frame/command.ts";
import { usageError } from "../kernel/errors.ts";
import { argument, argumentList } from "../kernel/input.ts";
import { clean } from "../output/clean.ts";

export default command({
  target: "process",
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
  if (context.globals.json) return { json: { ...found, words }, text: () => "" };
  // By itself: what draws tables takes longer to load than the names take to find.
  const lines = words.map(({ value, help }) => `${clean(value)}\t${clean(help)}\n`);
  process.stdout.write(found.kind === "files" ? ":files\n" : lines.join(""));
  return null;
}

async function wordsOf(context: Context, found: Completion, typed: readonly string[]): Promise<Candidate[]> {
  if (found.kind === "words") return found.words;
  if (found.kind === "files") return [];
  if (found.kind === "names")
    return (await import("../completion/at-hand.ts")).namesAtHand(context, found.naming, typed);
  return (await import("../place/profiles.ts")).profileNames().map((value) => ({ value, help: "" }));
}
