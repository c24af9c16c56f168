import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { linkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readVerdict, writeVerdict } from '#gate/access.ts';
import { createPaths, type Paths } from '#gate/paths.ts';
import { createPlaces } from '#gate/places.ts';
import { protectedAs } from '#gate/protect.ts';
import { rulebookOf } from '#gate/rulebook.ts';
import { ground, rule, ruleSet, type Ground } from './workspace.ts';

let at: Ground;
beforeEach(() => {
  at = ground();
  for (const file of ['.env', 'src/a.ts', 'secrets/key', '../app-evil/x', '../../home/u/.ssh/id']) at.write(file);
});
afterEach(() => { at.remove(); });

function pathsWith(...deny: readonly string[]): Paths {
  return createPaths({ roots: () => [at.app], home: at.home, denyRead: () => deny.map((text) => rule(text, at.home)) });
}

describe('the path port', () => {
  it('tells where a path leads and how it is shown', async () => {
    const paths = pathsWith();
    expect(await paths.lookUp('src/a.ts', at.app)).toEqual({ real: join(at.app, 'src/a.ts'), label: 'src/a.ts', kind: 'file', outside: false, denied: false });
    expect(await paths.lookUp('../a.ts', join(at.app, 'src/deep'))).toMatchObject({ real: join(at.app, 'src/a.ts') });
    expect(await paths.lookUp('.', at.app)).toMatchObject({ kind: 'directory', label: '.', outside: false });
    expect(await paths.lookUp('~/.ssh/id', at.app)).toMatchObject({ real: join(at.home, '.ssh/id'), label: join(at.home, '.ssh/id'), kind: 'file', outside: true });
    expect(await paths.lookUp('/dev/null', at.app)).toMatchObject({ kind: 'other', outside: true });
  });
  it('calls missing whatever cannot be looked at', async () => {
    symlinkSync('loop', join(at.app, 'loop'));
    for (const written of ['none', 'src/a.ts/x', 'nul\0x', 'n'.repeat(5000), 'loop', `${'d/'.repeat(3000)}x`]) {
      expect((await pathsWith().lookUp(written, at.app)).kind, written.slice(0, 20)).toBe('missing');
    }
  });
  it('takes a neighbour with the same beginning for outside', async () => {
    expect(await pathsWith().lookUp('../app-evil/x', at.app)).toMatchObject({ outside: true });
    expect(await pathsWith().lookUp(`${at.app}/../app-evil/x`, at.app)).toMatchObject({ outside: true });
  });
  it('takes a link that leads out for outside, and the place of a broken one too', async () => {
    at.link('/etc', 'out');
    at.link('/nowhere/x', 'broken');
    expect(await pathsWith().lookUp('out/passwd', at.app)).toMatchObject({ outside: true, real: '/etc/passwd' });
    expect(await pathsWith().lookUp('broken', at.app)).toMatchObject({ outside: true, kind: 'missing' });
  });
  it('goes up from where a link leads, as the system does', async () => {
    at.link('../../home/u/.ssh', 'link');
    expect(await pathsWith().lookUp('link/../secret', at.app)).toMatchObject({ real: join(at.home, 'secret'), outside: true });
  });
  it('is denied by either end, by each spelling, as a folder and by a second name', async () => {
    at.link('../secrets/key', 'docs/link');
    linkSync(join(at.app, '.env'), join(at.app, 'src/twin'));
    linkSync(join(at.app, 'secrets/key'), join(at.app, 'src/twin2'));
    const paths = pathsWith('Read(**/.env)', 'Read(**/secrets/**)');
    for (const written of ['.env', './.env', 'src/../.env', 'docs/link', 'secrets', 'secrets/new', 'src/twin', 'src/twin2', join(at.app, '.env')]) {
      expect((await paths.lookUp(written, at.app)).denied, written).toBe(true);
    }
    expect((await paths.lookUp('src/a.ts', at.app)).denied).toBe(false);
    expect(paths.denies(join(at.app, 'secrets/key'))).toBe(true);
    expect(paths.denies(join(at.app, 'src/a.ts'))).toBe(false);
  });
  it('denies all where a rule about reading cannot be understood', async () => {
    expect((await pathsWith('Read(x').lookUp('src/a.ts', at.app)).denied).toBe(true);
    expect((await pathsWith('Bash(x').lookUp('src/a.ts', at.app)).denied).toBe(false);
    expect((await pathsWith('Bash(rm:*)', 'Edit(src/**)').lookUp('src/a.ts', at.app)).denied).toBe(false);
  });
  it('works in a workspace that is itself reached through a link', async () => {
    symlinkSync(at.app, join(at.top, 'way'));
    const paths = createPaths({ roots: () => [join(at.top, 'way')], home: at.home, denyRead: () => [rule('Read(./secrets/**)', at.home)] });
    expect(await paths.lookUp('src/a.ts', join(at.top, 'way'))).toMatchObject({ outside: false, label: 'src/a.ts' });
    expect(await paths.lookUp(join(at.app, 'secrets/key'), '/')).toMatchObject({ outside: false, denied: true });
  });
  it('never mistakes a path while another process swaps a link under it', async () => {
    const paths = pathsWith('Read(**/secrets/**)');
    at.write('good/key');
    const link = join(at.app, 'swap');
    const swapper = spawn(process.execPath, ['-e', `
      const fs = require('node:fs');
      console.log('ready');
      for (let round = 0; ; round += 1) {
        fs.symlinkSync(['good', 'secrets', '/etc'][round % 3], '${link}.new');
        fs.renameSync('${link}.new', '${link}');
      }`], { stdio: ['ignore', 'pipe', 'ignore'] });
    try {
      await once(swapper.stdout, 'data');
      const seen = new Set<string>();
      for (let round = 0; round < 800; round += 1) {
        const { real, outside, denied } = paths.look('swap/key', at.app);
        seen.add(real);
        expect(outside).toBe(real.startsWith('/etc/'));
        expect(denied).toBe(real.includes('/secrets/'));
      }
      expect(seen.size).toBeGreaterThan(1);
    } finally {
      swapper.kill('SIGKILL');
      await once(swapper, 'close');
    }
  });
});

describe('paths that are never written without a question', () => {
  it.each([
    '.git/config', '.git/hooks/pre-commit', 'sub/.git/config', '.GIT/config', '.vscode/settings.json', '.pinion/settings.json', '.claude/settings.local.json', '.cLaUdE/x',
    '.mcp.json', '.MCP.JSON', '.github/workflows/ci.yml', '.gitlab-ci.yml', 'Jenkinsfile', '.husky/pre-commit', '.envrc', 'AGENTS.md', 'CLAUDE.md', 'sub/CLAUDE.local.md',
    '.git', '.git.', '.git ', '.gi\u200ct/config', '.git::$INDEX_ALLOCATION/config', '.npmrc', '.bashrc', 'node_modules/.bin/vtsls', 'a/node_modules/typescript/lib/tsserver.js', '.venv/bin/python', '.gemini/settings.json', 'opencode.json', '.codex/config.toml',
  ])('%j', (path) => { expect(protectedAs(join('/w', path), '/w')).toBeDefined(); });
  it.each(['src/a.ts', 'git/config', '.github/ISSUE_TEMPLATE.md', 'docs/.gitkeep', '.gitignore', 'vscode/settings.json', '.env', 'node_modules', 'src/opencode.ts', ''])('not %j', (path) => { expect(protectedAs(join('/w', path), '/w')).toBeUndefined(); });
  it('counts from the working folder down', () => {
    expect(protectedAs('/r/.claude/worktrees/x/src/a.ts', '/r/.claude/worktrees/x')).toBeUndefined();
    expect(protectedAs('/r/.claude/worktrees/x/.git', '/r/.claude/worktrees/x')).toBeDefined();
    expect(protectedAs('/r/.claude/worktrees/x/src/a.ts', undefined)).toBeDefined();
  });
});

describe('reading and writing under rules', () => {
  const verdict = (access: 'read' | 'write', written: string, lists: Parameters<typeof ruleSet>[1] = {}, edits = false): string => {
    const places = createPlaces({ roots: () => [at.app], home: at.home, state: [join(at.home, '.pinion-state')] });
    const about = { places, book: rulebookOf(ruleSet(at.home, lists), places.anchors()), edits };
    const found = access === 'read' ? readVerdict(about, 'Read', written, at.app) : writeVerdict(about, 'Write', written, at.app);
    return found.kind === 'ask' && found.hard ? 'ask always' : found.kind;
  };
  it('reads inside, asks outside and of the kernel', () => {
    expect(verdict('read', 'src/a.ts')).toBe('ok');
    expect(verdict('read', '/etc/passwd')).toBe('ask');
    expect(verdict('read', '/proc/self/environ')).toBe('ask');
    expect(verdict('read', `/proc/self/root${at.app}/src/a.ts`)).toBe('ask');
    expect(verdict('read', '/dev/null')).toBe('ok');
    expect(verdict('read', '/etc/passwd', { allow: ['Read(//etc/**)'] })).toBe('ok');
    expect(verdict('read', 'src/a.ts', { ask: ['Read(src/**)'], allow: ['Read'] })).toBe('ask always');
    expect(verdict('read', 'src/a.ts', { deny: ['Read(src/**)'], ask: ['Read(src/**)'], allow: ['Read'] })).toBe('deny');
  });
  it('writes inside only when asked, or in the mode for it, or by rule', () => {
    expect(verdict('write', 'src/new.ts')).toBe('ask');
    expect(verdict('write', 'src/new.ts', {}, true)).toBe('ok');
    expect(verdict('write', 'src/new.ts', { allow: ['Edit(src/**)'] })).toBe('ok');
    expect(verdict('write', 'src/new.ts', { allow: ['Read(src/**)'] })).toBe('ask');
    expect(verdict('write', '../x', {}, true)).toBe('ask');
    expect(verdict('write', '../app-evil/x', {}, true)).toBe('ask');
  });
  it('denies writing what must not be read', () => {
    expect(verdict('write', '.env', { deny: ['Read(.env)'] }, true)).toBe('deny');
    expect(verdict('read', '.env', { deny: ['Edit(.env)'] }, true)).toBe('ok');
    expect(verdict('write', '.env', { deny: ['Edit(.env)'] }, true)).toBe('deny');
  });
  it('asks always about protected paths: missing, through a link, in another spelling, by an allow rule', () => {
    at.write('.git/config');
    at.link('.git', 'innocent');
    at.link('../.claude/settings.json', 'src/notes');
    for (const path of ['.git/config', '.claude/settings.json', 'innocent/config', 'src/notes', '.CLAUDE/x', 'src/../.mcp.json', '~/.bashrc', '~/.pinion-state/trust.json']) {
      expect(verdict('write', path, {}, true), path).toBe('ask always');
      expect(verdict('write', path, { allow: ['Edit', 'Edit(//**)'] }, true), path).toBe('ask always');
    }
  });
});
