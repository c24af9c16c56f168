import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { homeOf } from '#session/home.ts';
import { givenSettings } from '#session/given-settings.ts';
import { isShared, settingKeys, settingProblem, settingWords, valueAt, withKey } from '#session/setting-keys.ts';
import { changeSetting } from '#main/settings/config-change.ts';
import { settingsView } from '#main/settings/config-view.ts';
import { configure } from '#main/configuration.ts';
import type { Place } from '#main/place.ts';
import { cardText } from '#headless/card-text.ts';
import type { Arguments } from '#cli/arguments.ts';
import { UsageError } from '#cli/arguments.ts';
import type { WritableScope } from '#domain/settings.ts';
import { ARGUMENTS } from '../support/household.ts';
import { tempFolder } from '../support/temp.ts';

describe('the table of settings', () => {
  it('has words for every key that is read', () => {
    expect(settingKeys().filter(({ what }) => what === '').map(({ key }) => key), 'give each its line in src/session/setting-keys.ts').toEqual([]);
  });

  it('knows what a key may hold from whoever reads it', () => {
    expect(settingProblem('theme', 'blue')).toBe('"theme" must be one of dark, light, plain');
    expect(settingProblem('theme', 'light')).toBeUndefined();
    expect(settingProblem('permissions.allow', 'Edit')).toBe('"permissions.allow" must be a list of texts');
    expect(settingProblem('statusLine', { type: 'command', command: ' ' })).toMatch(/^"statusLine" must be an object/);
    expect(settingProblem('statusLine', { type: 'command', command: 'x', refreshInterval: 0 })).toMatch(/refreshInterval" must be a number of seconds/);
    expect(settingProblem('statusLine', false)).toBeUndefined();
    expect(settingWords('theme')).toEqual(['dark', 'light', 'plain']);
    expect(settingWords('autoCompactEnabled')).toEqual(['true', 'false']);
    expect(settingWords('model')).toEqual([]);
    expect(isShared('statusLine')).toBe(true);
    expect(isShared('theme')).toBe(false);
  });

  it('sets and takes out keys, with dots or without', () => {
    expect(withKey({ a: 1 }, 'b.c', 2)).toEqual({ a: 1, b: { c: 2 } });
    expect(withKey({ b: { c: 2, d: 3 } }, 'b.c', undefined)).toEqual({ b: { d: 3 } });
    expect(withKey({ a: 1, b: { c: 2 } }, 'b.c', undefined)).toEqual({ a: 1 });
    expect(withKey({ b: 'text' }, 'b.c', 1)).toEqual({ b: { c: 1 } });
    expect(Object.keys(withKey({}, '__proto__', 1))).toEqual(['__proto__']);
    expect(valueAt({ a: { b: 1 } }, 'a.b')).toBe(1);
    expect(valueAt({}, 'constructor')).toBeUndefined();
  });
});

interface Rig {
  readonly place: Place;
  readonly cwd: string;
  readonly configuration: ReturnType<typeof configure>;
  set(key: string, text: string | undefined, scope?: WritableScope): Promise<string>;
  row(key: string): ReturnType<typeof settingsView>['rows'][number] | undefined;
  read(path: string): unknown;
}

function rig(files: Readonly<Record<string, string>> = {}, more: Partial<Arguments> = {}, project: Readonly<Record<string, string>> = {}): Rig {
  const userHome = tempFolder(files);
  const cwd = tempFolder(project);
  const env = { HOME: userHome, PINION_HOME: join(userHome, 'pinion') };
  const { permissionMode: _mode, ...rest } = ARGUMENTS;
  const args: Arguments = { ...rest, ...more };
  const place: Place = { cwd, repository: undefined, userHome, home: homeOf(env), env, shell: '/bin/sh' };
  const configuration = configure(place, args);
  const house = { place, args, configuration };
  return {
    place, cwd, configuration,
    async set(key, text, scope = 'user') {
      const planned = settingsView(house).change(key, text, scope);
      return 'problem' in planned ? `! ${planned.problem}` : cardText(await changeSetting(house, planned.change));
    },
    row: (key) => settingsView(house).rows.find((row) => row.key === key),
    read: (path) => JSON.parse(readFileSync(path.startsWith('/') ? path : join(userHome, path), 'utf8')) as unknown,
  };
}

describe('settings as they are', () => {
  it('each with where it comes from, the strongest last', () => {
    const { row, place, cwd } = rig(
      { '.claude/settings.json': '{"theme":"light","env":{"A":"1"},"statusLine":{"type":"command","command":"x"}}', 'pinion/settings.json': '{"theme":"light","permissions":{"allow":["Edit"]},"compactAt":"many"}' },
      { model: 'sonnet' }, { '.pinion/settings.json': '{"theme":"plain","permissions":{"allow":["Bash(ls)"]}}' },
    );
    expect(row('theme')).toMatchObject({ value: 'plain', from: [{ scope: 'project', file: join(cwd, '.pinion/settings.json') }] });
    expect(row('permissions.allow')).toMatchObject({ value: ['Edit', 'Bash(ls)'], from: [{ scope: 'user', file: place.home.settings }, { scope: 'project' }] });
    expect(row('statusLine')?.from).toEqual([{ scope: 'user', file: join(place.userHome, '.claude/settings.json') }]);
    expect(row('model')).toMatchObject({ value: 'sonnet', from: [{ scope: 'flag', file: '--model' }] });
    // What cannot be used does not hold.
    expect(row('compactAt')).toMatchObject({ value: undefined, from: [] });
    expect(row('respectGitignore')).toMatchObject({ value: undefined, from: [], fallback: '`true`' });
  });

  it('without what an untrusted folder says', () => {
    const { row } = rig({}, { trust: false }, { '.pinion/settings.json': '{"theme":"plain","permissions":{"allow":["Edit"],"deny":["Bash(rm *)"]}}' });
    expect(row('theme')?.from).toEqual([]);
    expect(row('permissions.allow')?.value).toBeUndefined();
    expect(row('permissions.deny')?.value).toEqual(['Bash(rm *)']);
  });
});

describe('a setting that is changed', () => {
  it('is checked, written into the user\'s file, and holds', async () => {
    const { set, row, read, configuration } = rig({ 'pinion/settings.json': '{"keys":{"submit":"ctrl-x"},"env":{"A":"1"}}' });
    expect(await set('theme', 'light')).toMatch(/^theme: light.*from the next start on/);
    expect(await set('THEME', 'plain')).toMatch(/^theme: plain/);
    expect(await set('autoCompactEnabled', 'false')).toMatch(/from now on/);
    expect(await set('compactAt', '50000')).toMatch(/^compactAt: 50000/);
    expect(await set('model', '5')).toMatch(/^model: 5/);
    expect(await set('remindersOff', 'diagnostics, date_change')).toContain('["diagnostics","date_change"]');
    expect(await set('env.B', 'x y')).toMatch(/^env\.B: x y/);
    expect(await set('permissions.defaultMode', 'plan')).toMatch(/for new sessions/);
    expect(read('pinion/settings.json')).toEqual({ keys: { submit: 'ctrl-x' }, env: { A: '1', B: 'x y' }, theme: 'plain', autoCompactEnabled: false, compactAt: 50_000, model: '5', remindersOff: ['diagnostics', 'date_change'], permissions: { defaultMode: 'plan' } });
    expect(configuration.settings()).toMatchObject({ theme: 'plain', autoCompact: false, compactAt: 50_000, env: { A: '1', B: 'x y' } });
    expect(await set('env.B', undefined)).toMatch(/^env\.B is taken out/);
    expect(await set('theme', undefined)).toMatch(/^theme is taken out.*the default holds/);
    expect(row('theme')?.value).toBeUndefined();
  });

  it.each([
    ['thme', 'light', '! there is no setting thme. Did you mean theme?'],
    ['theme', 'blue', '! "theme" must be one of dark, light, plain.'],
    ['compactAt', 'many', '! "compactAt" must be a number.'],
    ['env', '5', '! "env" must be an object of texts.'],
    ['keys.nonsense', 'ctrl-x', '! keys: there is no action "nonsense"'],
    ['permissions.allow', '["Bash("]', '! user settings: the allow rule "Bash(" cannot be used'],
    ['theme.x', 'y', '! there is no setting theme.x.'],
    ['__proto__', 'y', '! there is no setting __proto__.'],
  ])('%s %s is refused in one line', async (key, text, message) => {
    const { set, place } = rig();
    const said = await set(key, text);
    expect(said.slice(0, message.length)).toBe(message);
    expect(said).not.toContain('\n');
    expect(existsSync(place.home.settings)).toBe(false);
  });

  it('goes into the project\'s files where that is wanted, and says what stands above it', async () => {
    const { set, cwd, read } = rig({ 'pinion/settings.json': '{"theme":"light"}' });
    expect(await set('theme', 'plain', 'project')).toMatch(/^theme: plain/);
    expect(await set('theme', 'dark', 'local')).toMatch(/^theme: dark/);
    expect(read(join(cwd, '.pinion/settings.json'))).toEqual({ theme: 'plain' });
    expect(readFileSync(join(cwd, '.pinion/.gitignore'), 'utf8')).toContain('settings.local.json');
    expect(await set('theme', 'light')).toContain(`${join(cwd, '.pinion/settings.local.json')} goes before it and says dark`);
    expect(await set('permissions.defaultMode', 'plan', 'project')).toBe('! permissions.defaultMode is decided by your own settings only: leave --project and --local out.');
    expect(existsSync(join(cwd, '.claude'))).toBe(false);
  });

  it('of a folder that is not trusted says that it waits', async () => {
    const { set } = rig({}, { trust: false });
    expect(await set('theme', 'plain', 'project')).toContain('once this folder is trusted');
    expect(await set('permissions.deny', 'Bash(rm *)', 'project')).toContain('from now on');
  });

  it('writes over nothing that it cannot read, and through no link of the project', async () => {
    const damaged = rig({ 'pinion/settings.json': '{"theme": // mine\n"light"}' });
    await expect(damaged.set('theme', 'plain')).rejects.toThrow('cannot be read as one JSON object');
    expect(readFileSync(damaged.place.home.settings, 'utf8')).toContain('// mine');
    const linked = rig();
    const outside = tempFolder({ 'target.json': '{}' });
    mkdirSync(join(linked.cwd, '.pinion'));
    symlinkSync(join(outside, 'target.json'), join(linked.cwd, '.pinion/settings.json'));
    await expect(linked.set('theme', 'plain', 'project')).rejects.toThrow('reached by a symbolic link');
    expect(readFileSync(join(outside, 'target.json'), 'utf8')).toBe('{}');
  });

  it('keeps a link of the user\'s own: dotfiles are often links', async () => {
    const dotfiles = tempFolder({ 'settings.json': '{"theme":"light"}' });
    const { set, place } = rig({ 'pinion/x': '' });
    symlinkSync(join(dotfiles, 'settings.json'), place.home.settings);
    await set('theme', 'plain');
    expect(JSON.parse(readFileSync(join(dotfiles, 'settings.json'), 'utf8'))).toEqual({ theme: 'plain' });
  });
});

describe('--settings', () => {
  it('goes before all files, and below single flags', () => {
    const given = JSON.stringify({ theme: 'plain', model: 'opus', permissions: { allow: ['Edit'], defaultMode: 'plan' }, budgetUsd: 9 });
    const { configuration, row } = rig({ 'pinion/settings.json': '{"theme":"light","model":"haiku","budgetUsd":2}' }, { settings: given, model: 'sonnet', trust: false });
    expect(configuration.settings()).toMatchObject({ theme: 'plain', model: 'claude-sonnet-5-5', budgetUsd: 9, permissions: { defaultMode: 'plan' } });
    expect(configuration.rules().allow.map(({ rule }) => rule)).toEqual(['Edit']);
    expect(row('theme')?.from).toEqual([{ scope: 'flag', file: '--settings' }]);
  });

  it('takes a file, which is read anew with the others', () => {
    const file = join(tempFolder({ 's.json': '{"theme":"plain"}' }), 's.json');
    const { configuration } = rig({}, { settings: file });
    expect(configuration.settings().theme).toBe('plain');
    expect(configuration.files).toContain(file);
    writeFileSync(file, '{"theme":"light"}');
    configuration.reload();
    expect(configuration.settings().theme).toBe('light');
    writeFileSync(file, '{"theme":');
    configuration.reload();
    expect(configuration.settings().theme).toBe('light');
    expect(configuration.warnings().join('\n')).toContain('is no JSON');
  });

  it.each([
    ['{"theme":', /^--settings: what follows it is no JSON \(.*\)\.$/],
    ['{"theme":"blue"}', /^--settings: "theme" must be one of dark, light, plain\.$/],
    ['none.json', /^--settings none\.json: there is no such file\. It takes a file or a JSON object\.$/],
    ['.', /^--settings \. cannot be read: it is no regular file\.$/],
  ])('%s is bad input', (given, message) => {
    expect(() => rig({}, { settings: given })).toThrow(UsageError);
    expect(() => givenSettings(given, tempFolder())).toThrow(message);
  });

  it('says what it cannot read', () => {
    const folder = tempFolder({ 'list.json': '[1]', 'closed.json': '{}' });
    expect(() => givenSettings('list.json', folder)).toThrow('--settings: list.json must hold one JSON object.');
    chmodSync(join(folder, 'closed.json'), 0);
    if (process.getuid?.() !== 0) expect(() => givenSettings('closed.json', folder)).toThrow('cannot be read');
  });
});
