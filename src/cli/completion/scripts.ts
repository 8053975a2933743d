import type { shells } from "./complete.ts";

/*
 * Each shell hands the words up to the cursor to `esimctl completion words`, which answers a line a candidate: the
 * word, a tab, what it means; or the one line `:files`. So completion always matches the installed version.
 */

const bash = `# esimctl completion for bash
_esimctl() {
  local word rest
  COMPREPLY=()
  while IFS=$'\\t' read -r word rest; do
    if [[ $word == :files ]]; then
      compopt -o default
      COMPREPLY=()
      return
    fi
    [[ $word == "\${COMP_WORDS[COMP_CWORD]#=}"* ]] && COMPREPLY+=("$word")
  done < <(esimctl completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _esimctl esimctl
`;

const zsh = `#compdef esimctl
# esimctl completion for zsh
_esimctl() {
  local line
  local -a found
  for line in "\${(@f)$(esimctl completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -z $line ]] && continue
    if [[ $line == :files ]]; then
      _files
      return
    fi
    found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
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
export const scripts: Readonly<Record<(typeof shells)[number], string>> = { bash, zsh, fish };
