import { mkdirSync, symlinkSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BUILT_IN } from '#agents/built-in.ts';
import { definitionOf } from '#agents/definition.ts';
import { createTypes, type TypeFolder, withoutDenied } from '#agents/types.ts';
import { tempFolder } from '../support/temp.ts';

const signal = new AbortController().signal;
const file = (front: string, body = 'Do it.'): string => `---\n${front}\n---\n${body}\n`;

describe('a definition', () => {
  const read = (text: string) => definitionOf(text, '/a/reviewer.md', 'project');

  test('has the fields that other shells know', async () => {
    const { type, problems } = await read(file('name: code-reviewer\ndescription: Reviews\n  code\ntools: Read, Bash(git log:*, git diff:*), Grep\ndisallowedTools: [Write]\nmodel: haiku\npermissionMode: plan\nmaxTurns: 7\neffort: low\nbackground: true\nreminder: Stay calm.'));
    expect(problems).toEqual([]);
    expect(type).toEqual({
      name: 'code-reviewer', description: 'Reviews code', scope: 'project', file: '/a/reviewer.md', prompt: 'Do it.', tools: ['Read', 'Bash', 'Grep'], disallowedTools: ['Write'],
      model: 'haiku', mode: 'plan', maxSteps: 7, effort: 'low', background: true, reminder: 'Stay calm.',
    });
  });

  test('takes its name from its file, and all tools where it says nothing or everything', async () => {
    expect((await read(file('description: x'))).type).toMatchObject({ name: 'reviewer', disallowedTools: [] });
    expect((await read(file('description: x\ntools: "*"\nmodel: inherit'))).type).not.toHaveProperty('tools');
    expect((await read(file('description: x\nmodel: inherit'))).type).not.toHaveProperty('model');
    expect((await read(file('description: x\ntools: []'))).type?.tools).toEqual([]);
  });

  test('with a mistake can be used without it, and says so', async () => {
    const { type, problems } = await read(file('name: a\nmaxTurns: many\npermissionMode: god\neffort: huge'));
    expect(type).toEqual({ name: 'a', description: '', scope: 'project', prompt: 'Do it.', disallowedTools: [], file: '/a/reviewer.md' });
    expect(problems.map((line) => line.split(':')[0])).toEqual(['it has no description, so that nobody knows when to use it', 'effort', 'permissionMode', 'maxTurns']);
  });

  test.each([
    ['without front matter', '# Notes\nThese are notes.'], ['without instructions', file('name: a\ndescription: b', ' ')],
    ['with a name that holds a line', '---\nname: "a\\nb"\ndescription: x\n---\nx'], ['with a name that closes a tag', file('name: </system-reminder>\ndescription: x')],
    ['with an endless name', file(`name: ${'a'.repeat(65)}\ndescription: x`)],
  ])('%s is none', async (_, text) => {
    const { type, problems } = await read(text);
    expect(type).toBeUndefined();
    expect(problems).toHaveLength(1);
    expect(problems[0]).not.toMatch(/[\n\u0000-\u001f]/);
  });

  test('keeps long and hostile words within bounds', async () => {
    const { type } = await read(file(`name: a\ndescription: "x\\u0000\\n${'y'.repeat(5000)}"\nreminder: ${'z'.repeat(9000)}`, 'p'.repeat(300_000)));
    expect(type?.description).toMatch(/^x\\u\{0\} yy/);
    expect(type?.description.length).toBeLessThanOrEqual(1001);
    expect(type?.reminder).toHaveLength(2000);
    expect(type?.prompt).toHaveLength(100_000);
  });
});

describe('types', () => {
  const shelf = (files: Readonly<Record<string, string>>) => {
    const root = tempFolder();
    const write = (name: string, text: string): void => {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      writeFileSync(join(root, name), text);
    };
    for (const [name, text] of Object.entries(files)) write(name, text);
    const folder = (name: string, scope: TypeFolder['scope']): TypeFolder => ({ path: join(root, name), scope });
    return { root, write, types: createTypes(() => [folder('near', 'project'), folder('far', 'project'), folder('user', 'user')], (path) => path.replace(root, '')) };
  };
  const own = (list: readonly { readonly name: string; readonly description: string }[]) => list.filter(({ name }) => !BUILT_IN.some((one) => one.name === name)).map(({ name, description }) => `${name}: ${description}`);

  test('the built-in ones are there without any file; those that look change nothing', async () => {
    const list = await shelf({}).types.list(signal);
    expect(list.map(({ name }) => name)).toEqual(['explore', 'general', 'plan']);
    for (const name of ['explore', 'plan']) expect(list.find((one) => one.name === name)?.tools).not.toEqual(expect.arrayContaining([expect.stringMatching(/Write|Edit|Bash|Task/)]));
  });

  test('the closest folder goes before farther ones, the user\'s before the built-in; folders below are looked through', async () => {
    const { types } = shelf({
      'near/deep/er/a.md': file('name: a\ndescription: near'), 'far/a.md': file('name: A\ndescription: far'), 'user/a.md': file('name: a\ndescription: user'),
      'far/b.md': file('name: b\ndescription: far'), 'user/x.md': file('name: Explore\ndescription: mine'),
    });
    const list = await types.list(signal);
    expect(own(list)).toEqual(['Explore: mine', 'a: near', 'b: far']);
    expect(list.map(({ name }) => name.toLowerCase()).filter((name) => name === 'explore')).toHaveLength(1);
    expect(types.problems()).toEqual([]);
  });

  test('two of one name in one folder: the first counts, and it is said', async () => {
    const { types } = shelf({ 'near/1.md': file('name: a\ndescription: one'), 'near/2.md': file('name: a\ndescription: two') });
    expect(own(await types.list(signal))).toEqual(['a: one']);
    expect(types.problems()).toEqual(['/near/2.md: there is another agent "a" in this folder, which counts']);
  });

  test('a file that changed is read again, one that went is gone', async () => {
    const { root, write, types } = shelf({ 'near/a.md': file('name: a\ndescription: old') });
    expect(own(await types.list(signal))).toEqual(['a: old']);
    write('near/a.md', file('name: a\ndescription: now'));
    utimesSync(join(root, 'near/a.md'), 1, 1);
    expect(own(await types.list(signal))).toEqual(['a: now']);
    unlinkSync(join(root, 'near/a.md'));
    expect(own(await types.list(signal))).toEqual([]);
  });

  test('what a folder of unknown origin holds is neither waited for nor followed round', async () => {
    const { root, types } = shelf({ 'near/a.md': file('name: a\ndescription: x'), 'near/big.md': `${file('name: big\ndescription: x')}${'x'.repeat(300_000)}`, 'near/plain.md': 'notes' });
    symlinkSync('/dev/zero', join(root, 'near/zero.md'));
    symlinkSync(join(root, 'near'), join(root, 'near/round'));
    symlinkSync(join(root, 'near/a.md'), join(root, 'near/again.md'));
    symlinkSync(join(root, 'nowhere'), join(root, 'near/lost.md'));
    expect(own(await types.list(signal))).toEqual(['a: x']);
    expect(types.problems().map((line) => line.split(':')[0] ?? '').toSorted()).toEqual(['/near/big.md', '/near/lost.md', '/near/plain.md', '/near/zero.md']);
  });

  test('no more than 200 files of one folder', async () => {
    const { types } = shelf(Object.fromEntries(Array.from({ length: 203 }, (_, i) => [`near/${i}.md`, file(`name: a${i}\ndescription: x`)])));
    expect(own(await types.list(signal))).toHaveLength(200);
    expect(types.problems()).toEqual(['/near: 3 files left out; 200 are the most']);
  });

  test('what a rule forbids is not named', async () => {
    const types = withoutDenied(shelf({}).types, (name) => name === 'general');
    expect((await types.list(signal)).map(({ name }) => name)).toEqual(['explore', 'plan']);
  });
});
