import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { prefixFaults } from '../support/messages-server/history.ts';
import { call, type ReplyBlock, say, type ScriptedReply, think } from '../support/messages-server/reply.ts';
import type { Recorded } from '../support/messages-server/server.ts';
import { expectValid, last, only, product, resultIn, serve, wordsOf } from '../support/product.ts';

const BYPASS = ['--permission-mode', 'bypassPermissions'];
const FILES = {
  'src/a.ts': 'export const a = 1;\n', 'src/b.ts': 'export const b = 2;\n', 'README.md': '# Lighthouse\n', 'AGENTS.md': 'Be brief.\n',
};

/** Seven replies with twelve calls between them, some of them several at once; then an answer. */
const WORK: readonly (readonly ReplyBlock[])[] = [
  [{ type: 'text', text: 'I look around.' }, call('Glob', { pattern: '**/*.ts' }), call('Grep', { pattern: 'export', output_mode: 'content' }), call('Read', { file_path: 'src/a.ts' })],
  [call('TodoWrite', { todos: [{ content: 'change a', status: 'in_progress' }, { content: 'write c', status: 'pending' }] })],
  [call('Edit', { file_path: 'src/a.ts', old_string: 'a = 1', new_string: 'a = 3' }), call('Write', { file_path: 'src/c.ts', content: 'export const c = 3;\n' })],
  [call('Bash', { command: 'cat src/a.ts src/c.ts; echo oops >&2; exit 3' }), call('Read', { file_path: 'src/nothing.ts' })],
  [call('Bash', { command: 'seq 1 3 > numbers.txt' })],
  [call('Read', { file_path: 'numbers.txt' }), call('Read', { file_path: 'src/b.ts' })],
  [call('TodoWrite', { todos: [{ content: 'change a', status: 'completed' }, { content: 'write c', status: 'completed' }] })],
];

function worked(each: (blocks: readonly ReplyBlock[]) => readonly ReplyBlock[]): readonly ScriptedReply[] {
  return [...WORK, [{ type: 'text', text: 'All is done.' } as const]].map((blocks) => ({ content: each(blocks) }));
}

/** Each request is the one before plus something, and reads from the cache all that the one before had put there. */
function expectGrown(requests: readonly Recorded[]): void {
  requests.slice(1).forEach((request, at) => {
    const before = requests[at];
    expect(prefixFaults(before?.body ?? {}, request.body)).toEqual([]);
    const cached = (before?.usage?.cache_read_input_tokens ?? 0) + (before?.usage?.cache_creation_input_tokens ?? 0);
    expect(cached).toBeGreaterThan(1000);
    expect(request.usage?.cache_read_input_tokens).toBeGreaterThanOrEqual(cached);
  });
}

it.each([
  ['without thinking', (blocks: readonly ReplyBlock[]) => blocks],
  ['with thinking that is bound to what stands before it', (blocks: readonly ReplyBlock[]) => [think('Let me see.'), ...blocks]],
])('twelve tool calls %s make valid requests, each the last one and more', async (_, each) => {
  const server = await serve([...worked(each), ...worked(each).slice(-1)]);
  const { run, cwd } = product(FILES, server);
  const { code, stdout, stderr } = await run(['-p', 'Change a @README.md', ...BYPASS, '--output-format', 'json']);
  expect([code, stderr]).toEqual([0, '']);
  const result = resultIn(stdout);
  expect(result).toMatchObject({ subtype: 'success', num_turns: 8, result: 'All is done.', model: 'claude-opus-5-5', permission_denials: [] });
  expect(result.total_cost_usd).toBeGreaterThan(0);
  expect(result.usage['cache_read_input_tokens']).toBe(server.requests.reduce((sum, { usage }) => sum + (usage?.cache_read_input_tokens ?? 0), 0));
  expect(readFileSync(join(cwd, 'src/a.ts'), 'utf8')).toBe('export const a = 3;\n');
  expect(readFileSync(join(cwd, 'numbers.txt'), 'utf8')).toBe('1\n2\n3\n');
  // The next run goes on where this one stopped, in another process and with the same bytes.
  expect((await run(['-c', '-p', 'And now?', ...BYPASS])).stdout).toBe('All is done.\n');
  expect(server.requests).toHaveLength(9);
  expectValid(server);
  expectGrown(server.requests);
  const words = wordsOf(last(server.requests));
  for (const told of ['# Lighthouse', 'Be brief.', 'export const c = 3;', 'oops', 'src/nothing.ts', 'Change a @README.md', 'And now?']) expect(words).toContain(told);
});

it('the first request is small, marks what it caches, and names no moving thing in its head', async () => {
  const server = await serve([say('Hello.')]);
  const { run, cwd } = product(FILES, server);
  await run(['-p', 'Hello', '--append-system-prompt', 'Answer in rhymes.']);
  expectValid(server);
  const { raw, body } = only(server.requests);
  expect(Buffer.byteLength(raw)).toBeLessThan(20 * 1024);
  const head = JSON.stringify([body['system'], body['tools']]);
  expect(head).toContain('Answer in rhymes.');
  expect(head).not.toContain(cwd);
  expect(head).not.toContain(String(new Date().getFullYear()));
  expect(raw.match(/"cache_control"/g)?.length).toBeLessThanOrEqual(4);
});

it('a pin follows its file through changes and compaction, and nothing that was sent is changed', async () => {
  const server = await serve(['one', 'two', 'SUMMARY of it', 'three', 'four'].map((words) => say(words)));
  const { run, cwd } = product({ 'src/a.ts': 'export const before = 1;\n' }, server);
  const go = async (...args: readonly string[]): Promise<void> => {
    expect(await run(args)).toMatchObject({ code: 0, stderr: '' });
  };
  await go('-p', 'the first question', '--pin', 'src/a.ts');
  writeFileSync(join(cwd, 'src/a.ts'), 'export const after = 2;\n');
  await go('-c', '-p', 'the second question');
  await go('-c', '-p', '/compact');
  await go('-c', '-p', 'the third question');
  // Saved as editors do it: another file takes the place.
  writeFileSync(join(cwd, 'draft'), 'export const last = 3;\n');
  renameSync(join(cwd, 'draft'), join(cwd, 'src/a.ts'));
  await go('-c', '-p', 'the fourth question');

  expectValid(server);
  const [first, second, summary, third, fourth] = server.requests;
  if (first === undefined || second === undefined || summary === undefined || third === undefined || fourth === undefined) throw new Error('five requests were expected');
  expect(wordsOf(first)).toContain('export const before = 1;');
  expect(wordsOf(second)).toContain('export const after = 2;');
  expectGrown([first, second, summary]);
  expect(wordsOf(third)).toContain('SUMMARY of it');
  expect(wordsOf(third)).toContain('export const after = 2;');
  expect(wordsOf(third)).toContain('the third question');
  for (const gone of ['first question', 'second question', 'before = 1']) expect(wordsOf(third)).not.toContain(gone);
  expectGrown([third, fourth]);
  expect(wordsOf(fourth)).toContain('export const last = 3;');
});

it('a stable pin costs no word more with each request', async () => {
  const server = await serve(['one', 'two'].map((words) => say(words)));
  const { run } = product({ 'src/a.ts': 'export const pinned = 1;\n' }, server);
  await run(['-p', 'first', '--pin', 'src/a.ts']);
  await run(['-c', '-p', 'second @src/a.ts']);
  expectValid(server);
  expect(wordsOf(last(server.requests)).split('export const pinned = 1;')).toHaveLength(2);
});

it('what is mentioned in the prompt is attached, what is piped in is not searched for mentions', async () => {
  const server = await serve([say('Seen.')]);
  const { run } = product(FILES, server);
  await run(['-p', 'Compare @src/a.ts:1 with "@src/missing.ts" and @src/missing.ts'], { input: 'a log with @src/b.ts in it\n' });
  expectValid(server);
  const words = wordsOf(only(server.requests));
  expect(words).toContain('export const a = 1;');
  expect(words).toContain('a log with @src/b.ts in it');
  expect(words).not.toContain('export const b = 2;');
  expect(words).toContain('@src/missing.ts: no such file or directory');
});

it('an AGENTS.md, the date, and what changed on disk since it was read are told once', async () => {
  const server = await serve([{ content: [call('Read', { file_path: 'src/a.ts' })] }, say('Read.'), say('Seen.'), say('Still.')]);
  const { run, cwd } = product(FILES, server);
  await run(['-p', 'Read it', ...BYPASS]);
  writeFileSync(join(cwd, 'src/a.ts'), 'export const a = 1;\nexport const more = 2;\n');
  await run(['-c', '-p', 'Look again']);
  await run(['-c', '-p', 'And again']);
  expectValid(server);
  expectGrown(server.requests);
  const words = wordsOf(last(server.requests));
  for (const once of ['Be brief.', 'Today is', 'export const more = 2;']) expect(words.split(once), once).toHaveLength(2);
});
