import type { Command, Effect } from '#domain/command.ts';
import type { McpPrompt } from '#domain/mcp.ts';
import { oneLine } from '#lib/names.ts';
import { cutToLength } from '#lib/text.ts';
import type { McpWing } from './wire-mcp.ts';

const LONGEST_SUMMARY = 100;

/** Prompts of connected MCP servers as slash commands. A command of ours or of the user's goes before one of the same name. */
export function withPrompts(commands: readonly Command[], mcp: Pick<McpWing, 'prompts' | 'prompt'>): readonly Command[] {
  const taken = new Set(commands.flatMap(({ id, aliases = [] }) => [id, ...aliases]));
  return [...commands, ...mcp.prompts().filter(({ command }) => !taken.has(command)).map(({ command, prompt }) => commandOf(command, prompt, mcp))];
}

function commandOf(id: string, prompt: McpPrompt, mcp: Pick<McpWing, 'prompt'>): Command {
  const said = cutToLength(oneLine(prompt.description.split('\n', 1)[0] ?? '', 2 * LONGEST_SUMMARY), LONGEST_SUMMARY);
  const usage = prompt.args.map(({ name, required }) => (required ? `<${oneLine(name, 40)}>` : `[${oneLine(name, 40)}]`)).join(' ');
  return {
    id, summary: `${said === '' ? 'a prompt' : said} (prompt of the MCP server ${oneLine(prompt.server, 40)})`, ...(usage !== '' && { usage }),
    complete: (typed) => prompt.args.filter(({ name }) => !typed.includes(`${name}=`)).map(({ name }) => `${name}=`),
    run: (typed) => fill(id, typed, prompt, mcp),
  };
}

/** What the server says does not count as the user's mentions; what they typed does. */
async function fill(id: string, typed: string, prompt: McpPrompt, mcp: Pick<McpWing, 'prompt'>): Promise<Effect> {
  const { promptArguments } = await import('#mcp/arguments.ts');
  const read = promptArguments(prompt, typed);
  if ('problem' in read) return { type: 'refuse', message: `/${id}: ${read.problem}` };
  const filled = await mcp.prompt(prompt.server, prompt.name, read.args, new AbortController().signal);
  if ('problem' in filled) return { type: 'refuse', message: `/${id}: ${filled.problem}` };
  return { type: 'submit', prompt: filled.text, shown: `/${id}${typed.trim() === '' ? '' : ` ${typed.trim()}`}`, mentions: typed };
}
