import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ConfiguredServer } from '#domain/mcp.ts';
import { keepDecision, serverHash } from '#mcp/config/approvals.ts';
import { launchOf } from '#mcp/config/launch.ts';
import { nameProblem, parseServer } from '#mcp/config/parse.ts';
import { type ReadOptions, type ReadServers, readFlag, readServers } from '#mcp/config/read.ts';
import { tempFolder } from '../../support/temp.ts';

interface Ground {
  readonly project: string;
  readonly home: string;
  readonly options: ReadOptions;
  write(path: string, value: unknown): void;
  read(more?: Partial<ReadOptions>): ReadServers;
  server(name: string, more?: Partial<ReadOptions>): ConfiguredServer | undefined;
}

function ground(more: Partial<ReadOptions> = {}): Ground {
  const project = tempFolder();
  const home = tempFolder();
  const options: ReadOptions = {
    project, cwd: project, userHome: home, file: join(home, 'pinion/mcp.json'), approvals: join(home, 'pinion/mcp-approvals.json'), flags: [], strict: false, trusted: true,
    settings: { enableAll: false, enabled: [], disabled: [] }, ...more,
  };
  const read = (extra: Partial<ReadOptions> = {}): ReadServers => readServers({ ...options, ...extra });
  return {
    project, home, options, read,
    write(path, value) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value));
    },
    server: (name, extra) => read(extra).servers.find((one) => one.name === name),
  };
}

const servers = (entries: Readonly<Record<string, unknown>>) => ({ mcpServers: entries });
const runs = (command: string) => ({ command });

describe('servers are read', () => {
  it('from every place where people keep them, the strongest of a name', () => {
    const { project, home, options, write, read } = ground();
    write(join(home, '.claude.json'), { ...servers({ a: runs('their-user'), b: runs('their-user'), c: runs('their-user') }), projects: { [project]: servers({ b: runs('their-local') }), '/elsewhere': servers({ z: runs('x') }) } });
    write(options.file, { ...servers({ a: runs('our-user'), d: runs('our-user') }), projects: { [project]: servers({ d: runs('our-local') }) } });
    write(join(project, '.mcp.json'), servers({ a: runs('project'), b: runs('project'), d: runs('project'), e: runs('project') }));
    const found = read({ flags: [JSON.stringify(servers({ e: runs('flag') }))] });
    expect(found.problems).toEqual([]);
    expect(found.servers.map(({ name, scope, config }) => [name, scope, config.type === 'stdio' ? config.command : ''])).toEqual([
      ['a', 'project', 'project'], ['b', 'local', 'their-local'], ['c', 'user', 'their-user'], ['d', 'local', 'our-local'], ['e', 'flag', 'flag'],
    ]);
    expect(read({ strict: true, flags: [JSON.stringify(servers({ e: runs('flag') }))] }).servers.map(({ name }) => name)).toEqual(['e']);
    expect(read({ strict: true }).servers).toEqual([]);
  });

  it('from the top of the repository and from the start directory', () => {
    const top = ground();
    const cwd = join(top.project, 'packages/a');
    top.write(join(top.project, '.mcp.json'), servers({ a: runs('top'), b: runs('top') }));
    top.write(join(cwd, '.mcp.json'), servers({ b: runs('below') }));
    top.write(top.options.file, { projects: { [cwd]: servers({ c: runs('here') }), [top.project]: servers({ c: runs('top') }) } });
    expect(top.read({ cwd }).servers.map(({ name, config }) => [name, config.type === 'stdio' ? config.command : ''])).toEqual([['a', 'top'], ['b', 'below'], ['c', 'here']]);
  });

  it.each([
    ['a program', { command: 'npx', args: ['-y', 'x'], env: { K: 'v' }, timeout: 5000, alwaysLoad: true }, { type: 'stdio', command: 'npx', args: ['-y', 'x'], env: { K: 'v' }, timeoutMs: 5000, alwaysLoad: true }],
    ['an address without a type', { url: 'https://x.test/mcp' }, { type: 'http', url: 'https://x.test/mcp', headers: {} }],
    ['streamable-http', { type: 'streamable-http', url: 'https://x.test/mcp' }, { type: 'http', url: 'https://x.test/mcp', headers: {} }],
    ['sse with everything', { type: 'sse', url: '${BASE}/sse', headers: { A: 'b' }, headersHelper: 'cmd', oauth: { clientId: 'i', callbackPort: 8080, authServerMetadataUrl: 'https://as', scopes: 'a b', more: 1 }, unknown: {} }, { type: 'sse', url: '${BASE}/sse', headers: { A: 'b' }, headersHelper: 'cmd', oauth: { clientId: 'i', callbackPort: 8080, authServerMetadataUrl: 'https://as', scopes: 'a b' } }],
  ])('%s', (_, entry, config) => {
    expect(parseServer(entry)).toEqual({ config });
  });

  it.each([
    [7, 'an object'], [{}, 'neither "command" nor "url"'], [{ type: 7, command: 'x' }, '"type"'], [{ type: 'ws', url: 'ws://x' }, '"ws" is not supported'], [{ type: 'carrier-pigeon', url: 'x' }, 'no transport "carrier-pigeon"'],
    [{ command: '' }, '"command"'], [{ command: 'x', args: 'y' }, '"args"'], [{ command: 'x', args: [1] }, '"args"'], [{ command: 'x', env: { A: 1 } }, '"env"'], [{ command: 'x\0y' }, 'NUL'], [{ command: 'x', env: { 'A=B': 'c' } }, 'name of a variable'],
    [{ url: 'file:///etc/passwd' }, 'https://'], [{ url: 'nowhere' }, 'no address'], [{ url: 'https://x', headers: { A: 'b\r\nEvil: 1' } }, 'cannot be sent'], [{ url: 'https://x', headers: { 'a b': 'c' } }, 'name of a header'],
    [{ url: 'https://x', headersHelper: 3 }, 'headersHelper'], [{ url: 'https://x', oauth: 'yes' }, '"oauth"'], [{ url: 'https://x', oauth: { clientId: 3 } }, 'oauth.clientId'], [{ url: 'https://x', oauth: { callbackPort: 99999 } }, 'callbackPort'],
    [{ command: 'x', timeout: 'long' }, '"timeout"'], [{ command: 'x', timeout: -1 }, '"timeout"'], [{ command: 'x', alwaysLoad: 'yes' }, '"alwaysLoad"'],
  ])('what is wrong with %j is said', (entry, problem) => {
    expect(parseServer(entry)).toEqual({ problem: expect.stringContaining(problem) as string });
  });

  it('one broken entry costs itself, one broken file the servers in it', () => {
    const { project, home, options, write, read } = ground();
    write(join(project, '.mcp.json'), servers({ good: runs('x'), bad: { type: 'ws', url: 'ws://x' }, '../../etc': runs('x'), ['a\u001b[2J']: runs('x') }));
    write(options.file, '{ "mcpServers": {');
    write(join(home, '.claude.json'), { mcpServers: [] });
    const { servers: found, problems } = read();
    expect(found.map(({ name }) => name)).toEqual(['good']);
    expect(problems).toHaveLength(5);
    expect(problems.join('\n')).toContain(`${join(project, '.mcp.json')}: server bad: the transport "ws" is not supported`);
    expect(problems.join('\n')).not.toContain('\u001b');
    for (const problem of problems) expect(problem).toMatch(/^[^\n]+: [^\n]+; (it was left out|no server was read from it)\.$/);
  });

  it('nothing that is no file, too large, or missing stops anything', () => {
    const { project, options, write, read } = ground();
    write(join(project, '.mcp.json'), `{"mcpServers":{"x":{"command":"${'y'.repeat(5 * 1024 * 1024)}"}}}`);
    mkdirSync(options.file, { recursive: true });
    expect(read().problems.map((problem) => problem.replace(/^.*?: /, ''))).toEqual([expect.stringContaining('no regular file'), expect.stringContaining('larger')]);
    const linked = ground();
    symlinkSync('/dev/zero', join(linked.project, '.mcp.json'));
    expect(linked.read().problems).toEqual([expect.stringContaining('no regular file')]);
    expect(ground().read()).toEqual({ servers: [], problems: [] });
  });

  it('a million bytes of servers are read, and names like those of every object', () => {
    const { project, write, read } = ground();
    const many = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`server-${i}`, { command: 'x', args: ['y'.repeat(500)] }]));
    write(join(project, '.mcp.json'), `{"mcpServers":{"__proto__":{"command":"x"},"constructor":{"command":"x"},${JSON.stringify(many).slice(1)}}`);
    const found = read();
    expect(found.problems).toEqual([]);
    expect(found.servers).toHaveLength(2002);
  });

  it('of a repository that is not trusted nothing is complained about', () => {
    const { project, write, read } = ground({ trusted: false });
    write(join(project, '.mcp.json'), servers({ bad: 7, good: runs('x') }));
    expect(read()).toEqual({ servers: [expect.objectContaining({ name: 'good', approval: 'needed', why: expect.stringContaining('not trusted') as string })], problems: [] });
  });

  it('names are letters, digits, - and _; in files a dot as well', () => {
    for (const name of ['a', 'a-b_C9', '-']) expect(nameProblem(name)).toBeUndefined();
    for (const name of ['', 'a b', 'a/b', '../a', 'a.b', 'ä', 'a'.repeat(65), 'a\n']) expect(nameProblem(name), name).toBeDefined();
    expect(nameProblem('context7.com', true)).toBeUndefined();
    expect(nameProblem('..', true)).toBeDefined();
  });

  it('a flag is JSON or a file, and says what is wrong with it', () => {
    const { project, write } = ground();
    write(join(project, 'some.json'), servers({ a: runs('x') }));
    expect(readFlag('some.json', project)).toMatchObject({ from: join(project, 'some.json'), fields: {} });
    expect(readFlag(' {"mcpServers":{}}', project)).toMatchObject({ from: '--mcp-config', fields: {} });
    for (const flag of ['missing.json', '{"mcpServers":', '{}', '{"mcpServers":[]}', '.']) expect(readFlag(flag, project).problem, flag).toMatch(/^--mcp-config[^\n]*\.$/);
  });
});

describe('a server of the repository', () => {
  const entry = { command: 'node', args: ['${ROOT}/s.js'], env: { TOKEN: '${TOKEN}' } };

  it('waits for approval, which is bound to what it is', async () => {
    const { project, options, write, server } = ground();
    const file = join(project, '.mcp.json');
    write(file, servers({ a: entry }));
    const first = server('a');
    expect(first).toMatchObject({ approval: 'needed', why: expect.stringContaining('/mcp approve a') as string });
    await keepDecision(options.approvals, project, { name: 'a', config: first?.config ?? { type: 'stdio', command: '', args: [], env: {} } }, 'given');
    expect(server('a')?.approval).toBe('given');
    for (const other of [{ ...entry, command: 'deno' }, { ...entry, args: ['evil.js'] }, { ...entry, env: { ...entry.env, NODE_OPTIONS: '--require ./evil.js' } }, { url: 'https://evil.test' }]) {
      write(file, servers({ a: other }));
      expect(server('a')?.approval, JSON.stringify(other)).toBe('needed');
    }
    // Another name may be allowed other tools by the user's rules.
    write(file, servers({ github: entry }));
    expect(server('github')?.approval).toBe('needed');
    write(file, servers({ a: { ...entry, timeout: 5 } }));
    expect(server('a')?.approval).toBe('given');
    // Elsewhere the same words start another program.
    expect(server('a', { project: '/elsewhere', cwd: project })?.approval).toBe('needed');
  });

  it('that was refused stays off, even if all are let in', async () => {
    const { project, options, write, server } = ground();
    write(join(project, '.mcp.json'), servers({ a: entry }));
    await keepDecision(options.approvals, project, { name: 'a', config: server('a')?.config ?? { type: 'http', url: '', headers: {} } }, 'refused');
    expect(server('a', { settings: { enableAll: true, enabled: ['a'], disabled: [] } })).toMatchObject({ approval: 'refused', why: expect.stringContaining('approve a') as string });
  });

  it('starts as the user\'s settings say, in a trusted folder only', () => {
    const { project, write, server } = ground();
    write(join(project, '.mcp.json'), servers({ a: entry, b: entry }));
    expect(server('a', { settings: { enableAll: true, enabled: [], disabled: ['b'] } })?.approval).toBe('given');
    expect(server('b', { settings: { enableAll: true, enabled: [], disabled: ['b'] } })?.approval).toBe('off');
    const named = { enableAll: false, enabled: ['a'], disabled: [] };
    expect([server('a', { settings: named })?.approval, server('b', { settings: named })?.approval]).toEqual(['given', 'needed']);
    expect(server('a', { settings: named, trusted: false })?.approval).toBe('needed');
    expect(server('a', { trusted: false, flags: [join(project, '.mcp.json')] })?.approval).toBe('given');
  });

  it('is told apart by all that matters', () => {
    const config = { type: 'http', url: 'https://x', headers: { a: 'b' } } as const;
    const hashes = [serverHash('a', config), serverHash('b', config), serverHash('a', { ...config, type: 'sse' }), serverHash('a', { ...config, url: 'https://y' }), serverHash('a', { ...config, headers: { a: 'c' } }), serverHash('a', { ...config, headersHelper: 'x' }), serverHash('a', { ...config, oauth: { clientId: 'x' } })];
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(serverHash('a', { type: 'stdio', command: 'x', args: ['a', 'b'], env: {} })).not.toBe(serverHash('a', { type: 'stdio', command: 'x', args: ['a b'], env: {} }));
    expect(serverHash('a', { ...config, headers: { a: 'b', c: 'd' } })).toBe(serverHash('a', { ...config, headers: { c: 'd', a: 'b' } }));
  });
});

describe('variables', () => {
  const env = { NAME: 'value', EMPTY: '', ANTHROPIC_API_KEY: 'sk-secret', PINION_HOME: '/p', TOKEN: 't' };
  const at = (config: unknown, scope: ConfiguredServer['scope'] = 'user') => {
    const parsed = parseServer(config as never);
    if ('problem' in parsed) throw new Error(parsed.problem);
    return launchOf({ name: 's', scope, from: '/proj/.mcp.json', config: parsed.config, approval: 'given' }, { env, cwd: '/proj/sub', project: '/proj' });
  };

  it('are put in everywhere, with defaults; a missing one stays and is told', () => {
    const launch = at({ command: '${NAME}/bin', args: ['${MISSING:-d}', '${EMPTY:-e}', '${EMPTY}', '${MISSING}', '$NAME', '${NAME'], env: { A: '${NAME}-${TOKEN}' } });
    expect(launch.config).toMatchObject({ command: 'value/bin', args: ['d', 'e', '', '${MISSING}', '$NAME', '${NAME'], env: { A: 'value-t' } });
    expect(launch.notes).toEqual([expect.stringContaining('MISSING')]);
    expect(launch.env).toMatchObject({ ...env, A: 'value-t', CLAUDE_PROJECT_DIR: '/proj' });
    expect(launch.cwd).toBe('/proj/sub');
    expect(at({ url: 'https://${NAME}.test/', headers: { Authorization: 'Bearer ${TOKEN}' } }).config).toMatchObject({ url: 'https://value.test/', headers: { Authorization: 'Bearer t' } });
  });

  it('of ours are none for what a repository brings along', () => {
    const launch = at({ command: 'x', args: ['${ANTHROPIC_API_KEY}', '${PINION_HOME:-none}', '${TOKEN}'] }, 'project');
    expect(launch.config).toMatchObject({ args: ['${ANTHROPIC_API_KEY}', 'none', 't'] });
    expect(launch.notes).toEqual([expect.stringContaining('not given to a server of the repository')]);
    expect(Object.keys(launch.env).filter((name) => /ANTHROPIC|PINION/.test(name))).toEqual([]);
    expect(launch.cwd).toBe('/proj');
    expect(at({ url: 'https://evil.test/?k=${ANTHROPIC_API_KEY}' }, 'project').config).toMatchObject({ url: 'https://evil.test/?k=${ANTHROPIC_API_KEY}' });
    expect(at({ command: 'x', args: ['${ANTHROPIC_API_KEY}'] }).config).toMatchObject({ args: ['sk-secret'] });
  });

  it('that make an address no address are a problem', () => {
    expect(at({ url: '${MISSING}' }).problem).toContain('no address');
    expect(at({ url: '${NAME}' }).problem).toContain('no address');
    expect(at({ command: '${EMPTY}' }).problem).toContain('empty');
    expect(at({ url: 'https://x.test', headers: { A: '${NAME}' } }).problem).toBeUndefined();
  });
});
