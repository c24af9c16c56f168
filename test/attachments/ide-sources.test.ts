import { describe, expect, it } from 'vitest';
import diagnosticsSource from '#attachments/sources/diagnostics.ts';
import openedSource from '#attachments/sources/ide-opened-file.ts';
import selectionSource from '#attachments/sources/ide-selection.ts';
import serversSource from '#attachments/sources/lsp-diagnostics.ts';
import { NO_USAGE } from '#domain/content.ts';
import type { EditorDiagnostics, EditorView, Selection } from '#domain/editor.ts';
import type { CheckedFile, Report } from '#domain/languages.ts';
import type { World } from '#domain/world.ts';
import { memorySession, prompt } from '../support/logs.ts';
import { nothing } from '../support/nothing.ts';
import { ask, textOf } from './world.ts';

const marked = (more: Partial<Selection> = {}): Selection => ({ path: '/w/src/lamp.ts', label: 'src/lamp.ts', fromLine: 10, toLine: 11, text: 'const a = 1;\nconst b = 2;', saved: true, ...more });

function withEditor(editor: Partial<EditorView>, languages?: World['outside']['languages']): Partial<World> {
  return { outside: { ...nothing.outside, ...(languages !== undefined && { languages }), editor: { ...nothing.outside.editor, name: () => 'Neovim', ...editor } } };
}
const selecting = (selection: Selection | undefined): Partial<World> => withEditor({ selection: () => Promise.resolve(selection), openFile: () => Promise.resolve({ path: '/w/src/lamp.ts', label: 'src/lamp.ts' }) });

describe('ide_selection', () => {
  it('is told with its lines and their numbers, and that it may be there by chance', async () => {
    const said = await ask(selectionSource, memorySession([prompt('why?')]), selecting(marked()));
    expect(textOf(said)).toBe('The user has marked lines 10–11 of src/lamp.ts in Neovim. It may have nothing to do with what they ask:\n    10\tconst a = 1;\n    11\tconst b = 2;');
  });

  it('is told once, told anew when it is another, and again after a compaction', async () => {
    const session = memorySession([prompt('why?')]);
    expect(await ask(selectionSource, session, selecting(marked()))).toBeDefined();
    expect(await ask(selectionSource, session, selecting(marked()))).toBeUndefined();
    expect(textOf(await ask(selectionSource, session, selecting(undefined)))).toBe('What was marked in Neovim is not marked any more.');
    expect(await ask(selectionSource, session, selecting(undefined))).toBeUndefined();
    expect(await ask(selectionSource, session, selecting(marked()))).toMatchObject({ form: 'full' });
    // An editor that is not connected (any more, or again) says nothing of the kind.
    expect(await ask(selectionSource, session, {})).toBeUndefined();
    expect(await ask(selectionSource, session, selecting(marked()))).toBeUndefined();
    expect(textOf(await ask(selectionSource, session, selecting(marked({ fromLine: 10, toLine: 10, text: 'const a = 1;' }))))).toContain('line 10 of');
    session.append({ type: 'compaction', summary: 's', trigger: 'manual', usage: NO_USAGE, model: 'm', tokensBefore: 1 });
    expect(await ask(selectionSource, session, selecting(marked({ fromLine: 10, toLine: 10, text: 'const a = 1;' })))).toMatchObject({ form: 'full' });
  });

  it('is nothing where nothing but blanks is marked', async () => {
    expect(await ask(selectionSource, memorySession([prompt('x')]), selecting(marked({ text: ' \n\t\n' })))).toBeUndefined();
  });

  it('is cut at 2,000 characters, and says so', async () => {
    const text = textOf(await ask(selectionSource, memorySession([prompt('x')]), selecting(marked({ text: 'é'.repeat(5000) }))));
    expect(text).toContain('[shown 2000 of 5000 characters]');
    expect(text?.match(/é/g)).toHaveLength(2000);
  });

  it('says where the editor holds what is not on disk', async () => {
    expect(textOf(await ask(selectionSource, memorySession([prompt('x')]), selecting(marked({ saved: false }))))).toContain('in Neovim (not saved: the file on disk has another text there). It may');
  });

  it('of a file that is pinned or mentioned only the lines are named', async () => {
    const named = 'The user has marked lines 10–11 of src/lamp.ts in Neovim. It may have nothing to do with what they ask.';
    const pinned = memorySession([prompt('why?'), { type: 'attach', by: 'user', attachment: { kind: 'file', id: 'file:a', form: 'live', whole: true, target: { type: 'file', path: '/w/src/lamp.ts' } } }]);
    expect(textOf(await ask(selectionSource, pinned, selecting(marked())))).toBe(named);
    const mentions: Partial<World> = { mentions: { load: () => Promise.resolve({ parts: [], files: [], notes: [] }), named: () => Promise.resolve(new Set(['/w/src/lamp.ts'])), agents: () => [] } };
    expect(textOf(await ask(selectionSource, memorySession([prompt('@src/lamp.ts why?')]), { ...selecting(marked()), ...mentions }))).toBe(named);
    expect(textOf(await ask(selectionSource, memorySession([prompt('@src/lamp.ts#L10-11 why?')]), selecting(marked())))).toBe(named);
    expect(textOf(await ask(selectionSource, memorySession([prompt('@src/lamp.ts#L1-2 why?')]), selecting(marked())))).toContain('const a');
  });
});

describe('ide_opened_file', () => {
  it('is told by its path, once, and not beside a selection', async () => {
    const session = memorySession([prompt('x')]);
    expect(await ask(openedSource, session, selecting(marked()))).toBeUndefined();
    expect(textOf(await ask(openedSource, session, selecting(undefined)))).toBe('The user has src/lamp.ts open in Neovim. It may have nothing to do with what they ask.');
    expect(await ask(openedSource, session, selecting(undefined))).toBeUndefined();
    expect(await ask(openedSource, session, withEditor({ openFile: () => Promise.resolve({ path: '/w/b.ts', label: 'b.ts' }) }))).toMatchObject({ form: 'delta' });
  });

  it('is told again when something was marked in another file meanwhile; blanks that are marked are nothing', async () => {
    const session = memorySession([prompt('x')]);
    const opened = withEditor({ openFile: () => Promise.resolve({ path: '/w/b.ts', label: 'b.ts' }) });
    expect(await ask(openedSource, session, opened)).toBeDefined();
    expect(await ask(selectionSource, session, selecting(marked()))).toBeDefined();
    expect(await ask(openedSource, session, selecting(marked()))).toBeUndefined();
    expect(textOf(await ask(openedSource, session, opened))).toContain('has b.ts open');
    expect(await ask(openedSource, session, opened)).toBeUndefined();
    expect(textOf(await ask(openedSource, session, selecting(marked({ text: ' \n' }))))).toContain('has src/lamp.ts open');
  });
});

type Problem = EditorDiagnostics['diagnostics'][number];
const problem = (message: string, more: Partial<Problem> = {}): Problem => ({ path: '/w/a.ts', label: 'a.ts', line: 3, column: 7, severity: 'error', message, ...more });
const reporting = (diagnostics: readonly Problem[], answered = ['/w/a.ts'], languages?: World['outside']['languages']): Partial<World> => withEditor({ written: () => Promise.resolve({ diagnostics, answered }) }, languages);

describe('diagnostics', () => {
  it('are told once, worst first, with where and by whom', async () => {
    const session = memorySession([prompt('x')]);
    const all = [problem('unused', { severity: 'warning', source: 'eslint', code: 'no-unused' }), problem('Type\n\'string\'  is not assignable', { source: 'ts', code: '2322' }), problem('hint', { severity: 'hint' })];
    expect(textOf(await ask(diagnosticsSource, session, reporting(all)))).toBe('Neovim reports in files that were written, and did not before:\na.ts\n  3:7 error (ts 2322): Type \'string\' is not assignable\n  3:7 warning (eslint no-unused): unused');
    expect(await ask(diagnosticsSource, session, reporting(all))).toBeUndefined();
    expect(await ask(diagnosticsSource, session, reporting(all.map((one) => ({ ...one, line: 30 }))))).toBeUndefined();
  });

  it('that went are counted once, and only where the editor has answered', async () => {
    const session = memorySession([prompt('x')]);
    await ask(diagnosticsSource, session, reporting([problem('one'), problem('two')]));
    expect(await ask(diagnosticsSource, session, reporting([], []))).toBeUndefined();
    expect(textOf(await ask(diagnosticsSource, session, reporting([problem('two')])))).toBe('Neovim does not report 1 problem any more that it had reported after an edit.');
    expect(await ask(diagnosticsSource, session, reporting([problem('two')]))).toBeUndefined();
    expect(textOf(await ask(diagnosticsSource, session, reporting([problem('one'), problem('two')])))).toContain('error: one');
  });

  it('of a file that a language server of ours has checked are left to it', async () => {
    const file: CheckedFile = { path: '/w/a.ts', label: 'a.ts', reports: [], whole: true };
    const session = memorySession([prompt('x')]);
    expect(await ask(diagnosticsSource, session, reporting([problem('one')], ['/w/a.ts'], { written: () => Promise.resolve([file]) }))).toBeUndefined();
    expect(textOf(await ask(diagnosticsSource, session, reporting([problem('one'), problem('b', { path: '/w/b.ts', label: 'b.ts' })], ['/w/a.ts', '/w/b.ts'], { written: () => Promise.resolve([file]) })))).toBe('Neovim reports in files that were written, and did not before:\nb.ts\n  3:7 error: b');
    expect(await ask(diagnosticsSource, memorySession([prompt('x')]), reporting([problem('one')], ['/w/a.ts'], { written: () => Promise.reject(new Error('on fire')) }))).toBeDefined();
  });

  it('of a file that it has told of stay with the editor, and those of one that a server has told of with the server', async () => {
    const report: Report = { path: '/w/a.ts', line: 3, column: 7, severity: 'error', message: 'one', text: 'x', fresh: true };
    const checked: World['outside']['languages'] = { written: () => Promise.resolve([{ path: '/w/a.ts', label: 'a.ts', reports: [report], whole: true }]) };
    const slow = memorySession([prompt('x')]);
    expect(textOf(await ask(diagnosticsSource, slow, reporting([problem('one')])))).toContain('error: one');
    expect(await ask(serversSource, slow, reporting([problem('one')], ['/w/a.ts'], checked))).toBeUndefined();
    expect(await ask(diagnosticsSource, slow, reporting([problem('one')], ['/w/a.ts'], checked))).toBeUndefined();
    expect(textOf(await ask(diagnosticsSource, slow, reporting([], ['/w/a.ts'], checked)))).toContain('does not report 1 problem any more');
    expect(textOf(await ask(serversSource, slow, reporting([], ['/w/a.ts'], checked)))).toContain('error: one');
    const late = memorySession([prompt('x')]);
    expect(await ask(serversSource, late, reporting([problem('one')], ['/w/a.ts'], checked))).toBeDefined();
    expect(await ask(diagnosticsSource, late, reporting([problem('one')]))).toBeUndefined();
    // Without an editor the servers tell of everything.
    const alone = memorySession([prompt('x')]);
    expect(await ask(diagnosticsSource, alone, reporting([problem('one')]))).toBeDefined();
    expect(textOf(await ask(serversSource, alone, { outside: { ...nothing.outside, languages: checked } }))).toContain('error: one');
  });

  it('are not said to be gone where they are only no news to another process', async () => {
    const session = memorySession([prompt('x')]);
    await ask(diagnosticsSource, session, reporting([problem('one')]));
    const later = (before: readonly Problem[]): Partial<World> => withEditor({ written: () => Promise.resolve({ diagnostics: [], before, answered: ['/w/a.ts'] }) });
    expect(await ask(diagnosticsSource, session, later([problem('one')]))).toBeUndefined();
    expect(textOf(await ask(diagnosticsSource, session, later([])))).toContain('does not report 1 problem any more');
  });

  it('are twenty at a time; the rest is told at the next moment', async () => {
    const session = memorySession([prompt('x')]);
    const all = Array.from({ length: 30 }, (_, i) => problem(`number ${i}`));
    const first = textOf(await ask(diagnosticsSource, session, reporting(all)));
    expect(first).toContain('(10 more problems left out here)');
    expect(textOf(await ask(diagnosticsSource, session, reporting(all)))?.match(/number \d+/g)).toHaveLength(10);
    expect(await ask(diagnosticsSource, session, reporting(all))).toBeUndefined();
  });

  it('are nothing without an editor', async () => {
    expect(await ask(diagnosticsSource, memorySession([prompt('x')]), { outside: { ...nothing.outside, editor: { ...nothing.outside.editor, written: () => Promise.reject(new Error('not to be asked')) } } })).toBeUndefined();
  });
});
