import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findServers, type Grounds, rootFor, serverFor, whatToInstall } from '#lsp/find.ts';
import { languageServersIn } from '#session/language-servers.ts';
import { tempFolder } from '../support/temp.ts';
import { plant } from './support.ts';

const grounds = (project: string, more: Partial<Grounds> = {}): Grounds => ({ project, env: { PATH: '' }, trusted: true, configured: {}, ...more });
const names = (of: Grounds): readonly string[] => findServers(of).map(({ name, from, allowed }) => `${name} ${from}${allowed ? '' : ' waits'}`);

describe('servers', () => {
  it('of the project go before those of the machine, and wait until the folder is trusted', () => {
    const project = tempFolder({ 'node_modules/typescript/package.json': '{"version":"7.0.2"}' });
    const machine = tempFolder();
    plant(join(project, 'node_modules/.bin/vtsls'));
    for (const file of ['gopls', 'clangd', 'bash-language-server', 'vtsls']) plant(join(machine, 'bin', file));
    const PATH = `${join(project, 'node_modules/.bin')}:relative:${join(machine, 'bin')}`;
    expect(names(grounds(project, { env: { PATH } }))).toEqual(['typescript project', 'go machine', 'clangd machine', 'bash machine']);
    expect(names(grounds(project, { env: { PATH }, trusted: false }))).toEqual(['typescript project waits', 'go machine waits', 'clangd machine', 'bash machine']);
  });

  it('that lie in the project are its own, wherever the PATH leads', () => {
    const project = tempFolder();
    plant(join(project, 'tools/clangd'));
    expect(names(grounds(project, { env: { PATH: join(project, 'tools') }, trusted: false }))).toEqual(['clangd project waits']);
  });

  it('the compiler of TypeScript is one from version 7 on', () => {
    const project = tempFolder();
    plant(join(project, 'node_modules/typescript/bin/tsc'));
    plant(join(project, 'node_modules/.bin/tsc'));
    expect(names(grounds(project))).toEqual([]);
    const { version, machine } = { version: (text: string) => { writeFileSync(join(machine, 'typescript/package.json'), `{"version":"${text}"}`); }, machine: tempFolder({ 'typescript/package.json': '{"version":"5.9.3"}' }) };
    plant(join(machine, 'typescript/bin/tsc'));
    const env = { PATH: join(machine, 'typescript/bin') };
    expect(names(grounds(project, { env }))).toEqual([]);
    version('7.1.0-beta');
    expect(names(grounds(project, { env, trusted: false }))).toEqual(['typescript machine']);
  });

  it('of the settings go first, take the place of known ones, or switch them off', () => {
    const project = tempFolder();
    plant(join(project, 'bin/clangd'));
    plant(join(project, 'node_modules/.bin/bash-language-server'));
    const own = { command: './bin/mine', args: ['x'], extensions: { '.c': 'c' }, env: {}, rootMarkers: [] };
    const found = findServers(grounds(project, { env: { PATH: join(project, 'bin') }, configured: { mine: own, bash: false } }));
    expect(found.map(({ name, command }) => [name, command])).toEqual([['mine', join(project, 'bin/mine')], ['clangd', join(project, 'bin/clangd')]]);
    expect(serverFor('/x/A.C', found)).toMatchObject({ languageId: 'c', server: { name: 'mine' } });
    expect(serverFor('/x/a.cpp', found)).toMatchObject({ languageId: 'cpp', server: { name: 'clangd' } });
    expect(serverFor('/x/constructor', found)).toBeUndefined();
    expect(whatToInstall('/x/a.rs')).toContain('rust-analyzer');
    expect(whatToInstall('/x/a.unheard')).toBeUndefined();
  });

  it('work in the folder that bears the likeliest mark', () => {
    const project = tempFolder({ 'Cargo.lock': '', 'crates/a/Cargo.toml': '', 'crates/a/src/x.rs': '', 'go/go.mod': '' });
    expect(rootFor(join(project, 'crates/a/src/x.rs'), ['Cargo.lock', 'Cargo.toml'], project)).toBe(project);
    expect(rootFor(join(project, 'crates/a/src/x.rs'), ['Cargo.toml'], project)).toBe(join(project, 'crates/a'));
    expect(rootFor(join(project, 'go/x.go'), ['go.work', 'go.mod'], project)).toBe(join(project, 'go'));
    expect(rootFor(join(project, 'x.py'), [], project)).toBe(project);
  });
});

it('the setting is read, and what is wrong in it is told by its key', () => {
  const wrong: string[] = [];
  const read = (value: Parameters<typeof languageServersIn>[0]) => languageServersIn(value, (key, wanted) => { wrong.push(`${key}: ${wanted}`); });
  expect(read({ off: false, a: { command: 'x', extensions: ['ts', '.D'] }, b: { command: 'y', args: ['-z'], extensionToLanguage: { '.py': 'python' }, settings: { k: 1 }, initializationOptions: null } })).toEqual({
    off: false, a: { command: 'x', args: [], env: {}, rootMarkers: [], extensions: { '.ts': 'ts', '.d': 'D' } }, b: { command: 'y', args: ['-z'], env: {}, rootMarkers: [], extensions: { '.py': 'python' }, settings: { k: 1 }, initializationOptions: null },
  });
  expect(wrong).toEqual([]);
  expect(read({ a: true, b: { command: 'x' }, c: { command: 'x', extensions: ['../x'] }, d: { command: 'x', extensions: ['.x'], args: 'no' }, e: { command: 'x', extensions: ['.x'], env: { a: 1 } }, f: { command: '', extensions: ['.x'] } })).toEqual({});
  expect(wrong.map((line) => line.slice(0, 20))).toEqual(['languageServers.a: f', 'languageServers.b: a', 'languageServers.c: a', 'languageServers.d: a', 'languageServers.e: a', 'languageServers.f: f']);
  expect(read(7)).toEqual({});
});
