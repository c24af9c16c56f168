import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readVerdict, writeVerdict } from '#gate/access.ts';
import { createImports } from '#gate/imports.ts';
import { createPlaces } from '#gate/places.ts';
import { rulebookOf } from '#gate/rulebook.ts';
import { withoutUntrusted } from '#gate/trust.ts';
import { tempFolder } from '../support/temp.ts';
import { ruleSet } from './workspace.ts';

interface Ground { readonly home: string; readonly notes: string; write(path: string, edits?: boolean): string; read(path: string): string }

/** The program's state in a home, with a folder of notes in it. */
function ground(notesAt = 'state/memory/p'): Ground {
  const home = tempFolder({ 'app/a.ts': '', 'state/trust.json': '{}', 'state/memory/p/topic.md': 'x', 'secret/key.md': 'k' });
  const notes = join(home, notesAt);
  const places = createPlaces({ roots: () => [join(home, 'app')], home, state: [join(home, 'state')], notes: () => notes });
  const book = rulebookOf(ruleSet(home, {}), places.anchors());
  const say = (verdict: ReturnType<typeof readVerdict>): string => (verdict.kind === 'ask' ? `ask${verdict.hard ? ' always' : ''}` : verdict.kind);
  return {
    home, notes,
    write: (path, edits = true) => say(writeVerdict({ places, book, edits }, 'Write', path, join(home, 'app'))),
    read: (path) => say(readVerdict({ places, book, edits: false }, 'Read', path, join(home, 'app'))),
  };
}

describe('the folder of notes', () => {
  it('is as the workspace for the Markdown files that lie in it', () => {
    const at = ground();
    for (const name of ['topic.md', 'new.md', 'MEMORY.md', 'Über.MD']) {
      expect([at.read(join(at.notes, name)), at.write(join(at.notes, name)), at.write(join(at.notes, name), false)]).toEqual(['ok', 'ok', 'ask']);
    }
    expect(at.write(join(at.home, 'state/memory/p/../p/new.md'))).toBe('ok');
  });
  it('is guarded as ever for all else in it and around it', () => {
    const at = ground();
    for (const name of ['x.json', 'x', '.hidden.md', 'sub/x.md', 'AGENTS.md', 'CLAUDE.md', '../x.md', '../../trust.json', '../other/x.md']) {
      expect([name, at.write(join(at.notes, name))]).toEqual([name, 'ask always']);
    }
    expect(at.read(join(at.home, 'state/trust.json'))).toBe('ask');
    expect(at.read(at.notes)).toBe('ask');
  });
  it('is no way out: neither by links, nor by second names, nor by a folder that is one', () => {
    const at = ground();
    symlinkSync(join(at.home, 'secret/key.md'), join(at.notes, 'link.md'));
    symlinkSync('../../trust.json', join(at.notes, 'trust.md'));
    symlinkSync(join(at.home, 'secret'), join(at.notes, 'folder'));
    linkSync(join(at.home, 'secret/key.md'), join(at.notes, 'twin.md'));
    symlinkSync(at.notes, join(at.home, 'app/notes'));
    for (const name of ['link.md', 'trust.md', 'folder/key.md', 'twin.md']) expect([name, at.write(join(at.notes, name)).slice(0, 3)]).toEqual([name, 'ask']);
    expect(at.read(join(at.notes, 'link.md'))).toBe('ask');
    symlinkSync('topic.md', join(at.notes, 'alias.md'));
    expect(at.write(join(at.notes, 'alias.md')).slice(0, 3)).toBe('ask');
    expect(at.write('notes/topic.md')).toBe('ok');
  });
  it('is none where it holds more than notes', () => {
    for (const folder of ['state', '.', 'state/..']) {
      const at = ground(folder);
      writeFileSync(join(at.notes, 'x.md'), '');
      expect([folder, at.write(join(at.notes, 'x.md')).slice(0, 3)]).toEqual([folder, 'ask']);
    }
    const app = ground('app');
    expect(app.write(join(app.notes, 'x.md'))).toBe('ok');
  });
  it('may be a link itself, and need not be there yet', () => {
    const at = ground('state/memory/linked');
    mkdirSync(join(at.home, 'elsewhere'));
    symlinkSync(join(at.home, 'elsewhere'), at.notes);
    expect(at.write(join(at.notes, 'x.md'))).toBe('ok');
    expect(at.write(join(at.home, 'elsewhere/x.md'))).toBe('ok');
    const missing = ground('state/memory/none');
    expect(missing.write(join(missing.notes, 'x.md'))).toBe('ok');
  });
  it('is never a repository\'s to choose', () => {
    expect(withoutUntrusted({ autoMemoryDirectory: '~/.ssh', autoMemoryEnabled: false }, true)).toEqual({ fields: { autoMemoryEnabled: false }, dropped: ['autoMemoryDirectory'] });
  });
});

describe('what the user said to imports', () => {
  it('is kept by project, beside the folders that are trusted', async () => {
    const file = join(tempFolder({ 'trust.json': '{"folders":{"/w":{"at":"x"}}}' }), 'trust.json');
    const one = createImports({ file, project: '/w/one' });
    expect(one.approved('/o/a.md')).toBeUndefined();
    await one.remember(['/o/a.md', '/o/b.md'], true);
    await one.remember(['/o/c.md'], false);
    expect(['/o/a.md', '/o/b.md', '/o/c.md', '/o/d.md'].map(one.approved)).toEqual([true, true, false, undefined]);
    const again = createImports({ file, project: '/w/one' });
    expect(['/o/a.md', '/o/c.md', '/o/d.md', 'constructor', '__proto__'].map(again.approved)).toEqual([true, false, undefined, undefined, undefined]);
    expect(createImports({ file, project: '/w/two' }).approved('/o/a.md')).toBeUndefined();
    expect(createImports({ file, project: '__proto__' }).approved('/o/a.md')).toBeUndefined();
  });
  it('of a damaged file is nothing, and is kept all the same', async () => {
    for (const text of ['', '{', '[]', '7', '{"imports":[]}', '{"imports":{"/w":7}}', '{"imports":{"/w":{"/o/a.md":"yes"}}}']) {
      const file = join(tempFolder({ 'trust.json': text }), 'trust.json');
      const imports = createImports({ file, project: '/w' });
      expect(imports.approved('/o/a.md')).toBeUndefined();
      await imports.remember(['/o/a.md'], true);
      expect(createImports({ file, project: '/w' }).approved('/o/a.md')).toBe(true);
    }
  });
});
