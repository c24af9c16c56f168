import * as z from 'zod';
import type { AgentEnd } from '#domain/agents.ts';
import type { Card } from '#domain/card.ts';
import { oneLine } from '#lib/names.ts';
import { defineTool } from '../define.ts';
import { flag } from '../fields.ts';
import { done, failed, interrupted } from '../result.ts';
import description from './task.md';

const text = z.string().trim();

const input = z.strictObject({
  subagent_type: text.describe('Type'),
  description: text.describe('3 to 6 words'),
  prompt: text.describe('All it needs to know'),
  name: text.optional().describe('A teammate: it stays, SendMessage reaches it'),
  run_in_background: flag.optional().describe('Its end is told later'),
  model: text.optional().describe('Only if the user names one'),
});

/** Gives a task to a sub-agent. Neighbouring calls run side by side, for all that it does is asked about by itself. */
export const task = defineTool({
  id: 'Task',
  description,
  effect: 'reads',
  threads: 'main',
  input,
  title: titleOf,
  preview: (call) => ({ title: titleOf(call), body: [{ type: 'markdown', text: call.prompt }] }),
  async *run(call, { agents, session, signal, callId }) {
    const { subagent_type: type, description: title, prompt, name, run_in_background: background = false, model } = call;
    if (prompt === '') return failed(titleOf(call), 'Task was called without a prompt: nothing was done.');
    const end = yield* agents.run({ type, title: oneLine(title, 160), prompt, background, ...(name !== undefined && { name }), ...(model !== undefined && { model }), ...(callId !== undefined && { call: callId }) }, session, signal);
    const line = titleOf(call);
    if (end.kind === 'interrupted') return interrupted(line, end.text);
    if (end.kind === 'failed') return failed(line, end.text, { body: bodyOf(end), ...(end.detail !== undefined && { detail: end.detail }) });
    return done(end.text, cardOf(line, end));
  },
});

function titleOf({ subagent_type: type, name, description: what }: z.infer<typeof input>): string {
  return oneLine(`${name ?? type}: ${what}`, 160);
}

function cardOf(title: string, end: AgentEnd): Card {
  return { title, tone: end.kind === 'started' ? 'normal' : 'good', body: bodyOf(end), ...(end.detail !== undefined && { detail: end.detail }) };
}

function bodyOf({ shown = '' }: AgentEnd): Card['body'] {
  return shown === '' ? [] : [{ type: 'markdown', text: shown }];
}
