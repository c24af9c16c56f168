import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findEditors } from '#ide/locks.ts';
import { tempFolder } from '../support/temp.ts';

const TOKEN = 'a3f1c2d4e5f60718293a4b5c6d7e8f90';

function folder() {
  const locks = join(tempFolder(), 'ide');
  mkdirSync(locks, { mode: 0o700 });
  const work = tempFolder({ 'packages/a/x.ts': '' });
  return {
    locks, work,
    lay(port: number, more: Readonly<Record<string, unknown>> = {}, mode = 0o600): string {
      const file = join(locks, `${port}.lock`);
      writeFileSync(file, JSON.stringify({ pid: process.pid, workspaceFolders: [work], ideName: 'Neovim', transport: 'ws', authToken: TOKEN, ...more }));
      chmodSync(file, mode);
      return file;
    },
    found: (cwd = work) => findEditors([locks], cwd).map(({ port, fits }) => (fits ? port : -port)),
  };
}

/** The number of a process that is there no more. */
const dead = (): number => spawnSync('true').pid;

describe('lock files', () => {
  it('name an editor, its port, folders and token', () => {
    const { locks, work, lay } = folder();
    lay(4001);
    expect(findEditors([locks], work)).toMatchObject([{ name: 'Neovim', port: 4001, folders: [work], token: TOKEN, fits: true }]);
  });

  it('the deepest folder that holds the directory wins, then the newest; what does not fit comes last', () => {
    const { work, lay, found } = folder();
    lay(4001, { workspaceFolders: ['/'] });
    lay(4002, { workspaceFolders: [join(work, 'packages', 'a')] });
    lay(4003, { workspaceFolders: ['/somewhere/else', work] });
    lay(4004, { workspaceFolders: [`${work}-evil`] });
    lay(4005, { workspaceFolders: [] });
    expect(found(join(work, 'packages', 'a')).slice(0, 3)).toEqual([4002, 4003, 4001]);
    expect(found(join(work, 'packages', 'a')).slice(3)).toEqual(expect.arrayContaining([-4004, -4005]));
    expect(found()[0]).toBe(4003);
  });

  it('of a process that is gone are passed over and left where they are', () => {
    const { lay, found } = folder();
    const file = lay(4001, { pid: dead() });
    expect(found()).toEqual([]);
    expect(existsSync(file)).toBe(true);
  });

  it('that others may write, or that lie in a folder that they may write, are not believed', () => {
    const { locks, lay, found } = folder();
    lay(4001, {}, 0o602);
    lay(4002, {}, 0o644);
    expect(found()).toEqual([4002]);
    chmodSync(locks, 0o777);
    expect(found()).toEqual([]);
  });

  it('of another user are not believed', { skip: process.getuid?.() !== 0 }, () => {
    const { lay, found } = folder();
    const file = lay(4001);
    expect(spawnSync('chown', ['65534', file]).status).toBe(0);
    expect(found()).toEqual([]);
  });

  it('are no links, no pipes and no folders', () => {
    const { locks, lay, found } = folder();
    const real = lay(4001);
    symlinkSync(real, join(locks, '4002.lock'));
    mkdirSync(join(locks, '4003.lock'));
    expect(spawnSync('mkfifo', [join(locks, '4004.lock')]).status).toBe(0);
    expect(found()).toEqual([4001]);
  });

  it.each([
    ['no token', { authToken: '' }], ['a token that would end its header', { authToken: `${TOKEN}\r\nx: y` }], ['another transport', { transport: 'sse' }],
    ['a process that is none', { pid: -1 }], ['a process that is a text', { pid: '1' }], ['a token of another type', { authToken: 7 }],
  ])('with %s are none', (_, more) => {
    const { lay, found } = folder();
    lay(4001, more);
    expect(found()).toEqual([]);
  });

  it('that hold anything else are none', () => {
    const { locks, found } = folder();
    for (const [port, text] of [[4001, ''], [4002, '{'], [4003, 'null'], [4004, '[]'], [4005, `{"pid":${process.pid}`], [4006, ' '.repeat(100_000)]] as const) writeFileSync(join(locks, `${port}.lock`), text, { mode: 0o600 });
    for (const name of ['0.lock', '99999.lock', 'x.lock', '12.lock.tmp', '-1.lock']) writeFileSync(join(locks, name), '{}', { mode: 0o600 });
    expect(found()).toEqual([]);
    expect(findEditors(['/nowhere/at/all'], '/')).toEqual([]);
  });

  it('have names that stay on one line and folders that may be addresses', () => {
    const { locks, work, lay } = folder();
    lay(4001, { ideName: `Evil\n\u001b[2J${'x'.repeat(500)}`, workspaceFolders: [`file://${work}`, 'relative/path', 7] });
    const [editor] = findEditors([locks], work);
    expect(editor?.name).toMatch(/^[\x20-\x7e…]{1,41}$/);
    expect(editor?.folders).toEqual([work]);
    expect(editor?.fits).toBe(true);
  });
});
