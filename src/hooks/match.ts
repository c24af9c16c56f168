import type { EventRule } from './events.ts';

const NAMES = /^[A-Za-z0-9_ ,|-]*$/;
const NARROW_NAMES = /^[A-Za-z0-9_|]*$/;

/** Names under which other shells know our tools, and those of theirs that are ours by another name. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  Task: ['Agent'], TaskOutput: ['BashOutput', 'AgentOutputTool'], TaskStop: ['KillShell', 'KillBash'],
};

/** All names of a tool, ours first. */
export function namesOf(tool: string): readonly string[] {
  return [tool, ...(Object.hasOwn(ALIASES, tool) ? ALIASES[tool] ?? [] : [])];
}

const AGENTS: Readonly<Record<string, readonly string[]>> = { general: ['general-purpose'], explore: ['Explore'], plan: ['Plan'] };

/** All names of a type of sub-agent, ours first. */
export function agentNames(type: string): readonly string[] {
  return [type, ...(Object.hasOwn(AGENTS, type) ? AGENTS[type] ?? [] : [])];
}

/** Our name for a tool. */
export function ourName(name: string): string {
  return Object.keys(ALIASES).find((tool) => ALIASES[tool]?.includes(name) === true) ?? name;
}

/** A matcher read once: whether it matches a value. `problem`: it is no expression, and matches nothing. */
export type Matcher = { readonly matches: (value: string) => boolean } | { readonly problem: string };

/**
 * Nothing, the empty text and `*` match all; names, or a list of names, match what is equal to one of them; everything else is
 * an expression that is looked for anywhere in the value.
 */
export function matcherOf(text: string, how: EventRule['matcher']): Matcher {
  if (how === 'none' || text === '' || text === '*') return { matches: () => true };
  if ((how === 'names' ? NAMES : NARROW_NAMES).test(text)) {
    const names = new Set(text.split(how === 'names' ? /[|,]/ : '|').map((name) => name.trim()).filter((name) => name !== ''));
    return { matches: (value) => names.has(value) };
  }
  try {
    const expression = new RegExp(text);
    return { matches: (value) => expression.test(value) };
  } catch {
    return { problem: `the matcher "${text}" is neither a list of names nor an expression` };
  }
}
