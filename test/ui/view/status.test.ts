import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { width } from '#lib/terminal.ts';
import type { Status } from '#ui/contract.ts';
import { dollars, duration, tokens } from '#ui/numbers.ts';
import { statusLine } from '#ui/status-line.ts';
import { themeOf } from '#ui/theme.ts';
import { drawTodos } from '#ui/todo-lines.ts';
import { colourPen, plainPen } from './pens.ts';

const plain = themeOf('plain', {});
const STATUS: Status = {
  model: 'claude-opus-5-5', demo: false, mode: 'default', branch: 'main', directory: '/home/me/project', used: 12_345, limit: 200_000, estimated: true,
  pins: 3, pinTokens: 4200, cacheShare: 0.934, usd: 1.234, budgetUsd: undefined, tasks: 0, unsaved: undefined,
};

describe('the status bar', () => {
  it('tells everything where there is room', () => {
    expect(statusLine(STATUS, 200, plain)).toBe('claude-opus-5-5 · asks before it acts · /home/me/project · ⎇ main · ~12k of 200k tokens · 3 pins 4.2k · cache 93 % · $1.23');
  });

  it.each([
    [120, 'claude-opus-5-5 · asks before it acts · project · ⎇ main · ~12k of 200k tokens · 3 pins 4.2k · cache 93 % · $1.23'],
    [80, 'opus-5-5 · asks · ⎇ main · ~12k/200k · 3 pins 4.2k · cache 93 % · $1.23'],
    [40, 'opus-5-5 · asks · ~6 % · 3 pins · $1.23'],
    [20, 'opus-5-5 · ~6 %'],
  ])('is right at %i columns', (columns, line) => { expect(statusLine(STATUS, columns, plain)).toBe(line); });

  it('marks the demo, at every width', () => {
    const demo = { ...STATUS, model: 'pinion-demo', demo: true };
    expect(statusLine(demo, 200, plain)).toMatch(/^pinion-demo, not an AI · /);
    expect(statusLine(demo, 40, plain)).toMatch(/^demo · /);
  });

  it('leaves out what there is not, and says a measured number without a tilde', () => {
    expect(statusLine({ ...STATUS, estimated: false, pins: 0, cacheShare: undefined, branch: undefined, usd: undefined }, 200, plain))
      .toBe('claude-opus-5-5 · asks before it acts · /home/me/project · 12k of 200k tokens · $?');
  });

  it('tells what goes along from the editor, in fewer words where there is less room', () => {
    const marked = { ...STATUS, editor: { name: 'Neovim', lines: 3, file: 'lamp.ts' } };
    expect(statusLine(marked, 200, plain)).toContain(' · 3 pins 4.2k · ⧉ 3 lines of lamp.ts · cache 93 % · ');
    expect(statusLine(marked, 80, plain)).toBe('opus-5-5 · asks · ⎇ main · ~12k/200k · 3 pins 4.2k · ⧉ 3 lines · $1.23');
    expect(statusLine(marked, 40, plain)).toBe('opus-5-5 · asks · ~6 % · ⧉ · $1.23');
    expect(statusLine({ ...STATUS, editor: { name: 'Neovim', lines: 1, file: 'a\u001b[2J.ts' } }, 200, plain)).not.toContain('\u001b[2J');
    expect(statusLine({ ...STATUS, editor: { name: 'Neovim', file: 'lamp.ts' } }, 200, plain)).toContain(' · ⧉ lamp.ts · ');
    expect(statusLine({ ...STATUS, editor: { name: 'Neovim' } }, 200, plain)).toContain(' · ⧉ Neovim · ');
  });

  it('tells of tasks in the background, and of a budget', async () => {
    const busy = { ...STATUS, tasks: 2, budgetUsd: 5 };
    expect(statusLine(busy, 200, plain)).toContain('· asks before it acts · 2 tasks · /tasks · /home/me/project ·');
    expect(statusLine(busy, 200, plain)).toMatch(/ · \$1\.23 of \$5\.00$/);
    expect(statusLine({ ...busy, tasks: 1 }, 40, plain)).toBe('opus-5-5 · asks · 1 task · ~6 % · $1.23');
    const { theme } = await colourPen(80);
    expect(statusLine({ ...busy, usd: 4 }, 200, theme)).toContain('\u001B[33m$4.00 of $5.00');
    expect(statusLine({ ...busy, usd: 5.1 }, 200, theme)).toContain('\u001B[31m$5.10 of $5.00');
  });

  it('says first that nothing can be written', () => {
    expect(statusLine({ ...STATUS, unsaved: 'disk full' }, 200, plain)).toMatch(/^not saved: disk full · /);
    expect(statusLine({ ...STATUS, unsaved: 'disk full' }, 40, plain)).toMatch(/^not saved/);
  });

  it('never wraps and lets nothing through, whatever the values', () => {
    const odd = fc.record({
      model: fc.string({ unit: 'grapheme', minLength: 1 }), demo: fc.boolean(), mode: fc.constantFrom('default', 'acceptEdits', 'plan', 'auto', 'bypassPermissions'), branch: fc.option(fc.string({ unit: 'binary' }), { nil: undefined }),
      directory: fc.string({ unit: 'binary' }), used: fc.nat(), limit: fc.nat(), estimated: fc.boolean(), pins: fc.nat(200), pinTokens: fc.nat(), cacheShare: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
      usd: fc.option(fc.double({ min: 0, max: 1e5, noNaN: true }), { nil: undefined }), unsaved: fc.option(fc.string(), { nil: undefined }), tasks: fc.nat(50), budgetUsd: fc.option(fc.double({ min: 0, max: 1e4, noNaN: true }), { nil: undefined }),
    });
    fc.assert(fc.property(odd as fc.Arbitrary<Status>, fc.integer({ min: 1, max: 220 }), (status, columns) => {
      const line = statusLine(status, columns, plain);
      expect(width(line)).toBeLessThanOrEqual(columns);
      expect(line).not.toMatch(/[\u0000-\u001F\u007F-\u009F]/);
    }), { numRuns: 300 });
  });

  it('warns in colour when the window fills', async () => {
    const { theme } = await colourPen(80);
    expect(statusLine({ ...STATUS, used: 160_000 }, 200, theme)).toContain('\u001B[33m~160k');
    expect(statusLine({ ...STATUS, used: 190_000 }, 200, theme)).toContain('\u001B[31m~190k');
  });
});

describe('numbers', () => {
  it.each([[0, '0'], [999, '999'], [1000, '1k'], [6240, '6.2k'], [9949, '9.9k'], [9951, '10k'], [84_400, '84k'], [999_600, '1M'], [1_250_000, '1.3M']])('%i tokens are %s', (n, words) => { expect(tokens(n)).toBe(words); });
  it.each([[0, '$0'], [0.00012, '$0.0001'], [0.0123, '$0.012'], [0.456, '$0.46'], [12, '$12.00']])('%f dollars are %s', (n, words) => { expect(dollars(n)).toBe(words); });
  it.each([[-5, '0s'], [59_999, '59s'], [125_000, '2m 05s'], [3_720_000, '1h 02m']])('%i ms are %s', (n, words) => { expect(duration(n)).toBe(words); });
});

describe('themes', () => {
  it('have no escape sequence with NO_COLOR or on a dumb terminal', () => {
    for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }]) expect(themeOf('dark', env)('bad', 'x')).toBe('x');
    expect(themeOf('dark', { NO_COLOR: '', TERM: 'xterm' })('bad', 'x')).toBe('\u001B[31mx\u001B[39m');
    expect(themeOf('light', {})('bad', 'x')).not.toBe('x');
  });
});

describe('the todo panel', () => {
  const items = (states: string) => states.split('').map((state, index) => ({ id: index + 1, text: `item ${index + 1}`, state: ({ o: 'open', a: 'active', d: 'done' } as const)[state as 'o'], by: index === 0 ? 'user' as const : 'model' as const }));

  it('shows all where there is room', () => {
    expect(drawTodos(items('dao'), 8, plainPen(60))).toEqual(['todos 1/3 · Ctrl-T hides them', '  ☑ item 1 (yours)', '  ▸ item 2', '  ☐ item 3']);
  });

  it('keeps what is next in sight where there is not', () => {
    expect(drawTodos(items('dddddaoooo'), 5, plainPen(60))).toEqual(['todos 5/10 · Ctrl-T hides them', '  ☑ item 5', '  ▸ item 6', '  ☐ item 7', '  … 7 more']);
    for (let rows = 0; rows < 12; rows += 1) expect(drawTodos(items('dddddaoooo'), rows, plainPen(60)).length).toBeLessThanOrEqual(rows);
  });

  it('is one line when all is done, none without items', () => {
    expect(drawTodos(items('dd'), 8, plainPen(60))).toEqual(['todos 2/2 · Ctrl-T hides them']);
    expect(drawTodos([], 8, plainPen(60))).toEqual([]);
  });
});
