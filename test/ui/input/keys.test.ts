import { describe, expect, it } from 'vitest';
import { key, typed } from '#ui/key-codes.ts';
import { keyTable, parseKey } from '#ui/keys.ts';

describe('the key table', () => {
  it('knows the default of every context', () => {
    const keys = keyTable();
    expect(keys.faults).toEqual([]);
    expect(keys.action('composer', key('enter'))).toBe('submit');
    expect(keys.action('composer', key('enter', { alt: true }))).toBe('newline');
    expect(keys.action('composer', key('_', { ctrl: true }))).toBe('undo');
    expect(keys.action('menu', key('tab'))).toBe('accept');
    expect(keys.action('menu', key('enter'))).toBe('choose');
    expect(keys.action('search', key('c', { ctrl: true }))).toBe('cancel');
    expect(keys.action('dialog', key('escape'))).toBe('cancel');
    expect(keys.action('list', key('pagedown'))).toBe('pageDown');
    expect(keys.action('composer', typed('a'))).toBeUndefined();
  });
  it('gives no key two actions in one context', () => {
    const help = keyTable().help;
    expect(help.length).toBeGreaterThan(20);
    for (const { keys, what } of help) expect(`${keys} ${what}`).not.toContain('\n');
    expect(help.find(({ what }) => what.startsWith('undo'))?.keys).toBe('Ctrl-_, Ctrl-Shift--, Ctrl--');
  });
  it('takes bindings of a person\'s own', () => {
    const keys = keyTable({ undo: 'ctrl+x, F2', redraw: '' });
    expect(keys.faults).toEqual([]);
    expect(keys.action('composer', key('x', { ctrl: true }))).toBe('undo');
    expect(keys.action('composer', key('f2'))).toBe('undo');
    expect(keys.action('composer', key('_', { ctrl: true }))).toBeUndefined();
    expect(keys.action('composer', key('l', { ctrl: true }))).toBeUndefined();
  });
  it.each([
    [{ undoo: 'ctrl+x' }, 'keys: there is no action "undoo"; /help lists keys, the README their actions'],
    [{ undo: 'ctrl+zz' }, 'keys: "ctrl+zz" for undo is not a key; write it like ctrl+k, alt+enter or f2'],
    [{ undo: 'x' }, 'keys: "x" for undo is not a key; write it like ctrl+k, alt+enter or f2'],
    [{ undo: 'ctrl+x', redraw: 'ctrl+x' }, 'keys: "ctrl+x" is set for redraw and means undo already; undo keeps it'],
    [{ undo: 'ctrl+c' }, 'keys: "ctrl+c" is set for undo and means stop already; stop keeps it'],
    [{ stop: 'ctrl+x' }, 'keys: stop stays on ctrl+c and cannot be bound otherwise'],
    [{ undo: 'ctrl+o' }, 'keys: "ctrl+o" now means undo; toggleTranscript has no key left'],
  ])('says in one line what is wrong with %o', (bindings, fault) => {
    expect(keyTable(bindings as unknown as Record<string, string>).faults).toEqual([fault]);
  });
  it('keeps the default of an action whose binding is wrong', () => {
    expect(keyTable({ undo: 'hyper+x' }).action('composer', key('_', { ctrl: true }))).toBe('undo');
  });
});

describe('keys as people write them', () => {
  it.each([
    ['Ctrl+K', 'ctrl+k'], ['shift+alt+Enter', 'alt+shift+enter'], ['option+left', 'alt+left'], ['F12', 'f12'], ['esc', 'escape'],
    ['ctrl++', 'ctrl++'], ['ctrl+é', 'ctrl+é'], ['return', 'enter'], ['ctrl+space', 'ctrl+space'],
  ])('%s is %s', (written, key) => { expect(parseKey(written)).toBe(key); });
  it.each(['', 'k', 'space', 'f13', 'ctrl+', 'ctrl+ab', 'super+k'])('%j is none', (written) => { expect(parseKey(written)).toBeUndefined(); });
});
