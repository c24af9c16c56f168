import { existsSync, linkSync, readdirSync, readFileSync, renameSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { call, type ReplyBlock, say } from '../support/messages-server/reply.ts';
import { last, PINION, type Product, product, resultIn, serve, wordsOf } from '../support/product.ts';
import { tempFolder } from '../support/temp.ts';
import { openVirtualTerminal, type VirtualTerminal } from '../support/virtual-terminal.ts';

const SECRET = 'SWORDFISH';
const PIXEL = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');

interface Ran {
  /** Inputs of the calls that were refused. */
  readonly denied: readonly unknown[];
  /** All that the model was told. */
  readonly told: string;
  readonly place: Product;
}

/** Lets a model make these calls, each in a reply of its own, and gives what became of them. */
async function attempt(place: (server: Parameters<typeof product>[1]) => Product, calls: readonly ReplyBlock[], ...args: readonly string[]): Promise<Ran> {
  const server = await serve([...calls.map((one) => ({ content: [one] })), say('Done.')]);
  const made = place(server);
  const { stdout } = await made.run(['-p', 'Go on', '--output-format', 'json', ...args]);
  return { denied: resultIn(stdout).permission_denials.map(({ tool_input: input }) => input), told: wordsOf(last(server.requests)), place: made };
}

/** A project with a secret beside it, and ways that seem to lead elsewhere. */
function besetProject(server: Parameters<typeof product>[1]): Product {
  const top = tempFolder({ 'app/src/a.ts': 'export {};\n', 'app-evil/key.txt': `${SECRET}\n`, 'outside/key.txt': `${SECRET}\n` });
  const cwd = join(top, 'app');
  symlinkSync('../outside', join(cwd, 'docs'));
  symlinkSync('../outside', join(cwd, 'a+b'));
  symlinkSync('../outside', join(cwd, '[id]'));
  symlinkSync('../../outside', join(cwd, 'src/far'));
  symlinkSync('../outside/key.txt', join(cwd, 'notes.txt'));
  symlinkSync('docs', join(cwd, 'twice'));
  symlinkSync('/proc/self/cwd/../outside', join(cwd, 'winding'));
  const place = product({}, server);
  return { ...place, cwd, run: (args, options) => place.run(args, { cwd, ...options }) };
}

describe('a call that leads out of the working folder', () => {
  it('is asked about however its path is written', async () => {
    const paths = [
      'docs/key.txt', 'notes.txt', 'twice/key.txt', 'winding/key.txt', '../outside/key.txt', 'src/../../outside/key.txt', './/..//outside/key.txt', 'docs/../outside/key.txt', '../app-evil/key.txt',
      '/proc/self/cwd/../outside/key.txt', '/proc/self/root/etc/passwd', '/proc/thread-self/cwd/notes.txt', '/dev/fd/../cwd/notes.txt', '\\u{2E}\\u{2E}/outside/key.txt', '~/../outside/key.txt', '/etc/passwd',
    ];
    const calls = [
      ...paths.map((path) => call('Read', { file_path: path })), ...paths.map((path) => call('Write', { file_path: path, content: 'x' })), ...paths.map((path) => call('Edit', { file_path: path, old_string: SECRET, new_string: 'x' })),
      ...['docs', 'twice', '../outside', '../app-evil', 'notes.txt', 'a+b', '/'].map((path) => call('Grep', { pattern: 'SWORD', path, output_mode: 'content' })),
      ...['docs/*', 'twice/*', '../outside/*', '**/../../outside/*', '/etc/*'].map((pattern) => call('Glob', { pattern })), call('Glob', { pattern: '*', path: 'docs' }),
      ...['cat docs/key.txt', 'cat < notes.txt', 'head ../outside/key.txt', 'grep -r SWORD docs/', 'cat src/../../outside/key.txt', 'cat ~/../outside/key.txt', 'cd docs && cat key.txt', 'ls docs/', 'cat /proc/self/cwd/notes.txt', 'cat not*.txt', 'cat [id]/key.txt', 'mv src lib && cat lib/far/key.txt', 'cat src/[a]/../../[id]/key.txt', 'wc -l $PWD/notes.txt'].map((command) => call('Bash', { command })),
    ];
    const { denied, told, place } = await attempt(besetProject, calls, '--permission-mode', 'acceptEdits');
    const inputs = calls.map((one) => (one.type === 'tool_use' ? one.input : undefined));
    // Edits of what does not exist or is not a file may fail on their own; none may pass.
    expect(inputs.filter((input) => !denied.some((one) => JSON.stringify(one) === JSON.stringify(input)))).toEqual([]);
    expect(told).not.toContain(SECRET);
    expect(readFileSync(join(place.cwd, '../outside/key.txt'), 'utf8')).toBe(`${SECRET}\n`);
    expect(readdirSync(join(place.cwd, '../outside'))).toEqual(['key.txt']);
  });

  it('lists nothing outside by a name that only looks like a pattern', async () => {
    const { told } = await attempt(besetProject, [call('Glob', { pattern: 'a+b/*' }), call('Glob', { pattern: 'a+b/**/*.txt' }), call('Glob', { pattern: '@(a+b)/*' })]);
    expect(told).not.toContain('key.txt');
  });
});

const PROTECTED = [
  '.git/config', '.git/hooks/pre-commit', '.GIT/config', 'sub/../.git/config', 'g/config', '.pinion/settings.json', '.pinion/settings.local.json', '.Pinion//settings.json', '.claude/settings.json', '.mcp.json', './.MCP.json',
  'AGENTS.md', 'sub/CLAUDE.md', '.vscode/tasks.json', '.github/workflows/ci.yml', '.envrc', '.npmrc', 'package/.husky/pre-push', '.gitattributes', '.git\u200b/config', '.gitmodules', 'a/b/.git/config', '.idea/x.xml',
];

describe.each([['acceptEdits'], ['bypassPermissions']])('in the mode %s', (mode) => {
  it('what decides what runs later is not written without a question, by whatever way', async () => {
    const files = { '.git/HEAD': 'ref: refs/heads/main\n', '.git/config': '[core]\n', 'sub/x': 'x\n' };
    const place = (server: Parameters<typeof product>[1]): Product => {
      const made = product(files, server);
      symlinkSync('.git', join(made.cwd, 'g'));
      return made;
    };
    const calls = [
      ...PROTECTED.map((path) => call('Write', { file_path: path, content: 'planted' })),
      ...['echo planted > .git/config', 'echo planted >> g/config', 'cp sub/x .mcp.json', 'tee AGENTS.md < sub/x', 'cd .git && echo planted > config', 'mv sub/x .envrc', 'mkdir -p .git/hooks', 'touch .pinion/settings.json', 'ln -s x .vscode', 'echo planted >&.mcp.json\\'].map((command) => call('Bash', { command })),
    ];
    const { denied, place: { cwd } } = await attempt(place, calls, '--permission-mode', mode);
    const inputs = calls.map((one) => (one.type === 'tool_use' ? one.input : undefined));
    expect(inputs.filter((input) => !denied.some((one) => JSON.stringify(one) === JSON.stringify(input)))).toEqual([]);
    expect(readFileSync(join(cwd, '.git/config'), 'utf8')).toBe('[core]\n');
    expect(readdirSync(cwd).sort()).toEqual(['.git', 'g', 'sub']);
  });

  it('nor by commands that step there first', async () => {
    const calls = [
      call('Bash', { command: 'cd .git' }), call('Bash', { command: 'echo planted > config' }), call('Write', { file_path: 'hooks/post-checkout', content: 'planted' }), call('Bash', { command: 'cd ..' }),
      call('Bash', { command: 'mkdir -p deep && cd deep' }), call('Bash', { command: 'rmdir ../deep; echo gone' }), call('Bash', { command: 'echo planted > .mcp.json' }), call('Bash', { command: 'echo planted > settings.txt' }),
    ];
    const { place: { cwd } } = await attempt((server) => product({ '.git/HEAD': 'ref: refs/heads/main\n', '.git/config': '[core]\n' }, server), calls, '--permission-mode', mode);
    expect(readFileSync(join(cwd, '.git/config'), 'utf8')).toBe('[core]\n');
    expect([existsSync(join(cwd, '.git/hooks')), existsSync(join(cwd, '.mcp.json'))]).toEqual([false, false]);
  });
});

describe('what must not be read', () => {
  const files = { 'secret/key.txt': `${SECRET}\n`, '.env': `KEY=${SECRET}\n`, 'secret/shot.png': PIXEL, 'src/a.ts': 'export {};\n', '.pinion/settings.json': JSON.stringify({ permissions: { deny: ['Read(secret/**)', 'Read(.env)'] } }) };
  const place = (server: Parameters<typeof product>[1]): Product => {
    const made = product(files, server);
    symlinkSync('secret', join(made.cwd, 'open'));
    linkSync(join(made.cwd, '.env'), join(made.cwd, 'env.txt'));
    linkSync(join(made.cwd, 'secret/key.txt'), join(made.cwd, 'src/key.txt'));
    return made;
  };

  it('is not given to the model in any mode, by any tool, mention or pin', async () => {
    const calls = [
      ...['secret/key.txt', 'open/key.txt', '.env', 'env.txt', 'src/key.txt', 'src/../.env', 'secret/shot.png', 'open/shot.png', '/proc/self/cwd/.env'].map((path) => call('Read', { file_path: path })),
      call('Grep', { pattern: 'SWORD', output_mode: 'content' }), call('Grep', { pattern: 'SWORD', path: 'secret', output_mode: 'content' }), call('Grep', { pattern: 'SWORD', path: 'open', output_mode: 'content' }), call('Grep', { pattern: 'SWORD', path: 'env.txt', output_mode: 'content' }),
      call('Glob', { pattern: 'secret/*' }), call('Glob', { pattern: 'open/*' }), call('Edit', { file_path: '.env', old_string: 'KEY', new_string: 'KEY' }), call('Edit', { file_path: 'env.txt', old_string: 'no', new_string: 'yes' }), call('Write', { file_path: 'secret/key.txt', content: 'x' }),
      ...['cat .env', 'cat secret/key.txt', 'cat open/key.txt', 'cat env.txt', 'cat secret/*', 'grep -r SWORD .', 'head -c 10 < .env', 'cp .env x', 'git diff --no-index /dev/null .env', 'tar c secret', 'while read l; do echo $l; done < .env'].map((command) => call('Bash', { command })),
    ];
    const server = await serve([...calls.map((one) => ({ content: [one] })), say('Done.')]);
    const made = place(server);
    const { code, stdout } = await made.run(['-p', 'What is in @secret/key.txt @open/key.txt @.env @env.txt @src/key.txt @secret/shot.png @open?', '--pin', 'src', '--permission-mode', 'bypassPermissions', '--output-format', 'json']);
    expect([code, resultIn(stdout).result]).toEqual([0, 'Done.']);
    const sent = last(server.requests);
    expect(wordsOf(sent)).not.toContain(SECRET);
    expect(sent.raw).not.toContain('"type":"image"');
    for (const pin of ['secret/key.txt', 'env.txt', 'open/key.txt', 'secret/*']) {
      await made.run(['-p', 'And now?', '--pin', pin]);
      expect(server.requests.every((request) => !wordsOf(request).includes(SECRET))).toBe(true);
    }
    expect(readFileSync(join(made.cwd, 'secret/key.txt'), 'utf8')).toBe(`${SECRET}\n`);
  });
});

it('a command that reads what only its run can tell is asked about where something must not be read', async () => {
  const calls = ['f=.env; cat "$f"', 'cat $(echo .env)', 'cat .e*', 'cat .{env,x}', 'xargs cat < list', 'sed -n p .en\\v'].map((command) => call('Bash', { command }));
  const { denied, told } = await attempt((server) => product({ '.env': `KEY=${SECRET}\n`, list: '.env\n', '.pinion/settings.json': JSON.stringify({ permissions: { deny: ['Read(.env)'] } }) }, server), calls);
  expect(denied).toHaveLength(calls.length);
  expect(told).not.toContain(SECRET);
});

describe('the permission dialog', () => {
  function onScreen({ cwd, env }: Product, ...args: readonly string[]): VirtualTerminal {
    const terminal = openVirtualTerminal({ command: process.execPath, args: [PINION, ...args], cwd, columns: 90, rows: 30, env });
    onTestFinished(() => terminal.close());
    return terminal;
  }

  it.each([
    ['folder', (cwd: string, outside: string) => { renameSync(join(cwd, 'docs'), join(cwd, 'docs.old')); symlinkSync(outside, join(cwd, 'docs')); }],
    ['file', (cwd: string, outside: string) => { symlinkSync(join(outside, 'new.md'), join(cwd, 'docs/new.md')); }],
  ])('answered after the %s was exchanged for a link lets nothing be written there', async (_, exchange) => {
    const outside = tempFolder();
    const server = await serve([{ content: [call('Write', { file_path: 'docs/new.md', content: 'hello\n' })] }, say('All done.')]);
    const place = product({ 'docs/old.md': 'old\n' }, server);
    const terminal = onScreen(place, 'Write it');
    await terminal.waitFor('Write docs/new.md');
    await terminal.waitFor('Esc: no');
    exchange(place.cwd, outside);
    terminal.type('1');
    await terminal.waitFor('All done.');
    expect(readdirSync(outside)).toEqual([]);
    expect(wordsOf(last(server.requests))).toMatch(/leads elsewhere|replaced/);
  });

  it('shows all of what will run: no unseen character, no padding that pushes the end away', async () => {
    const command = `echo harmless ${' '.repeat(3000)}\u200b\u202e; touch planted${'\n'.repeat(200)}touch other # \u{e0041}\u001b[2K\u001b[1A`;
    const server = await serve([{ content: [call('Bash', { command, description: 'says hello\u001b[8m' })] }, say('All done.')]);
    const place = product({}, server);
    const terminal = onScreen(place, 'Run it');
    await terminal.waitFor('Esc: no');
    const shown = terminal.screen().join('\n');
    for (const part of ['touch planted', 'touch other', 'U+202E', 'U+200B', 'U+E0041', 'spaces>', 'empty lines>']) expect(shown).toContain(part);
    expect(terminal.raw()).not.toMatch(/\u001b\[8m|\u202e|\u200b/);
    terminal.type('\x1b');
    await terminal.waitFor((screen) => !screen.some((line) => line.includes('Esc')));
    expect(existsSync(join(place.cwd, 'planted'))).toBe(false);
  });
});

it('a bypass that was asked for once is not in effect when the session is gone on with', async () => {
  const server = await serve((request) => (wordsOf(request).includes('touched') || wordsOf(request).includes('must be asked') ? say('Done.') : { content: [call('Bash', { command: 'touch made.txt; echo touched' })] }));
  const { run, cwd } = product({}, server);
  await run(['-p', 'First', '--permission-mode', 'bypassPermissions']);
  expect(existsSync(join(cwd, 'made.txt'))).toBe(true);
  const again = await serve([{ content: [call('Bash', { command: 'touch more.txt' })] }, say('Done.')]);
  const { stdout } = await run(['-c', '-p', 'Second', '--output-format', 'json'], { env: { ANTHROPIC_BASE_URL: again.url } });
  expect(resultIn(stdout).permission_denials).toHaveLength(1);
  expect(existsSync(join(cwd, 'more.txt'))).toBe(false);
});

it('the program keeps its own folders to the user', async () => {
  const server = await serve([say('Done.')]);
  const { run, home } = product({}, server);
  await run(['-p', 'Hello']);
  const modes = readdirSync(home, { recursive: true, withFileTypes: true }).map((entry) => [entry.name, statSync(join(entry.parentPath, entry.name)).mode & 0o077]);
  expect(modes.filter(([, open]) => open !== 0)).toEqual([]);
  expect(statSync(home).mode & 0o777).toBe(0o700);
});
