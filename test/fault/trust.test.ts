import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { edit } from '../support/acp-client.ts';
import { call, say } from '../support/messages-server/reply.ts';
import type { MessagesServer } from '../support/messages-server/server.ts';
import { last, PINION, type Product, product, resultIn, serve, wordsOf } from '../support/product.ts';
import { openVirtualTerminal, type VirtualTerminal } from '../support/virtual-terminal.ts';
import { type Canaries, canaries, link, plant } from './hostile.ts';

const SECRET = 'PRIVATE KEY OF THE USER';

interface Trap extends Product {
  readonly birds: Canaries;
  /** The server that the user chose. */
  readonly server: MessagesServer;
  /** The one that the folder names. */
  readonly elsewhere: MessagesServer;
}

async function trap(script: Parameters<typeof serve>[0] = () => say('Done.')): Promise<Trap> {
  const [server, elsewhere] = await Promise.all([serve(script), serve(() => say('Stolen.'))]);
  const place = product({ '.keep': '' }, server);
  const birds = canaries();
  plant(place.cwd, birds, elsewhere.url);
  const home = place.env['HOME'] ?? '';
  mkdirSync(join(home, '.ssh'));
  for (const name of ['id_ed25519', 'config']) writeFileSync(join(home, '.ssh', name), `${SECRET}\n`);
  return { ...place, birds, server, elsewhere };
}

function onScreen({ cwd, env }: Product, ...args: readonly string[]): VirtualTerminal {
  const terminal = openVirtualTerminal({ command: process.execPath, args: [PINION, ...args], cwd, columns: 100, rows: 30, env: { ...env, TERM: 'xterm-256color' } });
  onTestFinished(() => terminal.close());
  return terminal;
}

describe('a hostile folder', () => {
  it('that is looked at and left at the trust question has run nothing and sent nothing', async () => {
    const { birds, server, elsewhere, ...place } = await trap();
    const terminal = onScreen(place);
    await terminal.waitFor('Do you trust');
    // The index of files is made meanwhile.
    await terminal.settled(700);
    expect(birds.sung()).toEqual([]);
    terminal.type('\x1b');
    await terminal.waitFor((screen) => !screen.some((line) => line.includes('Do you trust')));
    terminal.type('@sr');
    await terminal.settled(400);
    terminal.type('\x1b\x15\x03\x03');
    expect(await terminal.ended).toMatchObject({ code: expect.any(Number) as number });
    expect([birds.sung(), server.all, elsewhere.all]).toEqual([[], [], []]);
    expect(existsSync(join(place.home, 'trust.json'))).toBe(false);
  });

  it.each([['without trust', []], ['with --trust', ['--trust']]])('runs nothing and reaches no other server in print mode %s', async (_, trust) => {
    const { birds, server, elsewhere, run, cwd } = await trap([
      { content: [call('Bash', { command: 'touch made.txt' }), call('Bash', { command: 'git status' }), call('Bash', { command: 'git diff' }), call('Grep', { pattern: 'export', output_mode: 'content' }), call('Glob', { pattern: '**/*' }), call('Skill', { skill: 'help-me' }), call('Skill', { skill: 'look' }), call('Skill', { skill: 'src:deep' }), call('Write', { file_path: 'new.txt', content: 'x' })] },
      say('Done.'),
    ]);
    const { code, stdout } = await run(['-p', 'Look @src/a.ts @src', '--pin', 'src/*', '--output-format', 'json', ...trust]);
    expect(code).toBe(0);
    const denied = resultIn(stdout).permission_denials.map(({ tool_name: name }) => name);
    if (trust.length === 0) {
      expect(birds.sung()).toEqual([]);
      expect(denied).toEqual(['Bash', 'Bash', 'Bash', 'Write']);
      expect(existsSync(join(cwd, 'made.txt'))).toBe(false);
      expect(JSON.stringify(server.requests.map(({ body }) => body)).match(/does all that anybody asks|\.(?:claude|pinion|agents)-(?:skill|command|agent|style)|-companion|nested-skill/g)).toBeNull();
    } else {
      // What was agreed to runs: the commands that its allow rules name, and what git runs for them. Nothing else, and no mode.
      expect(birds.sung().filter((name) => !/^(?:fsmonitor|bash-env|clean|process|textconv|diff.*|lazy-fetch|hook-.*|pager|\.pinion-(?:skill|command)|\.(?:pinion|claude)_settings(?:\.local)?\.json-(?:(?:tool-)?hook|lsp))$/.test(name))).toEqual([]);
      expect(denied).not.toContain('Bash');
    }
    expect(elsewhere.all).toEqual([]);
    expect(server.requests.every(({ headers }) => headers['x-api-key'] === 'sk-ant-test' && headers['x-evil'] === undefined)).toBe(true);
    expect(wordsOf(last(server.requests))).not.toContain(SECRET);
  });

  it('runs nothing for an editor, for a program, for a list of servers or for what others have left', async () => {
    const work = { content: [call('Read', { file_path: 'src/a.ts' }), call('Read', { file_path: 'a.sh' }), call('LSP', { operation: 'documentSymbol', file_path: 'src/a.ts' }), call('Task', { subagent_type: 'general', description: 'x', prompt: 'go' }), call('Bash', { command: 'touch made.txt' })] };
    let asked = 0;
    const { birds, elsewhere, ...place } = await trap((request) => (wordsOf(request).includes('made.txt') || (asked += 1) > 6 ? say('Done.') : work));
    const editor = edit(place, { answer: () => 'cancelled' });
    await editor.prompt(await editor.open(), 'Look @src/a.ts');
    editor.leave();
    const spoken = place.start(['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'], { input: `${JSON.stringify({ type: 'user', message: { role: 'user', content: 'Look' } })}\n` });
    const others = [['mcp', 'list'], ['mcp', 'list', '--json'], ['mcp', 'get', 'outer'], ['mcp', 'test', 'posing'], ['mcp', 'login', 'helped'], ['-p', '/import'], ['-p', '/import cursor --project --yes'], ['-p', '/hooks'], ['-p', '/lsp'], ['-p', '/mcp']].map((args) => place.run(args));
    const [said, ...outputs] = await Promise.all([spoken.ended, ...others]);
    await editor.ended;
    expect(said.code).toBe(0);
    for (const line of said.stdout.trim().split('\n')) expect(() => JSON.parse(line) as unknown).not.toThrow();
    for (const { stdout, stderr } of [said, ...outputs]) expect(`${stdout}${stderr}`).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]|sk-ant-test/u);
    expect(outputs[3]).toMatchObject({ code: 1, stdout: expect.stringContaining('not trusted') as string });
    expect(birds.sung()).toEqual([]);
    expect(elsewhere.all).toEqual([]);
    expect(existsSync(join(place.cwd, 'made.txt'))).toBe(false);
  });

  it('cannot make the program read without end, or wait', async () => {
    const { run, cwd } = product({ 'src/a.ts': 'x\n' });
    for (const name of ['.pinion/settings.json', '.pinion/settings.local.json', '.claude/settings.json', '.mcp.json', '.gitignore', 'src/.gitignore', 'AGENTS.md', 'CLAUDE.md', '.git/HEAD', '.gitmodules']) link(cwd, name, '/dev/zero');
    expect((await run(['-p', 'Count to 1', '--pin', 'src/*'])).code).toBe(0);
    expect(await run(['-p', 'List the files'])).toMatchObject({ code: 0 });
  });
});

describe('a rule that is kept', () => {
  const BASH = [call('Bash', { command: 'touch made.txt' })];

  async function always(place: Product): Promise<VirtualTerminal> {
    const terminal = onScreen(place, 'Please work');
    await terminal.waitFor(/Do you trust|don't ask again/);
    if (terminal.screen().some((line) => line.includes('Do you trust'))) terminal.type('\x1b');
    await terminal.waitFor("don't ask again");
    terminal.type('2');
    await terminal.waitFor('All done.');
    await terminal.settled();
    terminal.type('/exit\r');
    await terminal.ended;
    return terminal;
  }

  it('holds in this folder at the next start once the folder is trusted, not before and not elsewhere', async () => {
    const server = await serve((request) => (wordsOf(request).includes('(no output)') || wordsOf(request).includes('must be asked') ? say('All done.') : { content: BASH }));
    const place = product({}, server);
    await always(place);
    expect(JSON.parse(readFileSync(join(place.cwd, '.pinion/settings.local.json'), 'utf8'))).toEqual({ permissions: { allow: [expect.stringMatching(/^Bash\(touch\b/) as string] } });
    const denials = async (...args: readonly string[]): Promise<number> => resultIn((await place.run(['-p', 'Again', '--output-format', 'json', ...args])).stdout).permission_denials.length;
    expect(await denials()).toBe(1);
    expect(await denials('--trust')).toBe(0);
  });

  it.each([
    ['the file', '.pinion/settings.local.json', 'victim'],
    ['its folder', '.pinion', 'folder'],
  ])('is never written through a link that stands for %s', async (_, name, target) => {
    const server = await serve((request) => (wordsOf(request).includes('(no output)') ? say('All done.') : { content: BASH }));
    const place = product({}, server);
    const outside = join(dirname(place.home), target);
    if (target === 'victim') writeFileSync(outside, '# shell start-up\n');
    else mkdirSync(outside);
    link(place.cwd, name, outside);
    await always(place);
    if (target === 'victim') expect(readFileSync(outside, 'utf8')).toBe('# shell start-up\n');
    else expect(existsSync(join(outside, 'settings.local.json'))).toBe(false);
    expect(existsSync(join(place.cwd, 'made.txt'))).toBe(true);
  });

  it('does not cost what the file held that could not be read', async () => {
    const server = await serve((request) => (wordsOf(request).includes('(no output)') ? say('All done.') : { content: BASH }));
    const place = product({ '.pinion/settings.local.json': '{ "permissions": { "deny": ["Read(x)"], } } // mine\n' }, server);
    await always(place);
    expect(readFileSync(join(place.cwd, '.pinion/settings.local.json'), 'utf8')).toContain('// mine');
  });
});
