import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { homeOf } from '#session/home.ts';
import { keepAllowRule } from '#session/rules.ts';
import { credentialsOf, forgetKey, keepKey } from '#session/credentials.ts';
import { keepHistory, readHistory } from '#session/history.ts';
import { mergeLayers, modelId, readLayers } from '#session/settings.ts';
import { tempFolder } from '../support/temp.ts';

const json = (value: unknown): string => JSON.stringify(value);

function load(files: Record<string, string>) {
  const folder = tempFolder(files);
  const { layers, warnings } = readLayers(homeOf({ PINION_HOME: join(folder, 'home') }), join(folder, 'user'), join(folder, 'repo'));
  const merged = mergeLayers(layers);
  return { ...merged, warnings: [...warnings, ...merged.warnings], folder };
}

describe('settings', () => {
  it('have defaults without any file', () => {
    const { settings, warnings } = load({});
    expect(warnings).toEqual([]);
    expect(settings).toMatchObject({ env: {}, autoCompact: true, respectGitignore: true, theme: 'dark', remindersOff: [], permissions: { allow: [], deny: [], ask: [] } });
  });

  it('take fall-back models in their order, of the strongest file alone', () => {
    const { settings } = load({ 'home/settings.json': json({ fallbackModel: ['haiku', 'x'] }) });
    expect(settings.fallbackModels).toEqual([modelId('haiku'), 'x']);
    expect(load({ 'home/settings.json': json({ fallbackModel: 'sonnet, haiku' }) }).settings.fallbackModels).toEqual([modelId('sonnet'), modelId('haiku')]);
    expect(load({ 'home/settings.json': json({ fallbackModel: 'sonnet' }), 'repo/.pinion/settings.json': json({ fallbackModel: ['haiku'] }) }).settings.fallbackModels).toEqual([modelId('haiku')]);
    const wrong = load({ 'home/settings.json': json({ fallbackModel: [1] }) });
    expect([wrong.settings.fallbackModels, wrong.warnings]).toEqual([[], [expect.stringContaining('"fallbackModel" must be a text, or a list of texts')]]);
  });

  it('join lists and take single values from the strongest file', () => {
    const { settings, folder } = load({
      'home/settings.json': json({ model: 'opus', theme: 'light', permissions: { allow: ['Bash(ls)'], deny: ['Read(.env)'] } }),
      'user/.claude/settings.json': json({ model: 'not ours', permissions: { allow: ['WebSearch'] } }),
      'repo/.claude/settings.json': json({ permissions: { deny: ['Bash(rm *)'] }, env: { A: '1' } }),
      'repo/.pinion/settings.json': json({ model: 'claude-sonnet-5-5', env: { A: '2', B: '3' } }),
      'repo/.pinion/settings.local.json': json({ permissions: { allow: ['Edit'], defaultMode: 'plan' } }),
    });
    expect(settings).toMatchObject({ model: 'claude-sonnet-5-5', theme: 'light', env: { A: '2', B: '3' } });
    expect(settings.permissions.allow.map(({ rule, scope }) => `${scope} ${rule}`)).toEqual(['user WebSearch', 'user Bash(ls)', 'local Edit']);
    expect(settings.permissions.deny).toEqual([{ rule: 'Read(.env)', root: join(folder, 'user'), scope: 'user', file: join(folder, 'home/settings.json') }, { rule: 'Bash(rm *)', root: join(folder, 'repo'), scope: 'project', file: join(folder, 'repo/.claude/settings.json') }]);
    expect(settings.permissions.defaultMode).toBe('plan');
  });

  it('say in one line each what could not be used', () => {
    const { warnings, settings } = load({
      'home/settings.json': '{ "model": ',
      'repo/.pinion/settings.json': json({ model: 7, theme: 'pink', permissions: { allow: 'Bash' }, remindersOff: [1], keys: { a: 1 } }),
      'repo/.pinion/settings.local.json': '[]',
    });
    expect(warnings.map((line) => line.replace(/^.*\/(home|repo)\//, ''))).toEqual([
      expect.stringMatching(/^settings\.json: .*JSON.*left out/),
      '.pinion/settings.local.json: a settings file holds one JSON object; it was left out.',
      '.pinion/settings.json: "model" must be a text; it was left out.',
      '.pinion/settings.json: "permissions.allow" must be a list of texts; it was left out.',
      '.pinion/settings.json: "remindersOff" must be a list of texts; it was left out.',
      '.pinion/settings.json: "theme" must be one of dark, light, plain; it was left out.',
      '.pinion/settings.json: "keys" must be an object of texts; it was left out.',
    ]);
    expect(settings.theme).toBe('dark');
  });

  it('know models by the names of their lines', () => {
    expect(modelId('haiku')).toBe('claude-haiku-5-5');
    expect(modelId('claude-x')).toBe('claude-x');
  });

  it('take up a kept rule once, beside what stands there, out of git', async () => {
    const folder = tempFolder({ '.pinion/settings.local.json': json({ theme: 'light', permissions: { deny: ['x'] } }) });
    await Promise.all([keepAllowRule(folder, 'Bash(ls *)'), keepAllowRule(folder, 'Edit'), keepAllowRule(folder, 'Bash(ls *)')]);
    const kept = JSON.parse(readFileSync(join(folder, '.pinion/settings.local.json'), 'utf8')) as { permissions: { allow: string[] } };
    expect(kept).toMatchObject({ theme: 'light', permissions: { deny: ['x'] } });
    expect(kept.permissions.allow.toSorted()).toEqual(['Bash(ls *)', 'Edit']);
    expect(readFileSync(join(folder, '.pinion/.gitignore'), 'utf8')).toContain('settings.local.json');
  });
});

describe('credentials', () => {
  it('come from the environment first, then from a login, else from nowhere', async () => {
    const file = join(tempFolder(), 'x', 'credentials.json');
    expect(credentialsOf({}, file)).toMatchObject({ from: 'none', headers: {}, betas: [] });
    await keepKey(file, 'sk-1');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(credentialsOf({}, file)).toMatchObject({ from: 'login', apiKey: 'sk-1' });
    expect(credentialsOf({ ANTHROPIC_API_KEY: ' sk-2 ' }, file)).toMatchObject({ from: 'environment', apiKey: 'sk-2' });
    expect(credentialsOf({ ANTHROPIC_AUTH_TOKEN: 't', ANTHROPIC_BASE_URL: 'http://x', ANTHROPIC_BETAS: 'a, b' }, file)).toMatchObject({ from: 'environment', authToken: 't', baseURL: 'http://x', betas: ['a', 'b'] });
    expect(credentialsOf({ ANTHROPIC_CUSTOM_HEADERS: 'X-A: 1\nno header\n x-b :2' }, file).headers).toEqual({ 'X-A': '1', 'x-b': '2' });
    expect(forgetKey(file)).toBe(true);
    expect(forgetKey(file)).toBe(false);
    expect(credentialsOf({}, file).from).toBe('none');
  });
});

describe('entered lines', () => {
  it('are kept per directory, oldest first, neighbours once; damage costs a line', async () => {
    const file = join(tempFolder(), 'history.jsonl');
    for (const [cwd, text] of [['/a', 'one'], ['/b', 'other'], ['/a', 'two\nlines'], ['/a', 'two\nlines'], ['/a', '  ']] as const) keepHistory(file, cwd, text);
    const { appendFileSync } = await import('node:fs');
    appendFileSync(file, '{"cwd":"/a","te\nnull\n');
    keepHistory(file, '/a', 'three');
    expect(readHistory(file, '/a')).toEqual(['one', 'two\nlines', 'three']);
    keepHistory('/dev/null/nowhere/history', '/a', 'lost');
    expect(readHistory('/dev/null/nowhere/history', '/a')).toEqual([]);
  });
});
