import { describe, expect, it } from 'vitest';
import type { SettingsView } from '#domain/settings.ts';
import { width } from '#lib/terminal.ts';
import { desk, drawn } from './support.ts';

const FILES = { user: '/home/me/.config/pinion/settings.json', project: '/w/.pinion/settings.json', local: '/w/.pinion/settings.local.json' };
const base = { fallback: 'none', what: '', from: [], words: [], value: undefined };
const VIEW: SettingsView = {
  files: FILES,
  rows: [
    { ...base, key: 'theme', value: 'light', fallback: '`"dark"`', what: '`dark`, `light`, `plain`', from: [{ scope: 'user', file: FILES.user }], words: ['dark', 'light', 'plain'], takesEffect: 'start' },
    { ...base, key: 'permissions.allow', value: ['Edit', 'Bash(npm run build *)'], what: 'rules that allow', from: [{ scope: 'project', file: FILES.project }, { scope: 'flag', file: '--settings' }] },
    { ...base, key: 'promptCacheTtl', fallback: '`auto`', what: 'how long the prompt cache keeps what is written' },
    { ...base, key: 'statusLine', value: { type: 'command', command: 'x', padding: 2 }, from: [{ scope: 'user', file: '/home/me/.claude/settings.json' }] },
  ],
  change: (key, text, scope) => (key === 'nope' ? { problem: 'there is no setting nope.' } : { change: { key, scope, ...(text !== undefined && { value: text }) } }),
};
const rig = (surface: 'screen' | 'print' = 'screen') => desk({}, { surface, settings: () => VIEW });

describe('/config', () => {
  it('asks which on a screen, and lists all elsewhere', async () => {
    expect(await rig().run('config')).toEqual({ type: 'configure' });
    for (const text of [await rig('print').shown('config'), await rig().shown('config list')]) {
      expect(text).toMatch(/theme\s.*light\s.*yours/);
      expect(text).toMatch(/permissions\.allow\s.*project, --settings/);
      expect(text).toMatch(/promptCacheTtl\s+(?:│ )?auto/);
    }
  });

  it('finds by words, and tells all of one', async () => {
    expect(await rig().shown('config cache')).toMatch(/^Settings with "cache"[\s\S]*promptCacheTtl/);
    expect(await rig().shown('config cache')).not.toContain('theme');
    const one = await rig().shown('config THEME');
    expect(one).toMatch(/^theme: light[\s\S]*yours: \/home\/me\/\.config\/pinion\/settings\.json[\s\S]*default: "dark"[\s\S]*one of dark, light, plain[\s\S]*next start/);
    expect(await rig().refused('config thee')).toBe('No setting has "thee" in it. Did you mean /config theme?');
  });

  it('sets and takes out', async () => {
    expect(await rig().run('config set theme plain')).toEqual({ type: 'configure', change: { key: 'theme', scope: 'user', value: 'plain' } });
    expect(await rig().run('config set statusLine {"type": "command",  "command": "a  b"} --local')).toEqual({ type: 'configure', change: { key: 'statusLine', scope: 'local', value: '{"type": "command",  "command": "a  b"}' } });
    expect(await rig().run('config unset theme --project')).toEqual({ type: 'configure', change: { key: 'theme', scope: 'project' } });
    expect(await rig().refused('config set')).toMatch(/^set which setting\?/);
    expect(await rig().refused('config set theme')).toMatch(/^set theme to what\?/);
    expect(await rig().refused('config unset theme light')).toMatch(/^unset takes one key/);
    expect(await rig().refused('config set nope x')).toBe('there is no setting nope.');
  });

  it('completes keys, their words and files', async () => {
    expect(await rig().complete('config ')).toEqual(['list', 'set', 'unset', 'theme', 'permissions.allow', 'promptCacheTtl', 'statusLine']);
    expect(await rig().complete('config set theme ')).toEqual(['dark', 'light', 'plain', '--project', '--local']);
    expect(await rig().complete('config unset ')).toEqual(['theme', 'permissions.allow', 'statusLine']);
  });

  it.each([40, 80])('fits %i columns', async (columns) => {
    for (const line of ['config list', 'config theme']) {
      const effect = await rig().run(line);
      if (effect.type !== 'show') throw new Error('no card');
      for (const text of drawn(effect.card, columns)) expect(width(text)).toBeLessThanOrEqual(columns);
    }
  });
});

describe('/statusline', () => {
  const setting = { command: 'my-line --x', padding: 0, scope: 'user', file: FILES.user, refreshSeconds: 5 } as const;

  it('shows what is set and what its command gets', async () => {
    const { shown } = desk({}, { settings: () => VIEW, statusLine: () => Promise.resolve({ setting, input: { model: { display_name: 'Opus' } } }) });
    expect(await shown('statusline')).toMatch(/^Status line: my-line --x[\s\S]*also every 5 s[\s\S]*"display_name": "Opus"/);
    expect(await desk().shown('statusline')).toMatch(/^Status line: only ours/);
  });

  it('sets a command, keeping how often and how far it is moved in', async () => {
    expect(await rig().run('statusline echo "a  b"')).toEqual({ type: 'configure', change: { key: 'statusLine', scope: 'user', value: { type: 'command', command: 'echo "a  b"', padding: 2 } } });
    expect(await rig().refused(`statusline ${'x'.repeat(4001)}`)).toContain('4000 characters');
    expect(await rig().refused('statusline a\nb')).toContain('one line');
  });

  it('takes it away: its own file\'s key, or a word against another file\'s', async () => {
    const set = (file: string, scope: 'user' | 'project') => desk({}, { settings: () => ({ ...VIEW, rows: [{ ...base, key: 'statusLine', value: {}, from: [{ scope, file }] }] }) });
    expect(await set(FILES.user, 'user').run('statusline off')).toEqual({ type: 'configure', change: { key: 'statusLine', scope: 'user' } });
    expect(await set('/home/me/.claude/settings.json', 'user').run('statusline off')).toEqual({ type: 'configure', change: { key: 'statusLine', scope: 'user', value: false } });
    expect(await set(FILES.project, 'project').run('statusline off')).toEqual({ type: 'configure', change: { key: 'statusLine', scope: 'local', value: false } });
    expect(await desk().shown('statusline off')).toMatch(/^There is no status line of your own/);
  });
});

describe('/import', () => {
  it('looks, or takes over', async () => {
    expect(await rig().run('import')).toEqual({ type: 'import', project: false, yes: false });
    expect(await rig().run('import codex --yes')).toEqual({ type: 'import', from: 'codex', project: false, yes: true });
    expect(await rig().run('import --project claude')).toEqual({ type: 'import', from: 'claude', project: true, yes: false });
    expect(await rig().refused('import codx')).toBe('nothing can be taken over from "codx". Did you mean /import codex?');
    expect(await rig().refused('import --yes')).toMatch(/^from which shell\?/);
    expect(await rig().refused('import codex claude')).toMatch(/^one at a time/);
    expect(await rig().refused('import codex --force')).toBe('/import knows --project and --yes, not --force.');
    expect(await rig().complete('import ')).toEqual(['claude', 'codex']);
    expect(await rig().complete('import codex ')).toEqual(['--project', '--yes']);
  });
});
