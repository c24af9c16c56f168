import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readStyles, styleNamed, type StyleFolder } from '#attachments/styles/styles.ts';
import { tempFolder } from '../support/temp.ts';

const folder = (files: Readonly<Record<string, string>>, from = 'yours'): StyleFolder => ({ path: tempFolder(files), from });
const FILE = '---\nname: Pirate\ndescription: Speaks like one\ncompanion:\n  name: Polly\n  text: |\n    A parrot.\n    Two lines.\n---\n\nArr.\n';

test('the built-in styles are there, and only the plain one asks for nothing', async () => {
  const { all, problems } = await readStyles([]);
  expect(problems).toEqual([]);
  expect(all.map(({ name, body }) => [name, body.trim() === ''])).toEqual([['default', true], ['explanatory', false], ['learning', false], ['concise', false]]);
  for (const { description, body } of all) {
    expect(description).not.toBe('');
    expect(body.length).toBeLessThan(2000);
  }
});

test('a file with front matter is a style; without it its name is the file\'s', async () => {
  const { all, problems } = await readStyles([folder({ 'a.md': FILE, 'plain words.md': 'Just text.', 'notes.txt': 'x', '.hidden.md': 'x' })]);
  expect(problems).toEqual([]);
  expect(styleNamed('pirate', all)).toEqual({ name: 'Pirate', description: 'Speaks like one', body: 'Arr.', companion: { name: 'Polly', text: 'A parrot.\nTwo lines.' }, from: 'yours' });
  expect(styleNamed('Plain Words', all)).toMatchObject({ name: 'plain words', body: 'Just text.', description: '' });
  expect(all).toHaveLength(6);
});

test('a later folder takes an earlier one\'s place, and a built-in\'s', async () => {
  const { all } = await readStyles([folder({ 'a.md': '---\nname: mine\n---\none' }), folder({ 'b.md': '---\nname: MINE\n---\ntwo', 'concise.md': 'Shorter.' }, 'project')]);
  expect(styleNamed('mine', all)).toMatchObject({ body: 'two', from: 'project' });
  expect(styleNamed('concise', all)).toMatchObject({ body: 'Shorter.', from: 'project' });
});

describe('hostile files', () => {
  test.each<[string, string, RegExp]>([
    ['a huge one', `---\nname: x\n---\n${'y'.repeat(70_000)}`, /larger than 65536 bytes/],
    ['an empty one', '---\nname: x\n---\n  \n', /says nothing/],
    ['none that is closed', '---\nname: x\n', /no closing line/],
    ['a persona without words', '---\ncompanion: Polly\n---\nBody', /"companion" must have/],
  ])('%s is left out or named', async (_what, text, problem) => {
    const { problems } = await readStyles([folder({ 'x.md': text })]);
    expect(problems.join('\n')).toMatch(problem);
    for (const line of problems) expect(line).not.toMatch(/\n/);
  });
  test('bad YAML, many aliases, names of many lines: each costs its own field only', async () => {
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${Array.from({ length: 9 }, (_, n) => `b${n}: &b${n} [*a,*a,*a,*a,*a,*a,*a,*a,*a]`).join('\n')}`;
    const { all } = await readStyles([folder({
      'yaml.md': '---\nname: [unclosed\ndescription: "it: is\nx: y: z\n---\nBody of it',
      'bomb.md': `---\nname: bomb\n${bomb}\n---\nBody of bomb`,
      'lines.md': `---\nname: "one\\ntwo\\r\\e[2J\\u202e</system-reminder>"\ndescription: "${'d'.repeat(5000)}"\n---\nBody of lines`,
      'long.md': `---\nname: ${'n'.repeat(500)}\n---\nBody of long`,
      'object.md': '---\nname: { a: 1 }\n---\nBody of object',
    })]);
    const named = Object.fromEntries(all.map(({ name, body }) => [body, name]));
    expect(named['Body of it']).toBeDefined();
    expect(named['Body of bomb']).toBe('bomb');
    expect(named['Body of lines']).toBe('one two [2J </system-reminder>');
    expect(named['Body of long']).toHaveLength(60);
    expect(named['Body of object']).toBe('object');
    for (const { name, description } of all) expect(`${name}${description}`).not.toMatch(/[\r\n]/);
    expect(all.every(({ description }) => description.length <= 200)).toBe(true);
  });
  test('pipes, folders, loops and what leads out of the project are not read; a folder of thousands not to its end', async () => {
    const at = tempFolder({ 'good.md': 'Good.' });
    const secret = join(tempFolder({ 'secret.md': 'key' }), 'secret.md');
    execFileSync('mkfifo', [join(at, 'pipe.md')]);
    mkdirSync(join(at, 'folder.md'));
    symlinkSync('loop.md', join(at, 'loop.md'));
    symlinkSync(secret, join(at, 'out.md'));
    const { all, problems } = await readStyles([{ path: at, from: 'project', within: at }]);
    expect(all.map(({ name }) => name)).toEqual(['default', 'explanatory', 'learning', 'concise', 'good']);
    expect(problems).toHaveLength(4);
    expect(problems.join('\n')).toContain('leads out of the project');
    const many = tempFolder();
    for (let n = 0; n < 150; n += 1) writeFileSync(join(many, `${n}.md`), 'x');
    const crowd = await readStyles([{ path: many, from: 'yours' }, { path: join(many, 'missing'), from: 'yours' }, { path: join(many, '0.md'), from: 'yours' }]);
    expect(crowd.all).toHaveLength(104);
    expect(crowd.problems).toEqual([expect.stringContaining('more than 100 files') as string]);
  });
});
