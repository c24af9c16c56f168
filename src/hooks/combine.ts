import type { EntryBody } from '#domain/entry.ts';
import { sanitise } from '#lib/terminal.ts';
import { type HookAnswer, lineOf } from './answer.ts';
import { shortName } from './read.ts';

/** What all hooks of an event say together. */
export interface Verdicts {
  readonly name: string;
  readonly answers: readonly HookAnswer[];
  /** What the user is to know and what the model is told, in the order of the hooks; reasons of {@link blocks} are not in it. */
  readonly entries: readonly EntryBody[];
  /** Why it is not to go on: who says so, and the reason. */
  readonly blocks: readonly { readonly hook: string; readonly reason: string }[];
  /** The turn ends, with this line for the user. */
  readonly stop?: string;
}

export const NOTHING: Verdicts = { name: '', answers: [], entries: [], blocks: [] };

export function combine(name: string, answers: readonly HookAnswer[]): Verdicts {
  const stop = answers.find((answer) => answer.stop !== undefined);
  return {
    name, answers,
    entries: answers.flatMap((answer) => entriesOf(name, answer)),
    blocks: answers.flatMap(({ hook, block }) => (block === undefined ? [] : [{ hook: shortName(hook.handler), reason: block }])),
    ...(stop?.stop !== undefined && { stop: sanitise(`${stop.stop} (${name} hook ${shortName(stop.hook.handler)})`, { newlines: false }) }),
  };
}

function entriesOf(name: string, { hook, context, message, failure, spent }: HookAnswer): readonly EntryBody[] {
  const who = shortName(hook.handler);
  return [
    ...(spent === undefined ? [] : [spent]),
    ...(context === undefined ? [] : [contextEntry(name, who, context)]),
    ...(message === undefined ? [] : [noticeOf(`${who}: ${message}`)]),
    ...(failure === undefined ? [] : [noticeOf(`${name} hook ${who} ${failure}`)]),
  ];
}

export function contextEntry(event: string, hook: string, text: string): EntryBody {
  return { type: 'hookContext', event, hook, text };
}

export function noticeOf(text: string): EntryBody {
  return { type: 'notice', level: 'warning', text: sanitise(text.trim()) };
}

/** Reasons of those that object, for the model. */
export function blockEntries({ name, blocks }: Verdicts): readonly EntryBody[] {
  return blocks.map(({ hook, reason }) => contextEntry(name, hook, reason));
}

/** All reasons as one text, each with who gave it. */
export function reasonOf({ name, blocks }: Verdicts): string {
  return blocks.map(({ hook, reason }) => `${name} hook (${hook}): ${reason}`).join('\n');
}

/** The same on one line, for the user. */
export function reasonLine({ name, blocks }: Verdicts): string {
  return sanitise(blocks.map(({ hook, reason }) => `${name} hook ${hook}: ${lineOf(reason)}`).join('; '), { newlines: false });
}

/** The strictest word of all counts. */
export function permissionOf(answers: readonly HookAnswer[]): HookAnswer | undefined {
  for (const one of ['deny', 'defer', 'ask', 'allow'] as const) {
    const found = answers.find(({ permission }) => permission === one);
    if (found !== undefined) return found;
  }
  return undefined;
}
