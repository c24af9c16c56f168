import { expect, it } from 'vitest';
import source from '#attachments/sources/hook-context.ts';
import { NO_USAGE } from '#domain/content.ts';
import type { EntryBody } from '#domain/entry.ts';
import { memorySession, prompt } from '../support/logs.ts';
import { ask, textOf } from './world.ts';

const said = (event: string, text: string): EntryBody => ({ type: 'hookContext', event, hook: 'h.sh', text });

it('words of nothing but blanks are no reminder', async () => {
  const session = memorySession([said('PostToolUse:Edit', ' \n\t'), said('Stop', '')]);
  expect(await ask(source, session)).toBeUndefined();
  session.append(said('Stop', ' real words\n'));
  expect(textOf(await ask(source, session))).toBe('Stop hook (h.sh):\nreal words');
  session.append(said('Stop', ''));
  expect(await ask(source, session)).toBeUndefined();
});

it('what was said at the start is told again when a rewind took it back, what was said of a prompt is not', async () => {
  const session = memorySession([said('SessionStart', 'use npm ci'), said('UserPromptSubmit', 'of the prompt')]);
  const first = session.append(prompt('one'));
  expect(textOf(await ask(source, session))).toContain('of the prompt');
  session.append(said('PostToolUse:Edit', 'of an edit'));
  session.append({ type: 'rewind', to: first.id });
  expect(textOf(await ask(source, session))).toBe('SessionStart hook (h.sh):\nuse npm ci');
  expect(await ask(source, session)).toBeUndefined();
  session.append(said('PreCompact', 'before the summary'));
  session.append({ type: 'compaction', summary: 's', trigger: 'manual', usage: NO_USAGE, model: 'm', tokensBefore: 1 });
  expect(textOf(await ask(source, session))).toBe('PreCompact hook (h.sh):\nbefore the summary');
  expect(await ask(source, session)).toBeUndefined();
});
