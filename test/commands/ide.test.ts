import { describe, expect, it } from 'vitest';
import type { CommandContext } from '#domain/command.ts';
import type { EditorList, FoundEditor } from '#domain/editor.ts';
import { desk } from './support.ts';

const editor = (name: string, port: number, fits = true): FoundEditor => ({ name, port, folders: [fits ? '/w' : '/elsewhere'], fits });
const listing = (list: Partial<EditorList>): Partial<CommandContext> => ({ editors: () => Promise.resolve({ found: [], connected: undefined, selection: undefined, openFile: undefined, showsDiffs: true, ...list }) });
const neovim = editor('Neovim', 4001);
const code = editor('VS Code', 4002);

describe('/ide', () => {
  it('connects to the one editor that fits', async () => {
    expect(await desk({}, listing({ found: [neovim, editor('Emacs', 4003, false)] })).run('ide')).toEqual({ type: 'ide', what: { connect: 4001 } });
  });

  it('lists several, and connects by number or name', async () => {
    const { shown, run, refused } = desk({}, listing({ found: [neovim, code, editor('Emacs', 4003, false)], problem: 'Neovim: it closed the connection.' }));
    const text = await shown('ide');
    expect(text).toContain('none is connected: /ide <number> connects');
    expect(text).toContain('Neovim: it closed the connection.');
    expect(text).toContain('1. Neovim · /w');
    expect(text).toContain('3. Emacs · /elsewhere · not for this folder');
    expect(await run('ide 2')).toEqual({ type: 'ide', what: { connect: 4002 } });
    expect(await run('ide emacs')).toEqual({ type: 'ide', what: { connect: 4003 } });
    expect(await refused('ide 9')).toBe('There is no editor 9; there are 1 to 3 (/ide lists them).');
    expect(await refused('ide off')).toBe('No editor is connected.');
  });

  it('says what goes along from the one that is connected', async () => {
    const selection = { path: '/w/a.ts', label: 'a.ts', fromLine: 3, toLine: 5, text: 'x', saved: true };
    const { shown, run, refused, complete } = desk({}, listing({ found: [neovim, code], connected: neovim, selection, openFile: 'a.ts' }));
    const text = await shown('ide');
    expect(text).toContain('Editor: Neovim');
    expect(text).toContain('Marked: 3 lines of a.ts (3–5); goes along once');
    expect(text).toContain('1. Neovim · /w · connected');
    expect(await run('ide off')).toEqual({ type: 'ide', what: 'disconnect' });
    expect(await run('ide open src/my file.ts')).toEqual({ type: 'ide', what: { open: 'src/my file.ts' } });
    expect(await refused('ide open')).toBe('Say which file: /ide open <path>.');
    expect(await refused('ide 1 2')).toBe('It is /ide, /ide <number>, /ide off or /ide open <path>.');
    expect(await complete('ide ')).toEqual(['1', '2', 'off', 'open']);
  });

  it('says how to get one where there is none', async () => {
    const { shown, refused } = desk();
    expect(await shown('ide')).toContain('~/.claude/ide/<port>.lock');
    expect(await refused('ide vim')).toBe('No editor has said that it runs here.');
  });
});
