import type { ScopedRule } from '#domain/settings.ts';
import { visibleLine } from './visible.ts';

/** The three lists of rules. Deny is looked at first, then ask, then allow. */
export interface RuleSet {
  readonly allow: readonly ScopedRule[];
  readonly ask: readonly ScopedRule[];
  readonly deny: readonly ScopedRule[];
}
export type RuleList = keyof RuleSet;

/** A rule that could be read. Without `spec` it covers the whole tool. */
export interface Rule {
  readonly source: ScopedRule;
  readonly tool: string;
  readonly spec: string | undefined;
}

/** A rule that could not. Where `tool` is undefined nobody can say what it was to cover. */
export interface BrokenRule {
  readonly source: ScopedRule;
  readonly tool: string | undefined;
  readonly problem: string;
}

export interface ReadRules {
  readonly rules: readonly Rule[];
  readonly broken: readonly BrokenRule[];
}

/** Tools whose specifier is a path pattern, and what their rules govern. */
export const PATH_TOOLS: Readonly<Record<string, 'read' | 'write'>> = {
  Read: 'read', Glob: 'read', Grep: 'read', LSP: 'read', LS: 'read', NotebookRead: 'read',
  Edit: 'write', Write: 'write', NotebookEdit: 'write', MultiEdit: 'write',
};
const WITH_SPEC = new Set([...Object.keys(PATH_TOOLS), 'Bash', 'WebFetch', 'Task', 'Agent', 'Skill', 'Cd']);
const KNOWN = new Map([...WITH_SPEC, 'WebSearch', 'TodoWrite'].map((name) => [name.toLowerCase(), name]));
const PARAMETER = /^[A-Za-z_]\w*:./;

/**
 * Reads one list. A rule that cannot be used is reported, not dropped in silence: in `allow` it grants nothing, in `deny` and
 * `ask` whatever it may have meant is asked about.
 */
export function readRules(rules: readonly ScopedRule[], list: RuleList): ReadRules {
  const good: Rule[] = [];
  const broken: BrokenRule[] = [];
  for (const source of rules) {
    const read = readOne(source, list);
    if ('problem' in read) broken.push(read);
    else good.push(read);
  }
  return { rules: good, broken };
}

/** One line for each rule that cannot be used: where it stands, what it says, what is wrong with it. */
export function ruleProblems(rules: RuleSet): readonly string[] {
  return (['deny', 'ask', 'allow'] as const).flatMap((list) => readRules(rules[list], list).broken.map(({ source, problem, tool }) => {
    const until = list === 'allow' ? 'It grants nothing.' : `Until it is mended, ${tool === undefined ? 'every call' : `every ${tool} call`} is asked about.`;
    return `${whereOf(source)}: the ${list} rule "${visibleLine(source.rule)}" cannot be used: ${problem}. ${until}`;
  }));
}

/** Where a rule was written, for a person. */
export function whereOf(source: ScopedRule): string {
  if (source.file !== undefined) return source.file;
  switch (source.scope) {
    case 'user': return 'user settings';
    case 'project': return `settings of ${source.root}`;
    case 'local': return `local settings of ${source.root}`;
    case 'session': return 'this session';
    case 'flag': return 'command line';
  }
}

function readOne(source: ScopedRule, list: RuleList): Rule | BrokenRule {
  const text = source.rule.trim();
  const open = text.indexOf('(');
  const written = open < 0 ? text : text.slice(0, open).trim();
  const name = KNOWN.get(written.toLowerCase()) ?? written;
  if (!/^[A-Za-z][\w.*-]*$/.test(name)) return { source, tool: undefined, problem: 'it must begin with the name of a tool, as in Bash(npm test)' };
  const fail = (problem: string): BrokenRule => ({ source, tool: name.includes('*') ? undefined : name, problem });
  const badName = nameProblem(name, list);
  if (badName !== undefined) return fail(badName);
  if (open < 0) return text.includes(')') ? fail('it has a closing bracket too many') : { source, tool: name, spec: undefined };
  if (!text.endsWith(')')) return fail('the bracket after the tool is not closed');
  const spec = text.slice(open + 1, -1).trim();
  if (spec === '') return fail('the brackets are empty; leave them out to mean the whole tool');
  const problem = specProblem(name, spec, list);
  return problem === undefined ? { source, tool: name, spec: spec === '*' || spec === '**' ? undefined : spec } : fail(problem);
}

function nameProblem(name: string, list: RuleList): string | undefined {
  if (!name.includes('*')) return undefined;
  if (list === 'allow' && !/^mcp__[^*]+__/.test(name)) return 'a `*` in the name of a tool may only follow mcp__server__';
  return undefined;
}

function specProblem(tool: string, spec: string, list: RuleList): string | undefined {
  if (spec.includes('\0') || /[\r\n]/.test(spec)) return 'it runs over more than one line';
  if (list !== 'allow' && PARAMETER.test(spec) && tool !== 'Bash' && PATH_TOOLS[tool] === undefined) return undefined;
  if (PATH_TOOLS[tool] !== undefined) return spec.startsWith('!') ? 'a pattern that begins with ! takes back what another rule says, which no rule can' : undefined;
  if (tool === 'Bash') return commandProblem(spec);
  if (tool === 'WebFetch') return /^domain:[^\s/]+$/.test(spec) ? undefined : 'it must be of the form WebFetch(domain:example.com)';
  if (WITH_SPEC.has(tool)) return undefined;
  return `${tool} takes nothing in brackets`;
}

function commandProblem(spec: string): string | undefined {
  const prefix = spec.endsWith(':*') ? spec.slice(0, -2) : spec;
  if (prefix.trim() === '') return 'there is no command before :*';
  return prefix.includes(':*') ? '`:*` may only stand at its end' : undefined;
}
