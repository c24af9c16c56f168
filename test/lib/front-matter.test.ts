import { expect, test } from 'vitest';
import { readFrontMatter } from '#lib/front-matter.ts';

const read = (yaml: string) => readFrontMatter(`---\n${yaml}\n---\nBody\n`);

test('reads fields and body', async () => {
  expect(await read('name: a\ntools: [Read, Grep]\nmax: 3\non: true\nlist:\n  - x\n  - y')).toEqual({ fields: { name: 'a', tools: ['Read', 'Grep'], max: 3, on: true, list: ['x', 'y'] }, body: 'Body\n' });
});

test('a text without front matter is all body, with or without a byte order mark', async () => {
  expect(await readFrontMatter('\ufeffhello\n---\nx')).toEqual({ fields: {}, body: 'hello\n---\nx' });
  expect(await readFrontMatter('')).toEqual({ fields: {}, body: '' });
});

test('line ends of Windows, an empty front matter and an empty body', async () => {
  expect(await readFrontMatter('\ufeff---\r\nname: a\r\n---\r\nBody\r\n')).toEqual({ fields: { name: 'a' }, body: 'Body\r\n' });
  expect(await readFrontMatter('---\n---\n')).toEqual({ fields: {}, body: '' });
  expect(await readFrontMatter('---\n# nothing\n---')).toEqual({ fields: {}, body: '' });
});

test.each([
  ['description: Use when: asked', { description: 'Use when: asked' }],
  ['argument-hint: [a] [b]', { 'argument-hint': '[a] [b]' }],
  ['model: *x', { model: '*x' }],
  ['argument-hint: @foo', { 'argument-hint': '@foo' }],
  ['description: `x` is y', { description: '`x` is y' }],
  ['name: a\ndescription: one: two\n  and three: four\ntools: [Read]', { name: 'a', description: 'one: two and three: four', tools: ['Read'] }],
  ['description: |\n  a: b: c\n  d\nmodel: *x', { description: 'a: b: c\nd\n', model: '*x' }],
  ['tools:\n- Read\n- Grep\nmodel: *x', { tools: ['Read', 'Grep'], model: '*x' }],
  ['name: a\nname: b', { name: 'b' }],
  ['n: .nan', { n: 'NaN' }],
])('what is no strict YAML is plain text: %s', async (yaml, fields) => {
  expect(await read(yaml)).toEqual({ fields, body: 'Body\n' });
});

test('what cannot be read is said, and costs no other field', async () => {
  const { fields, problem } = await read('name: a\n}}} what\ntools: Read');
  expect(fields).toEqual({ name: 'a', tools: 'Read' });
  expect(problem).toMatch(/^the front matter cannot be read as a whole: .+/);
  expect((await readFrontMatter('---\nname: a\nno end')).problem).toContain('no closing line');
  expect((await read('- just\n- a list')).problem).toBeDefined();
});

test('bombs of aliases, of depth and of size do no harm', async () => {
  const aliases = 'a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c]';
  expect(JSON.stringify(await read(aliases)).length).toBeLessThan(2000);
  expect(await read(`name: a\nx: ${'['.repeat(20_000)}`)).toMatchObject({ fields: { name: 'a' } });
  expect(await read(`x: ${'a'.repeat(70_000)}`)).toMatchObject({ fields: {}, problem: expect.stringContaining('longer than') });
});

test('a field cannot reach the prototype', async () => {
  const { fields } = await read('__proto__:\n  polluted: yes\nname: a');
  expect(fields['name']).toBe('a');
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  expect(Object.getPrototypeOf(fields)).toBe(Object.prototype);
});
