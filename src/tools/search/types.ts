/** What `type` of Grep stands for: globs of file names. Ours, so that it does not hang on which ripgrep is there. */
export const FILE_TYPES: Readonly<Record<string, readonly string[]>> = {
  c: ['*.c', '*.h'], cpp: ['*.cpp', '*.cc', '*.cxx', '*.hpp', '*.hh', '*.hxx', '*.h'], cs: ['*.cs'], css: ['*.css', '*.scss', '*.sass', '*.less'],
  dart: ['*.dart'], docker: ['Dockerfile', '*.dockerfile'], elixir: ['*.ex', '*.exs'], go: ['*.go'], graphql: ['*.graphql', '*.gql'],
  haskell: ['*.hs'], html: ['*.html', '*.htm'], java: ['*.java'], js: ['*.js', '*.jsx', '*.mjs', '*.cjs', '*.vue'], json: ['*.json', '*.jsonc', '*.jsonl'],
  kotlin: ['*.kt', '*.kts'], lua: ['*.lua'], make: ['Makefile', 'makefile', '*.mk'], md: ['*.md', '*.mdx', '*.markdown'], php: ['*.php'],
  proto: ['*.proto'], py: ['*.py', '*.pyi'], ruby: ['*.rb', 'Gemfile', 'Rakefile'], rust: ['*.rs'], scala: ['*.scala'], sh: ['*.sh', '*.bash', '*.zsh'],
  sql: ['*.sql'], swift: ['*.swift'], tf: ['*.tf', '*.tfvars'], toml: ['*.toml'], ts: ['*.ts', '*.tsx', '*.mts', '*.cts'], txt: ['*.txt'], xml: ['*.xml'],
  yaml: ['*.yaml', '*.yml'], zig: ['*.zig'],
};

/** Other names for the same. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  python: 'py', typescript: 'ts', javascript: 'js', tsx: 'ts', jsx: 'js', markdown: 'md', rs: 'rust', rb: 'ruby', golang: 'go', bash: 'sh', shell: 'sh', yml: 'yaml', csharp: 'cs', terraform: 'tf',
};

export function namesOfType(type: string): readonly string[] | undefined {
  const name = type.toLowerCase();
  const known = OTHER_NAMES[name] ?? name;
  return Object.hasOwn(FILE_TYPES, known) ? FILE_TYPES[known] : undefined;
}
