import type { Command } from '#domain/command.ts';
import type { Event } from '#domain/entry.ts';
import type { McpPrompt } from '#domain/mcp.ts';
import type { Outcome } from '#domain/ports.ts';
import { oneLine } from '#lib/names.ts';
import { cutToLength } from '#lib/text.ts';
import type { PromptBody } from '#loop/query.ts';
import type { McpWing } from './wire-mcp.ts';

const LONGEST_SUMMARY = 100;

/** Prompts of connected MCP servers as slash commands. A command of ours or of the user's goes before one of the same name. */
export function withPrompts(commands: readonly Command[], mcp: Pick<McpWing, 'prompts'>): readonly Command[] {
  const taken = new Set(commands.flatMap(({ id, aliases = [] }) => [id, ...aliases]));
  return [...commands, ...mcp.prompts().filter(({ command }) => !taken.has(command)).map(({ command, prompt }) => commandOf(command, prompt))];
}

function commandOf(id: string, prompt: McpPrompt): Command {
  const said = cutToLength(oneLine(prompt.description.split('\n', 1)[0] ?? '', 2 * LONGEST_SUMMARY), LONGEST_SUMMARY);
  const usage = prompt.args.map(({ name, required }) => (required ? `<${oneLine(name, 40)}>` : `[${oneLine(name, 40)}]`)).join(' ');
  return {
    id, summary: `${said === '' ? 'a prompt' : said} (prompt of the MCP server ${oneLine(prompt.server, 40)})`, ...(usage !== '' && { usage }),
    complete: (typed) => prompt.args.filter(({ name }) => !typed.includes(`${name}=`)).map(({ name }) => `${name}=`),
    run: (args) => ({ type: 'invoke', skill: id, args }),
  };
}

export interface PromptTurn {
  readonly prompt: McpPrompt;
  readonly args: string;
  /** What the user entered. */
  readonly line: string;
}

/** A turn whose prompt is what a server makes of its arguments. What the server says holds no mentions of the user's; what they typed does. */
export async function* promptTurn({ prompt, args: typed, line }: PromptTurn, mcp: Pick<McpWing, 'prompt'>, begin: (body: PromptBody) => AsyncGenerator<Event, Outcome>, signal: AbortSignal, refuse: (message: string) => void): AsyncGenerator<Event, Outcome> {
  const { promptArguments } = await import('#mcp/arguments.ts');
  const read = promptArguments(prompt, typed);
  if ('problem' in read) {
    refuse(read.problem);
    return { kind: 'answered' };
  }
  yield { type: 'doing', what: `asking ${oneLine(prompt.server, 40)} for its prompt` };
  const filled = await mcp.prompt(prompt.server, prompt.name, read.args, signal);
  if (signal.aborted) {
    refuse('interrupted; nothing was sent.');
    return { kind: 'interrupted' };
  }
  if ('problem' in filled) {
    refuse(filled.problem);
    return { kind: 'answered' };
  }
  return yield* begin({ text: filled.text, shown: line, mentions: typed });
}
