/**
 * The completion script of each shell. All of them call the program itself, so they know its commands.
 */
export const SCRIPTS = {
  bash: `_workflowctl() {
  local IFS=$'\\n'
  COMPREPLY=($(workflowctl __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _workflowctl workflowctl`,
  zsh: `#compdef workflowctl
_workflowctl() {
  local -a found
  found=("\${(@f)$(workflowctl __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found[1]" ]]; then compadd -- $found; else _files; fi
}
if [[ "$funcstack[1]" == _workflowctl ]]; then _workflowctl "$@"; else compdef _workflowctl workflowctl; fi`,
  fish: `function __workflowctl_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found (workflowctl __complete -- $words[2..-1] 2>/dev/null)
  if test -n "$found"
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c workflowctl -f -a '(__workflowctl_complete)'`,
} as const;
