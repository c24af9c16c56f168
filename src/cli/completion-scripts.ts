import { type Flag, type Node, type Shell, type Value } from './completion.ts';

/** A script that completes the command line, for one shell. What only the program knows is asked for by `completion --words`. */
export function completionScript(shell: Shell, tree: Node): string {
  switch (shell) {
    case 'bash': return bash(tree);
    case 'zsh': return zsh(tree);
    case 'fish': return fish(tree);
  }
}

const all = (node: Node): readonly Node[] => [node, ...node.children.flatMap(all)];
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const pathOf = ({ path }: Node): string => path.join(' ');
const wordsOf = ({ flags }: Node): string => flags.flatMap(({ names }) => names).join(' ');

/** Lines of a `case` over "command flag" that answer what follows a flag. */
function cases(tree: Node, answer: (value: Value) => string): readonly string[] {
  return all(tree).flatMap((node) => node.flags.filter(({ value }) => value !== undefined && value !== 'any')
    .map(({ names, value = 'any' }) => `    ${names.map((name) => `'${`${pathOf(node)} ${name}`.trim()}'`).join('|')}) ${answer(value)}; return ;;`));
}

/** Flags whose value nobody can guess: nothing is offered behind them. */
function silent(tree: Node): readonly string[] {
  const names = all(tree).flatMap((node) => node.flags.filter(({ value, optional }) => value === 'any' && !optional).flatMap((flag) => flag.names.map((name) => `'${`${pathOf(node)} ${name}`.trim()}'`)));
  return names.length === 0 ? [] : [`    ${names.join('|')}) return ;;`];
}

function bash(tree: Node): string {
  const answer = (value: Value): string => {
    if (value === 'files') return '_pinion_paths -f';
    if (value === 'folders') return '_pinion_paths -d';
    return typeof value === 'string' ? `_pinion_words "$("\${COMP_WORDS[0]}" completion --words ${value} 2>/dev/null | cut -f1)"` : `_pinion_words ${quote(value.join(' '))}`;
  };
  return `# Completion of pinion for bash: eval "$(pinion completion bash)"
_pinion_words() {
  local word
  COMPREPLY=()
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -W "$1" -- "$cur")
}
_pinion_paths() {
  local path
  COMPREPLY=()
  type compopt >/dev/null 2>&1 && compopt -o filenames
  while IFS= read -r path; do COMPREPLY+=("$path"); done < <(compgen "$1" -- "$cur")
}
_pinion() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" sub='' i
  COMPREPLY=()
  # bash takes --flag=value for three words.
  if [ "$cur" = '=' ]; then cur=''; elif [ "$prev" = '=' ]; then prev="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  for ((i = 1; i < COMP_CWORD; i++)); do [ "\${COMP_WORDS[i]}" = '--' ] && return; done
  if [ "$COMP_CWORD" -gt 1 ]; then
    case "\${COMP_WORDS[1]}" in ${tree.children.map(({ path }) => path[0] ?? '').join('|')}) sub="\${COMP_WORDS[1]}" ;; esac
  fi
  if [ -n "$sub" ] && [ "$COMP_CWORD" -gt 2 ]; then
    case "$sub \${COMP_WORDS[2]}" in ${tree.children.flatMap(({ children }) => children).map((node) => `'${pathOf(node)}'`).join('|')}) sub="$sub \${COMP_WORDS[2]}" ;; esac
  fi
  case "\${sub:+$sub }$prev" in
${[...cases(tree, answer), ...silent(tree)].join('\n')}
  esac
  case "$cur" in
    -*) case "$sub" in
${all(tree).map((node) => `      '${pathOf(node)}') _pinion_words ${quote(wordsOf(node))} ;;`).join('\n')}
    esac; return ;;
  esac
  case "$sub" in
${all(tree).flatMap((node) => following(node).map((value) => `    '${pathOf(node)}') ${node.path.length === 0 ? '[ "$COMP_CWORD" -eq 1 ] && ' : `[ "$COMP_CWORD" -eq ${node.path.length + 1} ] && `}${answer(value)} ;;`)).join('\n')}
  esac
}
complete -F _pinion pinion
`;
}

/** What may stand behind a command as its first word. */
function following(node: Node): readonly Value[] {
  if (node.children.length > 0) return [node.children.map(({ path }) => path.at(-1) ?? '')];
  return node.argument === 'any' ? [] : [node.argument];
}

function zsh(tree: Node): string {
  const answer = (value: Value): string => {
    if (value === 'files') return '_files';
    if (value === 'folders') return '_files -/';
    return typeof value === 'string' ? `_pinion_asked ${value}` : `compadd -- ${value.map(quote).join(' ')}`;
  };
  const described = (node: Node): string => node.flags.flatMap(({ names, what }) => names.map((name) => quote(`${name}:${what.replaceAll(':', '\\:')}`))).join(' ');
  return `#compdef pinion
# Completion of pinion for zsh: eval "$(pinion completion zsh)"
_pinion_asked() {
  local -a lines
  lines=("\${(@f)$("\${words[1]}" completion --words $1 2>/dev/null)}")
  lines=("\${(@)lines//:/\\\\:}")
  lines=("\${(@)lines/$'\\t'/:}")
  _describe -V $1 lines
}
_pinion() {
  local cur="\${words[CURRENT]}" prev="\${words[CURRENT-1]}" sub=''
  local -a flags
  (( \${words[(I)--]} > 0 && \${words[(I)--]} < CURRENT )) && return
  if [[ $cur == --*=* ]]; then prev="\${cur%%=*}"; compset -P '*='; fi
  if (( CURRENT > 2 )); then
    case "\${words[2]}" in ${tree.children.map(({ path }) => path[0] ?? '').join('|')}) sub="\${words[2]}" ;; esac
  fi
  if [[ -n $sub ]] && (( CURRENT > 3 )); then
    case "$sub \${words[3]}" in ${tree.children.flatMap(({ children }) => children).map((node) => quote(pathOf(node))).join('|')}) sub="$sub \${words[3]}" ;; esac
  fi
  case "\${sub:+$sub }$prev" in
${[...cases(tree, answer), ...silent(tree)].join('\n')}
  esac
  if [[ $cur == -* ]]; then
    case "$sub" in
${all(tree).map((node) => `      ${quote(pathOf(node))}) flags=(${described(node)}) ;;`).join('\n')}
    esac
    _describe flag flags
    return
  fi
  case "$sub" in
${all(tree).flatMap((node) => following(node).map((value) => `    ${quote(pathOf(node))}) (( CURRENT == ${node.path.length + 2} )) && ${answer(value)} ;;`)).join('\n')}
  esac
}
if [ "$funcstack[1]" = "_pinion" ]; then _pinion "$@"; else compdef _pinion pinion; fi
`;
}

function fish(tree: Node): string {
  const answer = (value: Value): string => {
    if (value === 'files') return '-r -F';
    if (value === 'folders') return `-x -a '(__fish_complete_directories)'`;
    if (value === 'any') return '-x';
    return typeof value === 'string' ? `-x -a '(pinion completion --words ${value} 2>/dev/null)'` : `-x -a ${fishQuote(value.join(' '))}`;
  };
  const flag = (node: Node, { names, what, value }: Flag): string => {
    const short = names.find((name) => /^-[^-]/.test(name));
    const long = names.find((name) => name.startsWith('--'));
    return ['complete -c pinion', `-n ${fishQuote(condition(node, tree))}`, ...(short === undefined ? [] : [`-s ${short.slice(1)}`]), ...(long === undefined ? [] : [`-l ${long.slice(2)}`]), `-d ${fishQuote(what)}`, ...(value === undefined ? [] : [answer(value)])].join(' ');
  };
  const words = (node: Node): readonly string[] => (node.children.length > 0
    ? node.children.map((child) => `complete -c pinion -n ${fishQuote(`${condition(node, tree)}; and test (count (commandline -opc)) -eq ${node.path.length + 1}`)} -a ${child.path.at(-1) ?? ''} -d ${fishQuote(child.what)}`)
    : node.argument === 'any' ? [] : [`complete -c pinion -n ${fishQuote(condition(node, tree))} ${answer(node.argument)}`]);
  return `# Completion of pinion for fish: pinion completion fish > ~/.config/fish/completions/pinion.fish
complete -c pinion -f
${all(tree).flatMap((node) => [...words(node), ...node.flags.map((one) => flag(node, one))]).join('\n')}
`;
}

const fishQuote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** Whether the words before belong to this command. */
function condition({ path, children }: Node, tree: Node): string {
  const [first, second] = path;
  if (first === undefined) return `not __fish_seen_subcommand_from ${tree.children.map((child) => child.path[0] ?? '').join(' ')}`;
  if (second !== undefined) return `__fish_seen_subcommand_from ${first}; and __fish_seen_subcommand_from ${second}`;
  return children.length === 0 ? `__fish_seen_subcommand_from ${first}` : `__fish_seen_subcommand_from ${first}; and not __fish_seen_subcommand_from ${children.map((child) => child.path.at(-1) ?? '').join(' ')}`;
}
