import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../support/temp.ts';
import { bench, REAL, stdio, textIn } from './fixtures.ts';

const node = (script: string, ...args: readonly string[]) => ({ command: process.execPath, args: [script, ...args] });

it('three servers of the registry are connected at once, with tools, resources, prompts and instructions', async () => {
  const folder = tempFolder({ 'a.txt': 'contents of a' });
  const { server, call, servers } = await bench([
    stdio('everything', node(REAL.everything())), stdio('files', node(REAL.filesystem(), folder)), stdio('memory', node(REAL.memory()), { env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') } }),
  ], { doors: { roots: () => [folder] } });
  expect(servers.servers().map(({ name, state }) => [name, state])).toEqual([['everything', 'connected'], ['files', 'connected'], ['memory', 'connected']]);
  expect(server('everything').tools).toContain('mcp__everything__echo');
  expect(server('everything').resources.length).toBeGreaterThan(0);
  expect(server('everything').prompts.length).toBeGreaterThan(0);
  expect(server('everything').instructions).toEqual(expect.stringMatching(/\w/));
  expect(servers.servers().flatMap(({ notes }) => notes)).toEqual([]);
  expect(textIn((await call('mcp__everything__echo', { message: 'hello' })).end)).toBe('Echo: hello');
  // It asks for the working folders, and takes them for those it may see.
  writeFileSync(join(folder, 'b.txt'), 'later');
  expect(textIn((await call('mcp__files__list_directory', { path: folder })).end)).toContain('b.txt');
  await call('mcp__memory__create_entities', { entities: [{ name: 'Pinion', entityType: 'program', observations: ['it pins'] }] });
  expect(textIn((await call('mcp__memory__read_graph')).end)).toContain('it pins');
});
