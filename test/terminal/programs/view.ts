// The screen with a scripted controller: what is submitted says what is to be seen. What was submitted goes to a file at the end.
import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Card } from '#domain/card.ts';
import { NO_USAGE } from '#domain/content.ts';
import type { Entry, EntryBody, EntryId } from '#domain/entry.ts';
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
  else if (text === 'pick') return screen.dispatch({ type: 'pick', id: 2, picker: { title: 'Sessions', items: Array.from({ length: 40 }, (_, i) => ({ id: `s${i}`, label: `session ${i}` })) } });
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
  queue: () => false,
  chosen: (_, choice) => { settled(`chosen ${JSON.stringify(choice)}`); },
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
