import { describe, expect, it } from 'vitest';
import type { MemoryItem, MemoryView } from '#domain/command.ts';
import { desk, drawn } from './support.ts';

const item = (path: string, more: Partial<MemoryItem> = {}): MemoryItem => ({ path, scope: 'project', text: 'one\ntwo', notes: [], tokens: 12, ...more });
const NONE: MemoryView = { files: [], nested: [], waiting: [], notes: [], places: [{ name: 'project', what: 'the project\'s, shared with others', file: '/w/AGENTS.md', exists: false }] };

function view(cwd: string): MemoryView {
  return {
    files: [item('/home/u/.claude/CLAUDE.md', { scope: 'user' }), item(`${cwd}/AGENTS.md`, { imports: [`${cwd}/docs/a.md`], notes: ['@b.md: not imported, no such file'] }), item('/s/memory/MEMORY.md', { scope: 'notes' })],
    nested: [item(`${cwd}/sub/AGENTS.md`), item(`${cwd}/.claude/rules/ts.md`, { when: ['**/*.ts'] })],
    waiting: [item(`${cwd}/.claude/rules/py.md`, { when: ['**/*.py'] })],
    notes: [item('/s/memory/deploy.md', { scope: 'notes', changedOn: '2026-11-01' })],
    places: [{ name: 'project', what: 'the project\'s, shared with others', file: `${cwd}/AGENTS.md`, exists: true }, { name: 'local', what: 'your own for this project', file: `${cwd}/AGENTS.local.md`, exists: false }],
  };
}

function memoryDesk(make: (cwd: string) => MemoryView = view) {
  let cwd = '';
  const at = desk({}, { memory: () => Promise.resolve(make(cwd)) });
  ({ cwd } = at.context);
  return at;
}

describe('/memory', () => {
  it('lists what is in effect, what waits, what was left out, and the notes', async () => {
    const at = memoryDesk();
    const effect = await at.run('memory');
    if (effect.type !== 'show') throw new Error('no card');
    expect(drawn(effect.card, 100)).toEqual([
      '● Memory  5 files in effect, ~60 tokens',
      '    │ file                      │ lines │ tokens │ what',
      '  ──┼───────────────────────────┼───────┼────────┼─────────────────────────────────────',
      '  1 │ /home/u/.claude/CLAUDE.md │     2 │    ~12 │ yours',
      '  2 │ AGENTS.md                 │     2 │    ~12 │ project',
      '  3 │ /s/memory/MEMORY.md       │     2 │    ~12 │ index of kept notes',
      '  4 │ sub/AGENTS.md             │     2 │    ~12 │ project, for the files in its folder',
      '  5 │ .claude/rules/ts.md       │     2 │    ~12 │ project, for **/*.ts',
      '  6 │ .claude/rules/py.md       │     2 │    ~12 │ project, waits for **/*.py',
      '  7 │ /s/memory/deploy.md       │     2 │    ~12 │ note, changed 2026-11-01',
      '',
      '  • AGENTS.md imports docs/a.md',
      '  • AGENTS.md: @b.md: not imported, no such file',
      '  Kept notes are recalled when they bear on what you write.',
      '  • /memory edit project: AGENTS.md, the project\'s, shared with others',
      '  • /memory edit local: AGENTS.local.md, your own for this project (not there yet)',
    ]);
  });
  it('says what there could be where there is nothing', async () => {
    const text = await memoryDesk(() => ({ ...NONE, off: 'autoMemoryEnabled is false' })).shown('memory');
    expect(text).toContain('0 files in effect');
    expect(text).toContain('Kept notes are not recalled: autoMemoryEnabled is false.');
    expect(text).toContain('(not there yet)');
    expect(await memoryDesk(() => NONE).refused('memory show 1')).toMatch(/no instruction files yet.*\/init/);
  });
  it('shows one by its number, name or end, with what it brings along', async () => {
    const at = memoryDesk();
    for (const which of ['2', 'AGENTS.md']) expect(await at.shown(`memory show ${which}`)).toMatch(/^AGENTS\.md[^]*2 lines, ~12 tokens, project[^]*imports docs\/a\.md[^]*one\n/);
    expect(await at.shown('memory show deploy.md')).toContain('note, changed 2026-11-01');
    expect(await at.refused('memory show')).toBe('Say which: a number from 1 to 7, as /memory lists them.');
    expect(await at.refused('memory show 99')).toContain('There is no file 99');
    expect(await at.refused('memory shwo')).toBe('/memory has no "shwo". Did you mean /memory show?');
    const twins = memoryDesk((cwd) => ({ ...view(cwd), nested: [item(`${cwd}/a/RULES.md`), item(`${cwd}/b/RULES.md`)] }));
    expect(await twins.refused('memory show RULES.md')).toContain('2 files are called RULES.md');
  });
  it('opens one in the editor: the project\'s when nothing is said', async () => {
    const at = memoryDesk();
    const { cwd } = at.context;
    expect(await at.run('memory edit')).toEqual({ type: 'edit', file: `${cwd}/AGENTS.md` });
    expect(await at.run('memory edit local')).toEqual({ type: 'edit', file: `${cwd}/AGENTS.local.md` });
    expect(await at.run('memory edit 7')).toEqual({ type: 'edit', file: '/s/memory/deploy.md' });
    expect(await at.refused('memory edit nope')).toContain('There is no file nope');
  });
  it('lists some of very many notes, and keeps hostile names on their line', async () => {
    const text = await memoryDesk((cwd) => ({ ...view(cwd), notes: Array.from({ length: 200 }, (_, i) => item(`/s/memory/n${i}.md`, { scope: 'notes' })), nested: [item(`${cwd}/a\u001b[2Jb/AGENTS.md`, { notes: ['x\u001b[2J'] })] })).shown('memory');
    expect(text).toContain('and 170 more notes');
    expect(text).not.toContain('a\u001b');
  });
  it('completes its words, places and numbers', async () => {
    const at = memoryDesk();
    expect(await at.complete('memory ')).toEqual(['show', 'edit']);
    expect(await at.complete('memory edit ')).toEqual(['project', 'local', '1', '2', '3', '4', '5', '6', '7']);
    expect(await at.complete('memory show ')).toEqual(['1', '2', '3', '4', '5', '6', '7']);
  });
});

describe('/init', () => {
  it('sends a prompt about the project, under its own name', async () => {
    const effect = await desk().run('init');
    expect(effect).toMatchObject({ type: 'submit', shown: '/init', prompt: expect.stringContaining('`AGENTS.md`') });
  });
  it('takes a wish of the user\'s along', async () => {
    const effect = await desk().run('init focus on\nthe tests');
    expect(effect).toMatchObject({ type: 'submit', shown: '/init focus on\\u{A}the tests', prompt: expect.stringMatching(/The user adds: focus on\nthe tests$/) });
  });
});
