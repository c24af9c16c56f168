import { nearest } from '#lib/nearest.ts';
import { oneLine } from '#lib/names.ts';
import { tokens } from '#lib/numbers.ts';
import { count } from '#lib/text.ts';
import type { AgentType, LiveAgent, Member } from '#domain/agents.ts';
import type { Card, CardBlock } from '#domain/card.ts';
import { type CommandContext, defineCommand, type Effect } from '#domain/command.ts';

const FROM = { builtIn: 'built in', user: 'yours', project: 'project' } as const;

/** Who works, who waits for messages, and which types there are. */
export default defineCommand({
  id: 'agents',
  group: 'At work',
  summary: 'Sub-agents: who does what, and which types there are; with a name: that type',
  usage: '[<type>]',
  anytime: true,
  complete: async (args, { agents }) => (/^\s*\S*$/.test(args) ? (await agents().catch(() => [])).map(({ name }) => name) : []),
  async run(args, context): Promise<Effect> {
    const types = await context.agents();
    const name = args.trim();
    if (name === '') return { type: 'show', card: listCard(types, context.team()) };
    const type = types.find((one) => one.name.toLowerCase() === name.toLowerCase());
    if (type !== undefined) return { type: 'show', card: typeCard(type) };
    const near = nearest(name, types.map((one) => one.name));
    return { type: 'refuse', message: `There is no type of sub-agent ${oneLine(name, 40)}. ${near === undefined ? `There are ${types.map((one) => one.name).join(', ') || 'none'}.` : `Did you mean ${near}?`}` };
  },
});

function listCard(types: readonly AgentType[], { working, members, problems }: ReturnType<CommandContext['team']>): Card {
  const waiting = members.filter(({ state }) => state !== 'working');
  const rows = [...working.map(workingRow), ...waiting.map(waitingRow)];
  return {
    title: 'Agents', detail: `${working.length} at work, ${count(types.length, 'type')}`,
    body: [
      ...(rows.length === 0 ? [] : [{ type: 'table', head: ['who', 'is at', 'task'], rows } as const]),
      { type: 'table', head: ['type', 'from', 'for'], rows: types.map(({ name, scope, description }) => [name, FROM[scope], description]) },
      ...(problems.length === 0 ? [] : [{ type: 'list', items: problems } as const]),
      { type: 'text', text: 'The model starts them (Task); name one with @agent-… to have it used. Yours are Markdown files in .claude/agents or .pinion/agents.' },
    ],
  };
}

function workingRow({ id, name, type, title, steps, tokens: weight, doing }: LiveAgent): readonly string[] {
  return [`${name ?? id} (${oneLine(type, 40)})`, `${oneLine(doing, 60)} (${count(steps, 'step')}${weight === 0 ? '' : `, ${tokens(weight)} tokens`})`, oneLine(title, 80)];
}

function waitingRow({ name, type, title, state }: Member): readonly string[] {
  return [`${name} (${oneLine(type, 40)})`, state === 'idle' ? 'waits for messages' : 'has ended', oneLine(title, 80)];
}

function typeCard({ name, scope, description, tools, disallowedTools, model, mode, effort, maxSteps, reminder, file, prompt }: AgentType): Card {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['from', file ?? FROM[scope]],
    ['tools', tools === undefined ? 'all that a sub-agent may have' : tools.join(', ') || 'none'],
    ['without', disallowedTools.length === 0 ? undefined : disallowedTools.join(', ')],
    ['model', model === undefined ? 'that of the conversation' : model === 'cheap' ? 'a small one' : model],
    ['effort', effort],
    ['mode', mode === undefined ? undefined : `${mode}, where the conversation has no less`],
    ['steps', maxSteps === undefined ? undefined : `${maxSteps} at most`],
    ['repeated', reminder],
  ];
  const table: CardBlock = { type: 'table', head: ['', ''], rows: rows.flatMap(([what, value]) => (value === undefined ? [] : [[what, oneLine(value, 400)]])) };
  return { title: name, ...(description !== '' && { detail: description }), body: [table, { type: 'markdown', text: prompt.trim() }] };
}
