import { describe, expect, it } from 'vitest';
import type { Question } from '#domain/ports.ts';
import { width } from '#lib/terminal.ts';
import type { InputEvent, Picker } from '#ui/contract.ts';
import { type Dialog, drawDialog, openDialog, type Outcome } from '#ui/dialog.ts';
import { narrowed } from '#ui/picker.ts';
import { typeInto } from '#ui/typing.ts';
import { callId } from './entries.ts';
import { plainPen } from './pens.ts';
import { key, press as pressAll, typed } from './presses.ts';

const pen = plainPen(60);
const rows = 12;
const press = (dialog: Dialog, ...events: readonly InputEvent[]): Dialog | Outcome => pressAll(dialog, events, rows);

const permission = (more: Partial<Extract<Question, { kind: 'permission' }>> = {}): Dialog => openDialog({
  type: 'ask', id: 7, question: {
    kind: 'permission', call: { id: callId('c'), tool: 'Bash', input: {} }, reason: 'It runs a program.', rules: ['Bash(npm test:*)'], keep: 'local',
    card: { title: 'Bash npm test', body: [{ type: 'code', text: 'npm test\u001B[2J' }] }, ...more,
  },
});
const answer = (kind: 'yes' | 'no' | 'always', instead?: string): Outcome => ({ type: 'answer', id: 7, answer: kind === 'no' ? { kind, ...(instead === undefined ? {} : { instead }) } : { kind } });

describe('the permission dialog', () => {
  it('shows what would run, why it asks and the answers', async () => {
    await expect(`${drawDialog(permission(), 12, pen).join('\n')}\n`).toMatchFileSnapshot('../../golden/frames/dialog-permission.txt');
    await expect(`${drawDialog(press(permission(), key('3'), ...typed('use pnpm')) as Dialog, 12, plainPen(40)).join('\n')}\n`).toMatchFileSnapshot('../../golden/frames/dialog-instead-40.txt');
  });

  it.each<[string, readonly InputEvent[], Outcome]>([
    ['1', [key('1')], answer('yes')],
    ['y', [key('y')], answer('yes')],
    ['Enter', [key('enter')], answer('yes')],
    ['2', [key('2')], answer('always')],
    ['down, Enter', [key('down'), key('enter')], answer('always')],
    ['Esc', [key('escape')], answer('no')],
    ['Ctrl-C', [key('c', { ctrl: true })], answer('no')],
    ['Tab, Shift-Tab, Enter', [key('tab'), key('tab', { shift: true }), key('enter')], answer('yes')],
    ['3, Enter', [key('3'), key('enter')], answer('no')],
    ['n and words', [key('n'), ...typed('use pnpm'), key('enter')], answer('no', 'use pnpm')],
    ['3, a paste', [key('3'), { type: 'paste', text: 'do\nthis' }, key('enter')], answer('no', 'do this')],
    ['3, words, Esc', [key('3'), ...typed('x1'), key('escape')], answer('no')],
    ['up, Enter, words with digits', [key('up'), key('enter'), ...typed('123'), key('backspace'), key('enter')], answer('no', '12')],
    ['3, back up, 1', [key('3'), key('up'), key('1')], answer('yes')],
  ])('%s', (_, events, outcome) => { expect(press(permission(), ...events)).toEqual(outcome); });

  it('has no "always" where no rule would spare the question', () => {
    expect(press(permission({ rules: [] }), key('2'), ...typed('x'), key('enter'))).toEqual(answer('no', 'x'));
    expect(press(permission({ rules: [] }), key('3'), ...typed('use make'), key('enter'))).toEqual(answer('no', 'use make'));
    expect(press(permission({ rules: [] }), key('0'), key('enter'))).toEqual(answer('yes'));
  });

  it('does not take other keys for an answer', () => {
    for (const event of [key('4'), key('0'), key('q'), key('1', { ctrl: true }), key('y', { alt: true }), key('f1'), { type: 'paste', text: '1\n' } as const, { type: 'focus', focused: true } as const]) {
      expect(press(permission(), event)).toMatchObject({ type: 'choice' });
    }
  });

  it('lets all of what is decided about be read, however long', () => {
    const words = (name: string, n: number): string => Array.from({ length: n }, (_, i) => `${name}${i}`).join(' ');
    const dialog = permission({ card: { title: `Bash ${words('t', 90)}`, body: [] }, reason: words('r', 30), rules: [words('rule', 80)] });
    let seen = '';
    for (let scroll = 0, now: Dialog = dialog; scroll < 20; scroll += 1) {
      seen += drawDialog(now, 16, pen).join('\n');
      now = press(now, key('down', { shift: true })) as Dialog;
    }
    for (const [name, n] of [['t', 90], ['r', 30], ['rule', 80]] as const) for (let i = 0; i < n; i += 1) expect(seen).toContain(`${name}${i}`);
  });

  it('scrolls a long diff, and always has room for the answers', () => {
    const patch = `@@ -1,0 +1,40 @@\n${Array.from({ length: 40 }, (_, i) => `+line ${i + 1}`).join('\n')}`;
    const dialog = permission({ card: { title: 'Write a.ts', body: [{ type: 'diff', patch }] } });
    for (let rows = 6; rows <= 30; rows += 1) {
      const lines = drawDialog(dialog, rows, pen);
      expect(lines.length).toBeLessThanOrEqual(rows);
      expect(lines.join('\n')).toContain('1 yes');
      expect(lines.join('\n')).toContain('no, and tell it');
    }
    expect(drawDialog(dialog, 12, pen).join('\n')).toContain('lines 1–3 of 40');
    const end = press(dialog, key('end')) as Dialog;
    expect(drawDialog(end, 12, pen).join('\n')).toContain('line 40');
    expect(press(dialog, ...Array.from({ length: 20 }, () => key('pagedown')), key('pageup'))).toMatchObject({ scroll: 40 - 3 - 8 });
    expect(press(end, key('home'))).toMatchObject({ scroll: 0 });
    expect(press(dialog, key('down', { shift: true }))).toMatchObject({ scroll: 1, at: 0 });
  });
});

describe('a plan', () => {
  const PLAN = `# Lamps for the tower\n\nFirst **measure**, then:\n\n${Array.from({ length: 30 }, (_, i) => `- step ${i} with \`code ${i}\``).join('\n')}\n\n\u001B[2Jend of it`;
  const plan = (words = PLAN, file = '/home/me/.local/state/pinion/plans/lamps-for-the-tower.md'): Dialog => openDialog({ type: 'ask', id: 7, question: { kind: 'plan', plan: words, file } });
  const approved = (mode: 'default' | 'acceptEdits' | 'auto'): Outcome => ({ type: 'answer', id: 7, answer: { kind: 'approved', mode } });

  it('is rendered, with its file and the answers, and scrolls to its end', async () => {
    const short = plan('# Lamps\n\nDo **this**:\n\n1. one\n2. two\n', 'plans/lamps.md');
    const end = press(plan(), key('end')) as Dialog;
    await expect(`${[drawDialog(plan(), 14, plainPen(79)), drawDialog(short, 16, plainPen(39)), drawDialog(end, 12, pen)].map((lines) => lines.join('\n')).join('\n\n=====\n\n')}\n`).toMatchFileSnapshot('../../golden/frames/dialog-plan.txt');
    expect(drawDialog(end, 12, pen).join('\n')).toContain('␛[2Jend of it');
  });

  it.each<[string, readonly InputEvent[], Outcome]>([
    ['Enter', [key('enter')], approved('acceptEdits')],
    ['1', [key('1')], approved('acceptEdits')],
    ['y', [key('y')], approved('acceptEdits')],
    ['2', [key('2')], approved('default')],
    ['3', [key('3')], approved('auto')],
    ['down, down, down, Enter and words', [key('down'), key('down'), key('down'), key('enter'), ...typed('smaller 3'), key('enter')], answer('no', 'smaller 3')],
    ['n, Enter', [key('n'), key('enter')], answer('no')],
    ['Esc', [key('escape')], answer('no')],
    ['n, words, Esc', [key('4'), ...typed('no'), key('escape')], answer('no')],
  ])('%s', (_, events, outcome) => { expect(press(plan(), ...events)).toEqual(outcome); });

  it('has room for its answers in any window, and says where its file is by its end', () => {
    for (const columns of [20, 39, 79]) {
      for (let lines = 6; lines < 30; lines += 1) {
        const drawn = drawDialog(plan(), lines, plainPen(columns));
        expect(drawn.length).toBeLessThanOrEqual(lines);
        for (const line of drawn) expect(width(line)).toBeLessThanOrEqual(columns);
        expect(drawn.join('\n')).toContain('no, keep');
      }
    }
    expect(drawDialog(plan(), 20, plainPen(39)).join('\n')).toMatch(/\n {2}….*tower\.md\n/);
  });
});

describe('other questions', () => {
  it('asks for a yes by name: no is what a stray Enter says', async () => {
    const dialog = openDialog({ type: 'ask', id: 7, question: { kind: 'confirm', title: 'AGENTS.md imports files outside of this folder. Read them?', lines: ['/etc/motd', '~/notes\u202E/x.md'] } });
    await expect(`${drawDialog(dialog, 12, plainPen(39)).join('\n')}\n`).toMatchFileSnapshot('../../golden/frames/dialog-confirm-40.txt');
    expect(press(dialog, key('enter'))).toEqual(answer('no'));
    expect(press(dialog, key('escape'))).toEqual(answer('no'));
    expect(press(dialog, key('y'))).toEqual(answer('yes'));
    expect(press(dialog, key('up'), key('enter'))).toEqual(answer('yes'));
  });

  it('tells which sub-agent asks', () => {
    expect(drawDialog(permission({ who: 'explore\u001B' }), 12, pen)[1]).toBe('explore␛ asks:');
    expect(drawDialog(permission(), 12, pen)[1]).toBe('? Bash npm test');
  });

  it('lists what a folder wants, and a stray Enter does not trust it', () => {
    const dialog = openDialog({ type: 'ask', id: 7, question: { kind: 'trust', folder: '/work/x', wants: ['allow Bash(make:*)', 'set FOO'] } });
    expect(drawDialog(dialog, 20, pen).join('\n')).toContain('  • allow Bash(make:*)\n  • set FOO');
    expect(press(dialog, key('enter'))).toEqual(answer('no'));
    expect(press(dialog, key('1'))).toEqual(answer('yes'));
  });

  it('asks whether to go on', () => {
    const dialog = openDialog({ type: 'ask', id: 7, question: { kind: 'goOn', text: 'The same call again.' } });
    expect(press(dialog, key('enter'))).toEqual(answer('yes'));
    expect(press(dialog, key('2'))).toEqual(answer('no'));
  });

  it('never shows a secret', () => {
    const dialog = openDialog({ type: 'secret', id: 7, title: 'API key', hint: 'It is kept in a file only you can read.' });
    const filled = press(dialog, { type: 'paste', text: ' sk-1\n' }, ...typed('23')) as Dialog;
    expect(drawDialog(filled, 12, pen).join('\n')).not.toMatch(/sk|23/);
    expect(drawDialog(filled, 12, pen).join('\n')).toContain('› ••••••••▏');
    expect(press(filled, key('enter'))).toEqual({ type: 'secret', id: 7, text: 'sk-1 23' });
    expect(press(dialog, key('enter'))).toEqual(dialog);
    expect(press(filled, key('escape'))).toEqual({ type: 'secret', id: 7, text: undefined });
  });
});

describe('the picker', () => {
  const picker: Picker = { title: 'Sessions', items: Array.from({ length: 30 }, (_, i) => ({ id: `s${i}`, label: `session ${i} 日本`, ...(i % 2 === 0 ? { detail: `even, ${i} minutes ago` } : {}) })) };
  const dialog = openDialog({ type: 'pick', id: 7, picker });
  const picked = (item: string | undefined): Outcome => ({ type: 'pick', id: 7, item });

  it('shows a window around what is chosen', async () => {
    const at = press(dialog, key('pagedown'), key('pagedown'), key('up')) as Dialog;
    for (const columns of [30, 60]) {
      const lines = drawDialog(at, 10, plainPen(columns));
      expect(lines).toHaveLength(10);
      for (const line of lines) expect(width(line)).toBeLessThanOrEqual(columns);
      expect(lines.filter((line) => line.startsWith('›'))).toEqual([expect.stringContaining('session 15')]);
    }
    await expect(`${drawDialog(at, 10, pen).join('\n')}\n`).toMatchFileSnapshot('../../golden/frames/picker.txt');
  });

  it('narrows by what is typed, in labels and details', () => {
    const narrow = press(dialog, ...typed('even 28')) as Extract<Dialog, { type: 'picker' }>;
    expect(narrowed(narrow).map(({ id }) => id)).toEqual(['s28']);
    expect(press(narrow, key('enter'))).toEqual(picked('s28'));
    expect(press(narrow, key('escape'))).toEqual(dialog);
    expect(press(dialog, ...typed('zzz'), key('enter'))).toMatchObject({ type: 'picker', filter: 'zzz' });
  });

  it('says nothing of narrowing and counting where all can be seen at a glance', () => {
    const two = openDialog({ type: 'pick', id: 1, picker: { title: 'Which?', items: [{ id: 'a', label: 'one' }, { id: 'b', label: 'two' }] } });
    expect(drawDialog(two, 10, pen).slice(1)).toEqual(['Which?', '› one', '  two', 'Enter takes · Esc leaves']);
    expect(drawDialog(dialog, 10, pen)[1]).toContain('type to narrow');
  });

  it('puts the details of a few items below them where the window is narrow', () => {
    const welcome: Picker = { title: 'Welcome. There is no API key yet, nowhere.', items: [{ id: 'a', label: 'Go on with the demo model', detail: 'offline and free; rule-based, not an AI' }, { id: 'b', label: 'Enter a key' }] };
    const drawn = (rows: number, columns: number) => drawDialog(openDialog({ type: 'pick', id: 1, picker: welcome }), rows, plainPen(columns)).slice(1);
    expect(drawn(12, 39)).toEqual(['Welcome. There is no API key yet,', 'nowhere.', '› Go on with the demo model', '    offline and free; rule-based, not', '    an AI', '  Enter a key', 'Enter takes · Esc leaves']);
    expect(drawn(6, 39)).toHaveLength(5);
    expect(drawn(12, 80)).toHaveLength(4);
  });

  it('leaves room for what tells items apart', () => {
    const long = openDialog({ type: 'pick', id: 1, picker: { title: 'Which?', items: [{ id: 'a', label: 'words '.repeat(20), detail: '42 min ago · 15 KiB · main' }] } });
    expect(drawDialog(long, 10, plainPen(60))[2]).toBe('› words words words words words…  42 min ago · 15 KiB · main');
    expect(drawDialog(long, 10, plainPen(40))[2]).toBe('› words words words…  42 min ago · 15 K…');
  });

  it('begins at what is in effect', () => {
    expect(press(openDialog({ type: 'pick', id: 7, picker: { ...picker, now: 's4' } }), key('enter'))).toEqual(picked('s4'));
    expect(press(openDialog({ type: 'pick', id: 7, picker: { ...picker, now: 'gone' } }), key('enter'))).toEqual(picked('s0'));
  });

  it('goes round at both ends and leaves with Esc', () => {
    expect(press(dialog, key('up'), key('enter'))).toEqual(picked('s29'));
    expect(press(dialog, key('end'), key('down'), key('enter'))).toEqual(picked('s0'));
    expect(press(dialog, key('escape'))).toEqual(picked(undefined));
    expect(drawDialog(openDialog({ type: 'pick', id: 1, picker: { title: 't', items: [] } }), 10, pen).join('\n')).toContain('nothing to choose from');
  });
});

describe('the queue', () => {
  const items = Array.from({ length: 20 }, (_, i) => ({ id: `e${i}`, text: `line ${i}\nand ${'more '.repeat(30)}` }));
  const queue = openDialog({ type: 'queue', id: 7, items });
  const chosen = (id: string, how: 'edit' | 'remove'): Outcome => ({ type: 'queue', id: 7, choice: { id, how } });

  it('begins at the newest, takes it back with Enter and removes with d', () => {
    expect(press(queue, key('enter'))).toEqual(chosen('e19', 'edit'));
    for (const event of [key('d'), key('delete'), key('backspace')]) expect(press(queue, key('up'), event)).toEqual(chosen('e18', 'remove'));
    expect(press(queue, key('down'), key('enter'))).toEqual(chosen('e0', 'edit'));
    expect(press(queue, key('escape'))).toEqual({ type: 'queue', id: 7, choice: undefined });
    expect(press(queue, key('d', { ctrl: true, text: '' }), key('x'))).toEqual(queue);
  });

  it('cuts long lines and keeps the cursor in sight', () => {
    for (let rows = 4; rows < 12; rows += 1) {
      const lines = drawDialog(press(queue, key('home'), ...Array.from({ length: 9 }, () => key('down'))) as Dialog, rows, plainPen(40));
      expect(lines.length).toBeLessThanOrEqual(rows);
      expect(lines.filter((line) => line.startsWith('›'))).toEqual([expect.stringMatching(/^› line 9␊and more.*…$/)]);
      for (const line of lines) expect(width(line)).toBeLessThanOrEqual(40);
    }
  });
});

describe('a line typed at its end', () => {
  it.each<[string, InputEvent, string | undefined]>([
    ['ab', key('c'), 'abc'],
    ['a👩‍👩‍👧', key('backspace'), 'a'],
    ['', key('backspace'), ''],
    ['one two', key('w', { ctrl: true }), 'one '],
    ['one', key('u', { ctrl: true }), ''],
    ['a', key('left'), undefined],
    ['a', key('x', { alt: true, text: 'x' }), undefined],
  ])('%j and a key', (before, event, after) => { expect(typeInto(before, event)).toBe(after); });
});
