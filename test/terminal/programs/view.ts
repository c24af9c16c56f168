// The screen with a scripted controller: what is submitted says what is to be seen. What was submitted goes to a file at the end.
import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Card } from '#domain/card.ts';
import { NO_USAGE } from '#domain/content.ts';
import type { Entry, EntryBody, EntryId } from '#domain/entry.ts';
import type { ChoiceQuestion } from '#domain/ports.ts';
import type { CallId } from '#domain/tool.ts';
import { width } from '#lib/terminal.ts';
import { createComposer } from '#ui/composer-store.ts';
import type { Controller } from '#ui/contract.ts';
import { keyTable } from '#ui/keys.ts';
import { startScreen } from '#ui/start.tsx';
import { openTerminal } from '#ui/terminal.ts';
import { themeOf } from '#ui/theme.ts';

const record = process.argv[2] ?? '';
let next = 0;
let stopping: AbortController | undefined;
const tell = (line: string): void => { appendFileSync(record, `${line}\n`); };
const entry = (body: EntryBody): void => { screen.dispatch({ type: 'entry', entry: { ...body, id: `e${next++}` as EntryId, at: '' } as Entry }); };

async function answer(text: string, signal: AbortSignal): Promise<void> {
  let sent = '';
  for (const part of text.match(/[^]{1,25}/g) ?? []) {
    if (signal.aborted) break;
    screen.dispatch({ type: 'textDelta', text: part });
    sent += part;
    await pause(1);
  }
  entry({ type: 'assistant', content: [{ type: 'text', text: sent }], usage: { ...NO_USAGE, output: 400 }, stop: signal.aborted ? 'interrupted' : 'end_turn', model: 'm' });
}

const PLAN = `# Light the lamp\n\n${Array.from({ length: 40 }, (_, i) => `${i + 1}. do *thing ${i + 1}*`).join('\n')}\n`;
const QUESTIONS: readonly ChoiceQuestion[] = [
  { header: 'Library', question: 'Which library?', several: false, options: [{ label: 'ink', description: 'as before' }, { label: 'own', description: '' }] },
  { header: 'Parts', question: 'Which parts?', several: true, options: ['a', 'b', 'c'].map((label) => ({ label, description: `part ${label}` })) },
];
/** Number of the entry behind the queued ones. */
let queued = 0;
const gone = new Set<string>();

/** Three sub-agents at once, each telling what it does ten times, ending one after the other. */
async function agents(): Promise<void> {
  const ids = ['a', 'b', 'c'].map((id) => id as CallId);
  const cardOf = (id: string): Card => ({ title: `Task explore: look for ${id} in all the files there are`, body: [] });
  for (const id of ids) screen.dispatch({ type: 'toolStarted', call: { id, tool: 'Task', input: {} }, card: cardOf(id) });
  for (let step = 1; step <= 10; step += 1) {
    for (const id of ids) screen.dispatch({ type: 'toolProgress', callId: id, text: `${step} steps · ${step}k tokens · Read ${id}${step}.ts` });
    await pause(30);
  }
  for (const id of ids) {
    entry({ type: 'toolResult', callId: id, tool: 'Task', result: { kind: 'ok', content: [], card: { ...cardOf(id), body: [{ type: 'text', text: `found ${id}` }] } } });
    await pause(30);
  }
}

async function turn(text: string): Promise<void> {
  stopping = new AbortController();
  screen.dispatch({ type: 'busy', since: Date.now() });
  entry({ type: 'prompt', text });
  const card: Card = { title: 'Bash make', body: [{ type: 'code', text: Array.from({ length: 40 }, (_, i) => `step ${i}`).join('\n') }] };
  const call = { id: 'c' as CallId, tool: 'Bash', input: {} };
  if (text.startsWith('paragraphs')) await answer(Array.from({ length: 200 }, (_, i) => `P${i} begins here\nP${i} ends here.`).join('\n\n'), stopping.signal);
  else if (text.startsWith('list')) await answer(Array.from({ length: 400 }, (_, i) => `${i + 1}. L${i} item`).join('\n'), stopping.signal);
  else if (text.startsWith('code')) await answer(`\`\`\`ts\n${Array.from({ length: 400 }, (_, i) => `const c${i}x = ${i};`).join('\n')}\n\`\`\``, stopping.signal);
  else if (text === 'ask') return screen.dispatch({ type: 'ask', id: 1, question: { kind: 'permission', call, card, reason: 'It runs a program.', rules: ['Bash(make)'], keep: 'local' } });
  else if (text === 'plan') return screen.dispatch({ type: 'ask', id: 4, question: { kind: 'plan', file: '/p/plans/lamp.md', plan: PLAN } });
  else if (text === 'choices') {
    for (const [id, who] of [[5, 'explore'], [6, 'plan']] as const) screen.dispatch({ type: 'ask', id, question: { kind: 'choices', who, questions: QUESTIONS } });
    return undefined;
  } else if (text === 'agents') await agents();
  else if (text === 'edit') return screen.dispatch({ type: 'edit', id: 8, file: `${record}-notes.md` });
  else if (text === 'queue') {
    for (const words of ['first words', 'second words', `third ${'long '.repeat(40)}`]) entry({ type: 'queued', text: words });
    screen.dispatch({ type: 'held', lines: [{ id: 'h1', text: '/clear' }] });
    queued = next;
    return undefined;
  } else if (text === 'pick') return screen.dispatch({ type: 'pick', id: 2, picker: { title: 'Sessions', items: Array.from({ length: 40 }, (_, i) => ({ id: `s${i}`, label: `session ${i}` })) } });
  else if (text === 'secret') return screen.dispatch({ type: 'secret', id: 3, title: 'API key', hint: 'kept in a file' });
  else if (text === 'tool') {
    screen.dispatch({ type: 'toolStarted', call, card });
    screen.dispatch({ type: 'toolProgress', callId: call.id, text: 'half done' });
    await pause(300);
    entry({ type: 'toolResult', callId: call.id, tool: 'Bash', result: { kind: 'ok', content: [], card } });
  }
  screen.dispatch({ type: 'idle' });
}

const settled = (line: string): void => {
  tell(line);
  entry({ type: 'notice', level: 'info', text: line });
  screen.dispatch({ type: 'idle' });
};
let busy = Promise.resolve();
const controller: Controller = {
  submit(text) {
    tell(text);
    if (text !== '/exit') busy = busy.then(() => turn(text));
    else void busy.then(() => { controller.exit(); });
  },
  background: () => false, interrupt: () => { stopping?.abort(); return true; },
  cycleMode: () => undefined,
  takeBack: () => undefined,
  answer: (_, given) => { settled(`answer ${JSON.stringify(given)}`); },
  pick: (_, item) => { settled(`picked ${item}`); },
  queue() {
    screen.dispatch({ type: 'queue', id: 9, items: [0, 1, 2].map((i) => ({ id: `e${queued - 3 + i}`, text: ['first words', 'second words', 'third long'][i] ?? '' })).concat({ id: 'h1', text: '/clear' }).filter(({ id }) => !gone.has(id)) });
    return true;
  },
  chosen(_, choice) {
    if (choice?.how === 'edit') screen.dispatch({ type: 'draft', text: `taken ${choice.id}` });
    if (choice !== undefined) gone.add(choice.id);
    if (choice !== undefined) entry({ type: 'unqueued', target: choice.id as EntryId });
    settled(`chosen ${choice?.how}`);
  },
  edited: (_, problem) => { settled(`edited ${problem}`); },
  secret: (_, text) => { settled(`secret of ${text?.length}`); },
  completeFile: () => Promise.resolve({ items: [], more: false }),
  completeCommand: () => Promise.resolve([]),
  history: () => Promise.resolve([]),
  exit: () => { void screen.stop().then(() => { terminal.leave(0); }); },
};
const keys = keyTable();
const terminal = openTerminal({ stdin: process.stdin, stdout: process.stdout, measure: width, onInput: () => undefined });
const screen = startScreen({
  terminal, controller, keys, theme: themeOf('dark', process.env), env: process.env,
  composer: createComposer({ keys, columns: process.stdout.columns, measure: width }),
});
screen.dispatch({
  type: 'status', status: {
    model: 'pinion-demo', demo: true, mode: 'default', branch: 'main', directory: '/x', used: 1200, limit: 100_000, estimated: true, pins: 1, pinTokens: 100, cacheShare: 0.5, usd: 0, budgetUsd: undefined, tasks: 0, unsaved: undefined,
  },
});
screen.dispatch({ type: 'card', card: { title: 'BANNER of the program', body: [] } });
