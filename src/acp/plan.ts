import type { Plan, PlanEntry, PlanEntryStatus } from '@agentclientprotocol/sdk';
import { sanitise } from '#lib/terminal.ts';
import type { TodoItem } from '#domain/attachment.ts';

const STATUS: Readonly<Record<TodoItem['state'], PlanEntryStatus>> = { open: 'pending', active: 'in_progress', done: 'completed' };

/** The todo list as the protocol's plan. */
export function planOfTodos(items: readonly TodoItem[]): Plan {
  return { entries: items.map(({ text, state }): PlanEntry => ({ content: sanitise(text, { newlines: false }), priority: 'medium', status: STATUS[state] })) };
}

const MOST_STEPS = 50;
const ITEM = /^(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(\S.*)$/;

/** The steps of a plan in Markdown: its list items that stand in no other; without any its first line of text. */
export function planOfText(text: string): Plan {
  const lines = text.split(/\r?\n/);
  const items = lines.flatMap((line) => ITEM.exec(line)?.[1] ?? []).slice(0, MOST_STEPS);
  const first = lines.map((line) => line.replace(/^#+\s*/, '').trim()).find((line) => line !== '');
  return { entries: (items.length > 0 ? items : first === undefined ? [] : [first]).map((item): PlanEntry => ({ content: sanitise(item.trim(), { newlines: false }), priority: 'medium', status: 'pending' })) };
}
