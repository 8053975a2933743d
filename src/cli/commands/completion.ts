import { type Context, command } from "../frame/command.ts";
import { type Candidate, type Completion, complete, namesAtHand, shells } from "../frame/complete.ts";
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
  // A name with control characters is left out: cleaned, it would be the name of something else.
  const insertable = words.filter(({ value }) => clean(value) === value);
  const lines = insertable.map(({ value, help }) => `${value}\t${clean(help)}\n`);
  process.stdout.write(found.kind === "files" ? ":files\n" : lines.join(""));
  return null;
}

async function wordsOf(context: Context, found: Completion, typed: readonly string[]): Promise<Candidate[]> {
  if (found.kind === "words") return found.words;
  if (found.kind === "files") return [];
  if (found.kind === "names") return namesAtHand(context, found.naming, typed);
  return (await import("../place/profiles.ts")).profileNames().map((value) => ({ value, help: "" }));
}

/*
 * Each shell hands the words up to the cursor to `esimctl completion words`, which answers a line a candidate: the
 * word, a tab, what it means; or the one line `:files`. So completion always matches the installed version.
 */

const bash = `# esimctl completion for bash
_esimctl() {
  local word rest quoted typed="\${COMP_WORDS[COMP_CWORD]#=}"
  COMPREPLY=()
  while IFS=$'\\t' read -r word rest; do
    if [[ $word == :files ]]; then
      compopt -o default
      COMPREPLY=()
      return
    fi
    # What is typed may be quoted already; what is inserted is one word, whatever is in it.
    printf -v quoted %q "$word"
    [[ $word == "$typed"* || $quoted == "$typed"* ]] && COMPREPLY+=("$quoted")
  done < <(esimctl completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _esimctl esimctl
`;

const zsh = `#compdef esimctl
# esimctl completion for zsh
_esimctl() {
  local line word
  local -a found
  for line in "\${(@f)$(esimctl completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -z $line ]] && continue
    if [[ $line == :files ]]; then
      _files
      return
    fi
    # _describe ends the word at the first colon, and takes a backslash for a quote.
    word=\${line%%$'\\t'*}
    word=\${word//\\\\/\\\\\\\\}
    found+=("\${word//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe esimctl found
}
if [[ $funcstack[1] == _esimctl ]]; then _esimctl "$@"; else compdef _esimctl esimctl; fi
`;

const fish = `# esimctl completion for fish
function __esimctl_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found (esimctl completion words -- $words[2..] 2>/dev/null)
    if test "$found[1]" = ":files"
        __fish_complete_path (commandline -ct)
    else
        printf '%s\\n' $found
    end
end
complete -c esimctl -f -a '(__esimctl_complete)'
`;

/** What each shell is to read. */
const scripts: Readonly<Record<(typeof shells)[number], string>> = { bash, zsh, fish };
