import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startEditor } from '../support/editor.ts';
import { say } from '../support/messages-server/reply.ts';
import { expectValid, only, product, serve, wordsOf } from '../support/product.ts';
import { tempFolder } from '../support/temp.ts';

async function printing(args: readonly string[], env: Readonly<Record<string, string>> = {}, token?: string) {
  const server = await serve([say('Fine.')]);
  const config = tempFolder();
  const place = product({ 'lamp.ts': 'one\ntwo\n' }, server, { CLAUDE_CONFIG_DIR: config });
  const editor = await startEditor({ locks: join(config, 'ide'), folders: [place.cwd], ...(token !== undefined && { lock: { authToken: token } }) });
  editor.select(join(place.cwd, 'lamp.ts'), 2, 2, 'two');
  const finished = await place.run([...args, '-p', 'what is this?'], { env: { CLAUDE_CODE_SSE_PORT: String(editor.port), ...env } });
  expectValid(server);
  return { ...finished, editor, words: wordsOf(only(server.requests)) };
}

it('print mode hears an editor when it is asked to', async () => {
  const { code, stdout, stderr, words, editor } = await printing(['--ide']);
  expect([code, stdout, stderr]).toEqual([0, 'Fine.\n', 'pinion: Connected to Neovim.\n']);
  expect(words).toContain('The user has marked line 2 of lamp.ts in Neovim. It may have nothing to do with what they ask:\n     2\ttwo');
  expect(editor.connected()).toBe(0);
});

it('and never else, also in a terminal that an editor opened', async () => {
  const { stderr, words, editor } = await printing([], { ENABLE_IDE_INTEGRATION: 'true' });
  expect(stderr).toBe('');
  expect(words).not.toContain('Neovim');
  expect(editor.methods).toEqual([]);
});

it('an editor that cannot be connected costs one line', async () => {
  const { code, stdout, stderr, words } = await printing(['--ide'], {}, 'another-token-than-its-own');
  expect([code, stdout]).toEqual([0, 'Fine.\n']);
  expect(stderr).toMatch(/^pinion: Neovim \(port \d+\) could not be connected: Unexpected server response: 401\.\n$/);
  expect(words).not.toContain('Neovim');
});
