import type { McpPrompt } from '#domain/mcp.ts';
import { oneLine } from '#lib/names.ts';

/**
 * The arguments of a prompt out of what was typed: `name=value` where there is one of that name, all else in order; quotes hold
 * blanks together. What is left over goes to the last one. `problem`: one line, what is missing.
 */
export function promptArguments(prompt: McpPrompt, typed: string): { readonly args: Readonly<Record<string, string>> } | { readonly problem: string } {
  const args: Record<string, string> = {};
  const loose: string[] = [];
  for (const word of wordsOf(typed)) {
    const [, name, value] = /^([^=\s"']+)=([\s\S]*)$/.exec(word) ?? [];
    const known = name !== undefined && prompt.args.some((arg) => arg.name === name);
    if (known && value !== undefined) args[name] = unquoted(value);
    else loose.push(unquoted(word));
  }
  const open = prompt.args.filter(({ name }) => !Object.hasOwn(args, name));
  for (const [index, { name }] of open.entries()) {
    const value = index === open.length - 1 ? loose.slice(index).join(' ') : loose[index];
    if (value !== undefined && value !== '') args[name] = value;
  }
  const left = open.length === 0 ? loose : [];
  const missing = prompt.args.filter(({ name, required }) => required && !Object.hasOwn(args, name)).map(({ name }) => oneLine(name, 60));
  if (missing.length > 0) return { problem: `it wants ${missing.join(', ')}: ${usageOf(prompt)}` };
  return left.length > 0 ? { problem: `it takes ${prompt.args.length === 0 ? 'no arguments' : usageOf(prompt)}; "${oneLine(left.join(' '), 60)}" is too much.` } : { args };
}

function usageOf({ args }: McpPrompt): string {
  return args.map(({ name, required }) => (required ? `<${oneLine(name, 60)}>` : `[${oneLine(name, 60)}]`)).join(' ');
}

/** Split at blanks outside of quotes; the quotes stay. */
function wordsOf(text: string): readonly string[] {
  return text.match(/(?:"(?:\\.|[^"\\])*"|'[^']*'|[^\s"']|["'])+/g) ?? [];
}

function unquoted(word: string): string {
  const quoted = /^"((?:\\.|[^"\\])*)"$|^'([^']*)'$/.exec(word);
  return quoted === null ? word : quoted[1]?.replaceAll(/\\(["\\])/g, '$1') ?? quoted[2] ?? '';
}
