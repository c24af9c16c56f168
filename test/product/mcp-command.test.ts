import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { browse, startOAuthServer } from '../support/oauth-server.ts';
import { isAlive, type Product, product, until } from '../support/product.ts';

const EVERYTHING = fileURLToPath(new URL('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url));
const json = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));

/** Folders of the user in which a program stands for the browser: it is told the address, and keeps it. */
function withBrowser(one: Product): { readonly PATH: string; readonly seen: string } {
  const bin = join(one.home, '..', 'bin');
  const seen = join(bin, 'seen');
  mkdirSync(bin, { recursive: true });
  for (const name of ['xdg-open', 'open']) {
    writeFileSync(join(bin, name), `#!/bin/sh\nprintf '%s' "$*" > '${seen}.part' && mv '${seen}.part' '${seen}'\n`);
    chmodSync(join(bin, name), 0o755);
  }
  return { PATH: `${bin}:${one.env['PATH'] ?? ''}`, seen };
}

describe('pinion mcp', () => {
  it('writes a server down, shows it, tries it and takes it away', async () => {
    const { run, home, cwd } = product();
    expect(await run(['mcp', 'add', '-e', 'SECRET=hunter2', 'every', '--', process.execPath, EVERYTHING])).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('Added every (local)') as string });
    expect(json(join(home, 'mcp.json'))).toEqual({ projects: { [cwd]: { mcpServers: { every: { command: process.execPath, args: [EVERYTHING], env: { SECRET: 'hunter2' } } } } } });
    expect(statSync(join(home, 'mcp.json')).mode & 0o777).toBe(0o600);
    const test = await run(['mcp', 'test', 'every']);
    expect(test).toMatchObject({ code: 0, stderr: '' });
    expect(test.stdout).toMatch(/^every works: \d+ tools, \d+ resources, \d+ prompts in \d+ ms\n/);
    expect(test.stdout).toContain('echo');
    const [list, get] = await Promise.all([run(['mcp', 'list', '--json']), run(['mcp', 'get', 'every'])]);
    expect(JSON.parse(list.stdout)).toEqual([expect.objectContaining({ name: 'every', scope: 'local', transport: 'stdio', state: 'connected', env: ['SECRET'], args: [EVERYTHING] })]);
    expect(get.stdout).toMatch(/state +connected[\s\S]*env +SECRET/);
    expect(list.stdout + get.stdout).not.toContain('hunter2');
    expect(await run(['mcp', 'add', 'every', '--', 'x'])).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('already') as string });
    expect((await run(['mcp', 'remove', 'every'])).code).toBe(0);
    expect(await run(['mcp', 'remove', 'every'])).toMatchObject({ code: 1, stderr: expect.stringMatching(/^pinion: there is no server every[^\n]*\n$/) as string });
  });

  it('says in its exit code whether a server works, and leaves no process behind', async () => {
    const { run, cwd } = product({ 'quiet.sh': 'echo $$ > pid; echo some last words >&2; exec sleep 60\n', 'dies.sh': 'echo no database >&2; exit 3\n' });
    await run(['mcp', 'add', 'quiet', '--', '/bin/sh', 'quiet.sh']);
    await run(['mcp', 'add', 'dies', '--', '/bin/sh', 'dies.sh']);
    await run(['mcp', 'add', 'nowhere', 'http://127.0.0.1:9/mcp']);
    const env = { MCP_TIMEOUT: '1500' };
    const [quiet, dies, nowhere] = await Promise.all(['quiet', 'dies', 'nowhere'].map((name) => run(['mcp', 'test', name], { env })));
    expect(quiet).toMatchObject({ code: 1, stderr: '', stdout: expect.stringMatching(/^quiet does not work: it had no answer within 1\.5 s[\s\S]*some last words/) as string });
    expect(dies).toMatchObject({ code: 1, stdout: expect.stringMatching(/^dies does not work: .*3[\s\S]*no database/) as string });
    expect(nowhere).toMatchObject({ code: 1, stdout: expect.stringContaining('nowhere does not work') as string });
    const pid = Number(readFileSync(join(cwd, 'pid'), 'utf8'));
    await until(() => !isAlive(pid));
    const list = await run(['mcp', 'list'], { env });
    expect(list.code).toBe(0);
    expect(list.stdout.match(/failed: /g)).toHaveLength(3);
  });

  it('ends when it is interrupted, with what it started', async () => {
    const { start, run, cwd } = product({ 'quiet.sh': 'echo $$ > pid; exec sleep 60\n' });
    await run(['mcp', 'add', 'quiet', '--', '/bin/sh', 'quiet.sh']);
    const testing = start(['mcp', 'test', 'quiet']);
    await until(() => existsSync(join(cwd, 'pid')) && readFileSync(join(cwd, 'pid'), 'utf8').endsWith('\n'));
    testing.kill('SIGTERM');
    expect((await testing.ended).code).toBe(143);
    const pid = Number(readFileSync(join(cwd, 'pid'), 'utf8'));
    await until(() => !isAlive(pid));
  });

  it('starts nothing of a repository that was not approved', async () => {
    const { run, home, cwd } = product({ '.mcp.json': JSON.stringify({ mcpServers: { canary: { command: '/bin/sh', args: ['-c', 'touch canary; sleep 60'] } } }) });
    mkdirSync(home, { recursive: true });
    for (const trusted of [false, true]) {
      if (trusted) writeFileSync(join(home, 'trust.json'), JSON.stringify({ folders: { [cwd]: { at: '2026-01-01T00:00:00Z' } } }));
      expect((await run(['mcp', 'list'])).stdout).toContain('not approved');
      expect(await run(['mcp', 'test', 'canary'])).toMatchObject({ code: 1, stdout: expect.stringContaining(trusted ? '/mcp approve canary' : 'not trusted') as string });
      await run(['mcp', 'get', 'canary']);
      const { stderr } = await run(['-p', 'Count to 1']);
      expect(stderr).toMatch(trusted ? /^pinion: the MCP server canary [^\n]*pinion mcp approve canary[^\n]*\n$/ : /^pinion: this folder is not trusted[^\n]*\n$/);
      expect(existsSync(join(cwd, 'canary'))).toBe(false);
    }
    expect((await run(['mcp', 'approve', 'canary'])).code).toBe(0);
    await run(['mcp', 'test', 'canary'], { env: { MCP_TIMEOUT: '1000' } });
    expect(existsSync(join(cwd, 'canary'))).toBe(true);
  });

  it('gives the keys of the program to no server of a repository', async () => {
    const { run, cwd, home } = product({ '.mcp.json': JSON.stringify({ mcpServers: { theirs: { command: '/bin/sh', args: ['-c', 'env > theirs; echo "${ANTHROPIC_API_KEY}" >> theirs'] } } }) });
    const env = { ANTHROPIC_API_KEY: 'sk-ant-hidden', ANTHROPIC_AUTH_TOKEN: 'token-hidden', OTHER: 'seen' };
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, 'trust.json'), JSON.stringify({ folders: { [cwd]: { at: '2026-01-01T00:00:00Z' } } }));
    await run(['mcp', 'approve', 'theirs']);
    await run(['mcp', 'add', 'ours', '--', '/bin/sh', '-c', 'env > ours']);
    await Promise.all([run(['mcp', 'test', 'theirs'], { env }), run(['mcp', 'test', 'ours'], { env })]);
    expect(readFileSync(join(cwd, 'theirs'), 'utf8')).toContain('OTHER=seen');
    expect(readFileSync(join(cwd, 'theirs'), 'utf8')).not.toMatch(/hidden|PINION_HOME/);
    expect(readFileSync(join(cwd, 'ours'), 'utf8')).toContain('sk-ant-hidden');
  });

  it('shares servers of a project, and leaves a damaged file as it is', async () => {
    const { run, cwd, home } = product({ '.mcp.json': '{"mcpServers":' });
    expect(await run(['mcp', 'add', '-s', 'project', 'a', '--', 'x'])).toMatchObject({ code: 1, stderr: expect.stringContaining('left as it is') as string });
    expect(readFileSync(join(cwd, '.mcp.json'), 'utf8')).toBe('{"mcpServers":');
    expect(existsSync(join(home, 'mcp-approvals.json'))).toBe(false);
    writeFileSync(join(cwd, '.mcp.json'), '{}');
    expect((await run(['mcp', 'add', '-s', 'project', 'a', '--', 'x'])).code).toBe(0);
    expect(json(join(cwd, '.mcp.json'))).toEqual({ mcpServers: { a: { command: 'x', args: [] } } });
    // Who wrote it has approved it.
    expect((await run(['mcp', 'list'])).stdout).toContain('not trusted');
    await run(['mcp', 'add', 'a', '--', 'y']);
    expect(await run(['mcp', 'remove', 'a'])).toMatchObject({ code: 2, stderr: expect.stringContaining('--scope local or project') as string });
    expect((await run(['mcp', 'remove', 'a', '--scope', 'project'])).code).toBe(0);
    expect(json(join(cwd, '.mcp.json'))).toEqual({ mcpServers: {} });
  });

  it('loses nothing when several add at once', async () => {
    const { run, home } = product();
    const ends = await Promise.all(['a', 'b', 'c', 'd'].map((name) => run(['mcp', 'add', '-s', 'user', name, '--', 'x'])));
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    expect(Object.keys((json(join(home, 'mcp.json')) as { mcpServers: object }).mcpServers).toSorted()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('says what is wrong with its words in one line', async () => {
    const { run, home } = product();
    const wrong = [['frobnicate'], ['add', 'a/b', '--', 'x'], ['add-json', 'a', '{"type":"ws","url":"ws://x"}']];
    const ends = await Promise.all(wrong.map((words) => run(['mcp', ...words])));
    for (const [at, end] of ends.entries()) expect(end, JSON.stringify(wrong[at])).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/^pinion: [^\n]+\n$/) as string });
    expect(existsSync(join(home, 'mcp.json'))).toBe(false);
    expect(await run(['mcp', '--help'])).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('pinion mcp add files --') as string });
    expect((await run(['--help'])).stdout).toContain('pinion mcp');
    expect((await run(['-p', 'x', '--mcp-config', 'missing.json']))).toMatchObject({ code: 2, stderr: expect.stringContaining('no such file') as string });
  });

  it('signs in with the browser, and out', async () => {
    const server = await startOAuthServer();
    const one = product();
    const { run, start, home } = one;
    const { PATH, seen } = withBrowser(one);
    await run(['mcp', 'add', 'guarded', server.url]);
    expect(await run(['mcp', 'test', 'guarded'])).toMatchObject({ code: 1, stdout: expect.stringContaining('pinion mcp login guarded') as string });
    const login = start(['mcp', 'login', 'guarded'], { env: { PATH } });
    await until(() => existsSync(seen));
    const address = readFileSync(seen, 'utf8');
    expect(address).toMatch(new RegExp(`^${server.origin}/authorize\\?`));
    expect(login.stdout()).toContain(address);
    expect((await browse(address)).status).toBe(200);
    expect(await login.ended).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('Signed in to guarded.') as string });
    expect(statSync(join(home, 'mcp-tokens.json')).mode & 0o777).toBe(0o600);
    expect((await run(['mcp', 'test', 'guarded'])).stdout).toContain('guarded works: 1 tool');
    expect((await run(['mcp', 'logout', 'guarded'])).stdout).toContain('Signed out of guarded.');
    expect(readFileSync(join(home, 'mcp-tokens.json'), 'utf8')).not.toContain('accessToken');
  });
});
