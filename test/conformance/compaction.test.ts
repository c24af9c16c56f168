import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { TODO_LIST_ID, type TodoItem } from '#domain/attachment.ts';
import { todosOf } from '#domain/folds.ts';
import { type Household, household } from '../support/household.ts';
import { prefixFaults } from '../support/messages-server/history.ts';
import { call, say, type ScriptedReply } from '../support/messages-server/reply.ts';
import { blocksOf, list, obj } from '../support/messages-server/shape.ts';
import { expectValid, last, serve, wordsOf } from '../support/product.ts';

const lines = (n: number): string => Array.from({ length: n }, (_, i) => `line ${i + 1}\n`).join('');

it('what is kept stands whole behind the summary: pins, todos, mode, instructions; what was asked before is gone', async () => {
  const server = await serve([
    say('one'), { content: [call('TodoWrite', { todos: [{ content: 'half done', status: 'in_progress' }] })] }, say('two'), say('A SUMMARY'), say('three'), say('four'),
  ]);
  const home = household({ 'a.txt': lines(30), 'AGENTS.md': 'Be brief.\n' }, server);
  const dweller = await home.open();
  await dweller.command('/pin a.txt');
  await dweller.command('/pin note Ship on Friday');
  await dweller.command('/todo add mine');
  dweller.conversation.setMode('plan');
  await dweller.turn('the first question');
  home.write('a.txt', `${lines(30)}more\n`);
  await dweller.turn('the second question');
  await dweller.command('/compact');
  await dweller.turn('the third question');
  await dweller.turn('the fourth question');
  expectValid(server);
  const [, , answered, summary, third, fourth] = server.requests;
  expect(prefixFaults(answered?.body ?? {}, summary?.body ?? {})).toEqual([]);
  const messages = (body: unknown) => list(obj(body)['messages']).map(obj);
  expect(messages(summary?.body)).toHaveLength(messages(answered?.body).length + 2);
  expect(blocksOf(messages(summary?.body).at(-1)?.['content'])).toHaveLength(1);
  const words = wordsOf(third ?? last([]));
  for (const kept of ['A SUMMARY', 'line 30\nmore\n', 'Ship on Friday', '[ ] mine', 'half done (was under way before the summary; unconfirmed)', 'Plan mode is on.', 'Be brief.', 'Today is', 'the third question']) expect(words).toContain(kept);
  for (const gone of ['first question', 'second question']) expect(words).not.toContain(gone);
  // The cache is read as far as the head of the requests, and from then on as before.
  expect(wordsOf(fourth ?? last([])).split('Plan mode is on.')).toHaveLength(2);
  expect(prefixFaults(third?.body ?? {}, fourth?.body ?? {})).toEqual([]);
});

it('the first request after it holds everything that is kept, whole: files, skills, plan, todos, pins, modes, styles', async () => {
  const server = await serve([
    { content: [call('Skill', { skill: 'press' }), call('Read', { file_path: 'read.txt' }), call('ExitPlanMode', { plan: '# Plan\n\n1. Bake it.' })] }, say('one'), say('A SUMMARY'), say('two'), say('three'),
  ]);
  const home = household({
    'pinned.txt': 'pinned words\n', 'read.txt': 'words that were read\n', 'AGENTS.md': 'Be brief.\n',
    '.claude/skills/press/SKILL.md': '---\ndescription: Presses things\n---\nPress with care.\n',
  }, server);
  const dweller = await home.open({ answer: (question) => (question.kind === 'plan' ? { kind: 'approved', mode: 'auto' } : { kind: 'yes' }), args: { permissionMode: 'plan' } });
  await dweller.command('/pin pinned.txt');
  await dweller.command('/pin note Ship on Friday');
  await dweller.command('/todo add mine');
  await dweller.command('/output-style concise');
  await dweller.turn('Plan it');
  await dweller.command('/compact');
  await dweller.turn('Go on');
  await dweller.turn('And on');
  expectValid(server);
  const [, , , after, then] = server.requests;
  const words = wordsOf(after ?? last([]));
  for (const kept of ['A SUMMARY', 'pinned words', 'Ship on Friday', '[ ] mine', 'words that were read', 'Press with care.', '1. Bake it.', 'Be brief.', 'Output style "concise"', 'Auto mode is on']) {
    expect(words.toLowerCase()).toContain(kept.toLowerCase());
  }
  expect(prefixFaults(after?.body ?? {}, then?.body ?? {})).toEqual([]);
  expect(wordsOf(then ?? last([])).split('Press with care.')).toHaveLength(2);
});

it('that is interrupted or fails leaves the log as it was, and the next request as well', async () => {
  const server = await serve([say('one'), { ...say('A SUMMARY that comes slowly'), gapMs: 50, piece: 4 }, { error: { status: 400, type: 'invalid_request_error', message: 'no' } }, say('two')]);
  const dweller = await household({ 'a.txt': lines(30) }, server).open();
  await dweller.command('/pin a.txt');
  await dweller.turn('the first question');
  const before = JSON.stringify(dweller.log);
  const stop = new AbortController();
  setTimeout(() => { stop.abort(); }, 150);
  const run = dweller.conversation.compact('', stop.signal);
  let next = await run.next();
  while (next.done !== true) next = await run.next();
  expect(next.value).toEqual({ kind: 'interrupted' });
  expect(JSON.stringify(dweller.log)).toBe(before);
  const failing = dweller.conversation.compact('', new AbortController().signal);
  let end = await failing.next();
  while (end.done !== true) end = await failing.next();
  expect(end.value).toMatchObject({ kind: 'failed' });
  expect(JSON.stringify(dweller.log)).toBe(before);
  await dweller.turn('the second question');
  expect(prefixFaults(server.requests[0]?.body ?? {}, last(server.requests).body)).toEqual([]);
});

function compactAt(home: Household, tokens: number): void {
  mkdirSync(home.home, { recursive: true });
  writeFileSync(join(home.home, 'settings.json'), JSON.stringify({ compactAt: tokens }));
}

const filling = (reply: ScriptedReply, tokens: number): ScriptedReply => ({ ...reply, usage: { input_tokens: tokens, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 } });

it('in the middle of a turn keeps the open prompt word for word, with what it mentioned', async () => {
  const server = await serve([
    say('Hello.'), filling({ content: [call('Read', { file_path: 'b.txt' })] }, 50_000), say('A SUMMARY of the work'), say('done'),
  ]);
  const home = household({ 'a.txt': lines(30), 'b.txt': 'b\n' }, server);
  compactAt(home, 40_000);
  const dweller = await home.open();
  await dweller.turn('Hello');
  const asked = 'Now do this:  exactly,\n\nwith @a.txt at hand';
  expect(await dweller.turn(asked)).toEqual({ kind: 'answered' });
  expectValid(server);
  const [, work, summary, after] = server.requests;
  expect(prefixFaults(work?.body ?? {}, summary?.body ?? {})).toEqual([]);
  const blocks = list(after?.body['messages']).map(obj).flatMap(({ content }) => blocksOf(content));
  expect(blocks.at(-1)).toMatchObject({ text: asked });
  expect(wordsOf(after ?? last([]))).toContain('line 30');
  expect(wordsOf(after ?? last([]))).not.toContain('Hello');
});

it('keeps words that were queued and not answered, with what they mention', async () => {
  const server = await serve((_, index) => [
    say('Hello.'), { content: [call('Glob', { pattern: 'x' })] }, { ...say('First I answer.'), gapMs: 5 },
    filling({ content: [call('Glob', { pattern: 'y' })] }, 50_000), say('A SUMMARY'), say('done'),
  ][index] ?? say('more'));
  const home = household({ 'a.txt': lines(30) }, server);
  compactAt(home, 40_000);
  const dweller = await home.open();
  await dweller.turn('Hello');
  let queued = false;
  await dweller.turn('Begin', (event) => {
    if (queued || event.type !== 'textDelta') return;
    queued = true;
    dweller.conversation.append([{ type: 'queued', text: 'and then see @a.txt' }]);
  });
  expectValid(server);
  const words = wordsOf(last(server.requests));
  expect(words).toContain('A SUMMARY');
  expect(words).toContain('and then see @a.txt');
  expect(words).toContain('line 30');
});

it('a hundred todos are the same after five compactions and five resumes; what the user wrote is the user\'s', async () => {
  let rewrote = false;
  const server = await serve((request) => {
    const asks = wordsOf(request);
    if (asks.includes('about to be replaced by a summary')) return say('A SUMMARY');
    const rewrites = asks.includes('rewrite the list') && !rewrote;
    rewrote ||= rewrites;
    return rewrites ? { content: [call('TodoWrite', { todos: [{ id: 1, content: 'reworded', status: 'completed' }, { id: 2, content: 'user 2', status: 'cancelled' }] })] } : say('ok');
  });
  const home = household({}, server);
  let dweller = await home.open();
  const items = Array.from({ length: 100 }, (_, i): TodoItem => ({ id: i + 1, text: `${i < 60 ? 'user' : 'model'} ${i + 1} ${'x'.repeat(300)}`, state: i % 3 === 0 ? 'done' : i % 3 === 1 ? 'open' : 'active', by: i < 60 ? 'user' : 'model' }));
  dweller.conversation.append([{ type: 'attach', attachment: { kind: 'todo', id: TODO_LIST_ID, items }, by: 'user' }]);
  for (let round = 0; round < 5; round += 1) {
    await dweller.turn(`round ${round}`);
    await dweller.command('/compact');
    await dweller.turn('go on');
    const words = wordsOf(last(server.requests));
    for (const { text } of items) expect(words).toContain(text);
    expect(words).not.toContain('[cut:');
    dweller.close();
    dweller = await home.open({ resume: true });
    expect(todosOf(dweller.log)).toEqual(items);
  }
  // A list that lost so many open items was remembered wrongly.
  await dweller.turn('rewrite the list');
  expect(wordsOf(last(server.requests))).toContain('This would drop');
  expect(todosOf(dweller.log)).toEqual(items);
  expectValid(server);
});

it('the model may mark the user\'s todos, and neither drop nor reword them', async () => {
  const server = await serve([{ content: [call('TodoWrite', { todos: [{ id: 1, content: 'mine, reworded', status: 'completed' }, { content: 'its own', status: 'pending' }] })] }, say('ok'), say('ok')]);
  const dweller = await household({}, server).open();
  await dweller.command('/todo add mine');
  await dweller.command('/todo add also mine');
  await dweller.turn('Write the list');
  expect(todosOf(dweller.log).map(({ text, state, by }) => [text, state, by])).toEqual([['mine', 'done', 'user'], ['also mine', 'open', 'user'], ['its own', 'open', 'model']]);
  await dweller.turn('And?');
  expect(wordsOf(last(server.requests)).split('also mine').length).toBeGreaterThan(1);
  expectValid(server);
});
