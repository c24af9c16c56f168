import { expect, it } from 'vitest';
import { call, say } from '../support/messages-server/reply.ts';
import { last, product, serve, wordsOf } from '../support/product.ts';
import { link } from './hostile.ts';

it('a search where ignore rules are an endless device ends, and takes no memory with it', async () => {
  const server = await serve([{ content: [call('Grep', { pattern: 'needle' }), call('Glob', { pattern: '**/*' })] }, say('Done.')]);
  const { run, cwd } = product({ 'src/a.ts': 'needle\n' }, server);
  link(cwd, 'src/.gitignore', '/dev/zero');
  expect(await run(['-p', 'Look'])).toMatchObject({ code: 0, stdout: 'Done.\n' });
  expect(wordsOf(last(server.requests))).toMatch(/search failed|src\/a\.ts/);
  expect(wordsOf(last(server.requests))).toContain('src/a.ts');
});
