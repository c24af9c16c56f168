import type { Finding } from './found.ts';

type List = 'allow' | 'ask' | 'deny';

/** What a tool of another shell is called here; `workspace`: allowed there, it works in the project only. */
interface Counterpart {
  readonly tool: string;
  readonly workspace?: true;
}

const TOOLS: Readonly<Record<string, Counterpart>> = {
  run_shell_command: { tool: 'Bash' }, shelltool: { tool: 'Bash' }, bash: { tool: 'Bash' }, shell: { tool: 'Bash' },
  write_file: { tool: 'Edit', workspace: true }, replace: { tool: 'Edit', workspace: true }, edit: { tool: 'Edit', workspace: true }, write: { tool: 'Edit', workspace: true }, multiedit: { tool: 'Edit', workspace: true }, patch: { tool: 'Edit', workspace: true },
  read_file: { tool: 'Read', workspace: true }, read_many_files: { tool: 'Read', workspace: true }, read: { tool: 'Read', workspace: true }, view: { tool: 'Read', workspace: true },
  list_directory: { tool: 'Glob', workspace: true }, glob: { tool: 'Glob', workspace: true }, ls: { tool: 'Glob', workspace: true }, list: { tool: 'Glob', workspace: true },
  search_file_content: { tool: 'Grep', workspace: true }, grep_search: { tool: 'Grep', workspace: true }, grep: { tool: 'Grep', workspace: true },
  web_fetch: { tool: 'WebFetch' }, webfetch: { tool: 'WebFetch' }, fetch: { tool: 'WebFetch' },
  google_web_search: { tool: 'WebSearch' }, websearch: { tool: 'WebSearch' }, web_search: { tool: 'WebSearch' },
};
/** In the project these never ask. */
const NEVER_ASK: ReadonlySet<string> = new Set(['Read', 'Glob', 'Grep']);
/** What is allowed without a rule. */
export const NEEDLESS: unique symbol = Symbol('needless');
const IN_PROJECT = '(./**)';

/** A rule over a whole tool. Undefined: nothing like it. */
export function toolRule(name: string, list: List): string | undefined | typeof NEEDLESS {
  if (/^mcp__[\w-]+?__[\w-]+$/.test(name)) return name;
  const found = Object.hasOwn(TOOLS, name.toLowerCase()) ? TOOLS[name.toLowerCase()] : undefined;
  if (found === undefined) return undefined;
  if (list !== 'allow') return found.tool;
  if (NEVER_ASK.has(found.tool)) return NEEDLESS;
  return found.workspace === true ? `${found.tool}${IN_PROJECT}` : found.tool;
}

/** What a shell pattern cannot say here: more than one line, brackets that would end the rule, or nothing. */
const UNSAYABLE = /[\r\n\0]|^\s*$/;

/** A rule for commands that begin with these words. To forbid, the words may also be the beginning of a longer one. */
export function commandRule(prefix: string, list: List): string | undefined {
  const words = prefix.trim();
  if (UNSAYABLE.test(words) || words.includes(':*') || /[*?[\]]/.test(words)) return undefined;
  return list === 'deny' ? `Bash(${words}*)` : `Bash(${words}:*)`;
}

/** A rule for commands that fit a pattern in which `*` is anything and `?` one character. */
export function commandPatternRule(pattern: string, list: List): string | undefined {
  const text = pattern.trim();
  if (UNSAYABLE.test(text) || text.includes(':*')) return undefined;
  if (!text.includes('?')) return text === '*' ? 'Bash' : `Bash(${text})`;
  // To allow one character only cannot be said; to forbid any number of them forbids that one too.
  return list === 'allow' ? undefined : `Bash(${text.replaceAll('?', '*')})`;
}

/** A rule for files that fit a pattern in which `*` crosses slashes: narrower to allow, wider to forbid. */
export function pathPatternRule(tool: 'Edit' | 'Read', pattern: string, list: List): string | undefined {
  const text = pattern.trim();
  if (UNSAYABLE.test(text) || text.startsWith('!')) return undefined;
  if (text === '*' || text === '**') return list === 'allow' ? `${tool}${IN_PROJECT}` : tool;
  const anchored = text.replace(/^\$HOME\//, '~/').replace(/^\/(?!\/)/, '//');
  if (list === 'allow') return anchored.includes('/') ? `${tool}(${anchored})` : `${tool}(./${anchored})`;
  return `${tool}(${anchored.includes('/') ? anchored.replaceAll(/\*+/g, '**') : anchored})`;
}

/** Adds a rule where there is one, else says why not. */
export function addRule(rule: string | undefined | typeof NEEDLESS, list: List, what: string, from: string, into: Finding): void {
  if (rule === undefined) into.left.push(`the ${list} rule ${what.slice(0, 80)}: it cannot be said here without meaning more (${from})`);
  else if (rule !== NEEDLESS) into.rules.push({ list, rule, from });
}
