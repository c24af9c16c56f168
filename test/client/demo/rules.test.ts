import { describe, expect, it } from 'vitest';
import { rules } from '#client/demo/rules.ts';
import prompt from '../../../commands/init.md';
import { type DemoHouse, demoHouse } from './house.ts';

const PACKAGE = `${JSON.stringify({ name: 'lantern', version: '4.5.6', license: 'MIT', type: 'module' }, null, 2)}\n`;
const FILES: Readonly<Record<string, string>> = {
  'package.json': PACKAGE,
  'README.md': '# Lantern\n\nA lamp in the terminal.\n',
  'src/a.ts': 'export const alpha = 1;\nexport function light(alphabet: string) {\n  return alphabet + alpha;\n}\n',
  'src/deep/b.ts': 'import { alpha } from \'../a.ts\';\nconsole.log(alpha);\n',
};

interface Case {
  /** The one page of the web. */
  readonly page?: string;
  readonly prepare?: (house: DemoHouse) => Promise<void> | void;
  readonly answer: RegExp;
  readonly after?: (house: DemoHouse) => void;
}

/** What each example of the table needs beforehand, and what its answer must hold. */
const CASES: Readonly<Record<string, Case>> = {
  help: { answer: /set of rules, no AI[\s\S]*Read package\.json and tell me its name → Read[\s\S]*\/login/ },
  summary: { prepare: async (house) => { await house.turn('Count to 2'); }, answer: /.*/ },
  see: { prepare: (house) => house.pin('src/a.ts'), answer: /\*\*src\/a\.ts\*\* has 4 lines\. It exports `alpha`, `light`\.[\s\S]*Today is/ },
  changed: {
    prepare: async (house) => {
      await house.turn('Read README.md');
      house.write('README.md', '# Lantern\n\nA torch in the terminal.\n');
    },
    answer: /README\.md changed on disk[\s\S]*\+A torch in the terminal\./,
  },
  asked: { prepare: async (house) => { await house.turn('Count to 2'); }, answer: /1\. Count to 2$/ },
  init: { answer: /I wrote AGENTS\.md/, after: (house) => { expect(house.read('AGENTS.md')).toBe('# lantern\n\n## At the top\n\n- README.md\n- package.json\n'); } },
  plan: { answer: /^Plan mode is not on: `\/plan on` turns it on\.$/ },
  'ask-me': { answer: /^I cannot ask you: Nobody is there to answer\./ },
  skill: { answer: /^I cannot use the skill keeper: there are no skills/ },
  count: { answer: /^1\. line 1\n[\s\S]*\n20\. line 20$/ },
  mention: { answer: /\*\*README\.md\*\* has 3 lines\. Its first heading is "Lantern"\./ },
  pinned: { prepare: (house) => house.pin('package.json'), answer: /The version in package\.json is \*\*4\.5\.6\*\*/ },
  todos: { answer: /The list has 3 items now/ },
  tick: { prepare: async (house) => { await house.turn('Make todos: sleep, wake'); }, answer: /todo 1 is ticked off/ },
  'list-todos': { prepare: async (house) => { await house.turn('Make todos: sleep, wake'); }, answer: /- 1\. \[ \] sleep\n- 2\. \[ \] wake/ },
  write: { answer: /Created notes\.txt \(1 line, 6 bytes\)/, after: (house) => { expect(house.read('notes.txt')).toBe('alpha\n'); } },
  append: {
    prepare: (house) => { house.write('notes.txt', 'alpha\n'); },
    answer: /notes\.txt ends with "one more"/, after: (house) => { expect(house.read('notes.txt')).toBe('alpha\none more\n'); },
  },
  replace: {
    prepare: (house) => { house.write('notes.txt', 'alpha, alpha\n'); },
    answer: /in notes\.txt "alpha" is "beta" now/, after: (house) => { expect(house.read('notes.txt')).toBe('beta, beta\n'); },
  },
  fetch: { page: '# Example\n\nFor use in documents.', answer: /^https:\/\/example\.com has \d+ characters\. It begins:\n\n```markdown\n# Example\n\nFor use in documents\./ },
  background: { answer: /^`sleep 30` runs in the background as shell-1\./ },
  output: { prepare: async (house) => { await house.turn('Run `echo hi; sleep 30` in the background'); await expect.poll(() => house.session.log.some(({ type }) => type === 'task')).toBe(true); }, answer: /^shell-1 is running(?::\n\n```\nhi\n```|, with no new output\.)$/ },
  stop: { prepare: async (house) => { await house.turn('Start sleep 30 in the background'); }, answer: /^shell-1 is ended\.$/ },
  agent: { answer: /^I cannot have explore do it: there are no agents/ },
  run: { answer: new RegExp(`printed:[\\s\\S]*${process.version}`) },
  lines: { answer: /README\.md has \*\*3 lines\*\*/ },
  range: { answer: /Lines 1 to 3 of package\.json:\n\n```json\n\{\n {2}"name": "lantern",\n {2}"version": "4\.5\.6",\n```/ },
  find: { answer: /I find 1 Markdown file:\n\n- README\.md/ },
  list: { answer: /I find 1 file in src:\n\n- src\/a\.ts$/ },
  tell: { answer: /The name in package\.json is \*\*lantern\*\*/ },
  read: { answer: /\*\*README\.md\*\* has 3 lines\.[\s\S]*A lamp in the terminal\./ },
  search: { answer: /"export" stands in 2 lines:[\s\S]*src\/a\.ts:1:export const alpha/ },
  'look-up': { prepare: (house) => house.pin('package.json'), answer: /The version in package\.json is \*\*4\.5\.6\*\*/ },
  'go-on': {
    prepare: async (house) => {
      const stop = new AbortController();
      stop.abort();
      await house.turn('Count to 3', { signal: stop.signal });
    },
    answer: /3\. line 3$/,
  },
};

describe('each example of the table, with the real client, loop, tools and reminders', () => {
  it.each(rules.filter(({ id }) => id !== 'summary').map((rule) => [rule.id, rule] as const))('%s', async (id, rule) => {
    const one = CASES[id];
    if (one === undefined) throw new Error(`the example of "${id}" has no test`);
    const { page: text } = one;
    const house = demoHouse(FILES, text === undefined ? {} : { web: { fetch: ({ href: url }) => Promise.resolve({ kind: 'page', url, status: 200, type: 'text/html', mime: 'text/markdown', bytes: text.length, text, notes: [] }) } });
    await one.prepare?.(house);
    const { tools, answer, outcome } = await house.turn(rule.example);
    expect(outcome).toEqual({ kind: 'answered' });
    expect(tools).toEqual(rule.tools);
    expect(answer).toMatch(one.answer);
    one.after?.(house);
  });

  it('has at least 15 examples, with unique ids, each with a test', () => {
    expect(rules.filter(({ tools }) => tools.length > 0).length).toBeGreaterThanOrEqual(12);
    expect(rules.length).toBeGreaterThanOrEqual(15);
    expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
    expect(Object.keys(CASES).toSorted()).toEqual(rules.map(({ id }) => id).toSorted());
  });
});

describe('other wordings', () => {
  it.each([
    ['read src/a.ts', ['Read'], /It exports `alpha`, `light`/],
    ['please show me README.md', ['Read'], /first heading is "Lantern"/],
    ['Can you read the readme?', ['Read'], /Lantern/],
    ['show me the contents of README.md', ['Read'], /A lamp in the terminal/],
    ['Read package.json, README.md and src/a.ts', ['Read', 'Read', 'Read'], /lantern[\s\S]*Lantern[\s\S]*alpha/],
    ['what does package.json say about its version?', ['Read'], /The version in package\.json is \*\*4\.5\.6\*\*/],
    ['What is the license in package.json?', ['Read'], /The license in package\.json is \*\*MIT\*\*/],
    ['which version does package.json have?', ['Read'], /4\.5\.6/],
    ['read package.json and tell me the version', ['Read'], /4\.5\.6/],
    ['show line 2 of src/a.ts', ['Read'], /Line 2 of src\/a\.ts:[\s\S]*export function light/],
    ['count the lines in src/a.ts', ['Read'], /\*\*4 lines\*\*/],
    ['ls src', ['Glob'], /src\/a\.ts/],
    ['What is in src/?', ['Glob'], /src\/a\.ts/],
    ['list all files', ['Glob'], /README\.md/],
    ['where is b.ts?', ['Glob'], /src\/deep\/b\.ts/],
    ['find files named *.json', ['Glob'], /package\.json/],
    ['where is light defined?', ['Grep'], /src\/a\.ts:2:/],
    ['grep for nowhere-at-all in src', ['Grep'], /"nowhere-at-all" stands nowhere in src\./],
    ['run echo one two', ['Bash'], /`echo one two` printed:\n\n```\none two\n```/],
    ['run `false` and tell me how it went', ['Bash'], /`false` did not end well:[\s\S]*exit code 1/],
    ['create notes.md containing:\n# Notes\n\n- one', ['Write'], /Created notes\.md/],
    ['save "hi" to a new file greeting.txt', ['Write'], /Created greeting\.txt/],
    ['rename light to shine in src/a.ts', ['Read', 'Edit'], /"light" is "shine" now/],
    ['in src/a.ts, replace "return" by "yield"', ['Read', 'Edit'], /"return" is "yield" now/],
    ['add a todo to buy milk', ['TodoWrite'], /The list has 1 item now/],
    ['add "buy milk" to the todo list', ['TodoWrite'], /The list has 1 item now/],
    ['hello', [], /set of rules, no AI/],
    ['hi there', [], /set of rules, no AI/],
    ['What is in nowhere.ts?', ['Read'], /I cannot read nowhere\.ts: nowhere\.ts does not exist\./],
    ['use skill `git:tidy` on src/a.ts', ['Skill'], /^I cannot use the skill git:tidy: /],
    ['Skill keeper. The files that it speaks of lie in /w/.pinion/skills/keeper.\n\nCheck the lamp 7.\n\nThe branch is main.', [], /^The skill keeper is in view, 3 lines:\n\n```\nCheck the lamp 7\.\n\nThe branch is main\.\n```\n\nI am a set of rules and cannot follow it/],
    ['Write me a poem about the sea', [], /I am the demo model: a set of rules, no AI\. I did not understand that\./],
    ['todo 2', [], /did not understand/],
  ])('%s', async (prompt, tools, answer) => {
    const turned = await demoHouse(FILES).turn(prompt);
    expect(turned.tools).toEqual(tools);
    expect(turned.answer).toMatch(answer);
  });
});

describe('what it does to files', () => {
  it('renames whole words only', async () => {
    const house = demoHouse(FILES);
    const { tools } = await house.turn('rename alpha to omega in src/a.ts');
    expect(tools).toEqual(['Read', 'Write']);
    expect(house.read('src/a.ts')).toBe('export const omega = 1;\nexport function light(alphabet: string) {\n  return alphabet + omega;\n}\n');
  });

  it('reads a file before it replaces it', async () => {
    const house = demoHouse(FILES);
    const { tools, answer } = await house.turn('write README.md with "gone"');
    expect(tools).toEqual(['Write', 'Read', 'Write']);
    expect(answer).toMatch(/Wrote README\.md/);
    expect(house.read('README.md')).toBe('gone\n');
  });

  it('leaves a file alone of which it has not seen all', async () => {
    const long = Array.from({ length: 3000 }, (_, i) => `line ${i + 1}`).join('\n');
    const house = demoHouse({ 'long.txt': long });
    expect((await house.turn('add "end" to long.txt')).answer).toMatch(/too long for me/);
    expect((await house.turn('how many lines has long.txt?')).answer).toMatch(/\*\*3000 lines\*\*/);
    expect(house.read('long.txt')).toBe(long);
  });

  it('makes the file that a line is added to, and no folder into one', async () => {
    const house = demoHouse(FILES);
    expect((await house.turn('add the line "first" to new.txt')).answer).toMatch(/new\.txt ends with "first"/);
    expect(house.read('new.txt')).toBe('first\n');
    expect((await house.turn('add the line "first" to ./src')).answer).toMatch(/I cannot read \.\/src: src is a directory/);
  });
});

describe('what /init asks', () => {
  it('is done as far as rules can, and left to others where something is there', async () => {
    const house = demoHouse({ 'package.json': JSON.stringify({ name: 'x`\ny', description: 'A lamp.', scripts: { test: 'vitest' } }) });
    const first = await house.turn(prompt.trim());
    expect(first.tools).toEqual(['Glob', 'Read', 'Write']);
    expect(house.read('AGENTS.md')).toBe('# x`\\u{A}y\n\nA lamp.\n\n## Commands\n\n- `npm run test`: vitest\n\n## At the top\n\n- package.json\n');
    const again = await house.turn(`${prompt.trim()}\n\nThe user adds: ${'tests '.repeat(1000)}`);
    expect(again).toMatchObject({ tools: ['Glob'], answer: expect.stringMatching(/^There is AGENTS\.md already\. I am the demo model/) });
    const empty = demoHouse({});
    await empty.turn(prompt.trim());
    expect(empty.read('AGENTS.md')).toBe('# This project\n');
  });
});
