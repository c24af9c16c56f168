import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { foldsCase, foldName, isWithin, realPathOf, relativeWithin } from '#lib/within.ts';

let top: string;
beforeEach(() => { top = realpathSync(mkdtempSync(join(tmpdir(), 'within-'))); });
afterEach(() => { rmSync(top, { recursive: true, force: true, maxRetries: 5 }); });

describe('where a path leads', () => {
  it('follows links and keeps what is missing', () => {
    mkdirSync(join(top, 'a'));
    symlinkSync('a', join(top, 'link'));
    expect(realPathOf(join(top, 'link/new/file'))).toBe(join(top, 'a/new/file'));
    expect(realPathOf(join(top, 'none/x'))).toBe(join(top, 'none/x'));
  });
  it('takes .. after links, as the kernel does', () => {
    mkdirSync(join(top, 'deep/inner'), { recursive: true });
    symlinkSync('deep/inner', join(top, 'link'));
    expect(realPathOf(`${top}/link/../new`)).toBe(join(top, 'deep/new'));
  });
  it('follows a link to what does not exist yet', () => {
    symlinkSync('/nowhere/at/all', join(top, 'link'));
    expect(realPathOf(join(top, 'link'))).toBe('/nowhere/at/all');
  });
  it('follows links that it comes back to out of what is missing', () => {
    symlinkSync('/nowhere', join(top, 'link'));
    expect(realPathOf(`${top}/none/deep/../../link/x`)).toBe('/nowhere/x');
    expect(realPathOf(`${top}/${'d/'.repeat(3000)}x`)).toBe(`${top}/${'d/'.repeat(3000)}x`);
  });
  it('ends on a circle and on names that no file can have', () => {
    symlinkSync('b', join(top, 'a'));
    symlinkSync('a', join(top, 'b'));
    expect(realPathOf(join(top, 'a/x'))).toMatch(/\/[ab]\/x$/);
    expect(realPathOf(join(top, 'nul\0x'))).toBe(join(top, 'nul\0x'));
    expect(realPathOf(join(top, 'n'.repeat(5000)))).toBe(join(top, 'n'.repeat(5000)));
  });
  it('goes past a file that is taken for a folder', () => {
    writeFileSync(join(top, 'file'), '');
    expect(realPathOf(join(top, 'file/x'))).toBe(join(top, 'file/x'));
  });
});

describe('one path within another', () => {
  it('goes by whole segments', () => {
    expect(isWithin('/work/app', '/work/app/src/a')).toBe(true);
    expect(isWithin('/work/app', '/work/app')).toBe(true);
    expect(isWithin('/work/app/', '/work/app/x')).toBe(true);
    expect(isWithin('/work/app', '/work/app-evil/x')).toBe(false);
    expect(isWithin('/work/app', '/work')).toBe(false);
    expect(isWithin('/', '/etc')).toBe(true);
  });
  it('tells case and Unicode forms apart only where the disk does', () => {
    expect(isWithin('/work/App', '/work/app/x', false)).toBe(false);
    expect(isWithin('/work/App', '/work/app/x', true)).toBe(true);
    expect(isWithin('/w\u00f6rk', '/wo\u0308rk/x', false)).toBe(false);
    expect(isWithin('/w\u00f6rk', '/wo\u0308rk/x', true)).toBe(true);
    expect(relativeWithin('/W', '/w/Src/a', true)).toBe('Src/a');
  });
  it('asks the disk whether it folds', () => {
    const folder = join(top, 'abc');
    mkdirSync(folder);
    expect(foldsCase(folder)).toBe(foldName(process.platform) === 'darwin' || process.platform === 'win32');
    mkdirSync(join(top, 'ABC'), { recursive: true });
    expect(foldsCase(join(top, 'missing'))).toBe(false);
  });
  it('agrees with the join that made it', () => {
    const name = fc.stringMatching(/^[a-z.-]{1,6}$/).filter((each) => !/^\.+$/.test(each));
    fc.assert(fc.property(fc.array(name, { maxLength: 4 }), fc.array(name, { maxLength: 4 }), (root, rest) => {
      const base = `/${root.join('/')}`;
      expect(relativeWithin(base, `/${[...root, ...rest].join('/')}`, false)).toBe(rest.join('/'));
    }));
  });
});
