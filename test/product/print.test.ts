import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { call, say } from '../support/messages-server/reply.ts';
import { type Finished, only, product, resultIn, serve } from '../support/product.ts';

const PACKAGE = { 'package.json': '{\n  "name": "lighthouse",\n  "version": "1.2.3"\n}\n' };
const JSON_OUT = ['--output-format', 'json'];
const NUMBERED = '1. line 1\n2. line 2\n';

/** One line of complaint, and nothing that could be taken for an answer. */
function expectRefused({ code, stdout, stderr }: Finished, exit: number, why: RegExp): void {
  expect([code, stdout]).toEqual([exit, '']);
  expect(stderr).toMatch(/^pinion: [^\n]+\n$/);
  expect(stderr).toMatch(why);
}

describe('without a key', () => {
  it('answers from a file that it read, in one JSON object', async () => {
    const { run, entries, home } = product(PACKAGE);
    const { code, stdout, stderr } = await run(['-p', 'Read package.json and tell me its name', ...JSON_OUT]);
    expect([code, stderr]).toEqual([0, '']);
    expect(resultIn(stdout)).toMatchObject({ subtype: 'success', is_error: false, num_turns: 2, model: 'pinion-demo', total_cost_usd: 0, permission_denials: [] });
    expect(resultIn(stdout).result).toContain('lighthouse');
    expect(only(entries().filter((entry) => entry.type === 'toolResult'))).toMatchObject({ tool: 'Read', result: { kind: 'ok' } });
    expect(statSync(join(home, 'sessions')).mode & 0o077).toBe(0);
  });

  it('prints the answer and nothing else as text, and takes the prompt from a pipe', async () => {
    const { run } = product();
    expect(await run(['-p', 'Count to 2'])).toEqual({ code: 0, stdout: NUMBERED, stderr: '' });
    expect(await run(['-p'], { input: 'Count to 2\n' })).toEqual({ code: 0, stdout: NUMBERED, stderr: '' });
  });

  it('does not wait for a pipe that somebody holds open', async () => {
    const { run } = product();
    expect(await run(['-p', 'Count to 2'], { open: true })).toEqual({ code: 0, stdout: NUMBERED, stderr: '' });
  });

  it('is an error with a model that needs a key, and where the demo model is switched off', async () => {
    const { run, logs } = product();
    expectRefused(await run(['-p', 'hello', '--model', 'claude-opus-5-5']), 1, /claude-opus-5-5 needs a key.*ANTHROPIC_API_KEY.*\/login/);
    expectRefused(await run(['-p', 'hello'], { env: { PINION_NO_DEMO: '1' } }), 1, /PINION_NO_DEMO.*ANTHROPIC_API_KEY/);
    expect(logs()).toEqual([]);
  });
});

it('the result lists what sub-agents were refused too', async () => {
  const isSub = ({ body }: { readonly body: unknown }): boolean => JSON.stringify(body).includes('You are a sub-agent');
  let [lead, sub] = [0, 0];
  const server = await serve((request) => {
    if (isSub(request)) return (sub += 1) === 1 ? { content: [call('Bash', { command: 'touch no', description: 'x' }, 'toolu_sub')] } : say('I may not.');
    return (lead += 1) === 1 ? { content: [call('Task', { subagent_type: 'general', description: 'do', prompt: 'Do.' })] } : say('It may not.');
  });
  const { stdout } = await product({}, server).run(['-p', 'Go', ...JSON_OUT]);
  expect(resultIn(stdout).permission_denials).toEqual([{ tool_name: 'Bash', tool_use_id: 'toolu_sub', tool_input: { command: 'touch no', description: 'x' } }]);
});

describe('the command line', () => {
  it.each([
    ['an unknown flag', ['-p', 'x', '--nope'], /unknown option '--nope'\. See pinion --help/],
    ['no step at all', ['-p', 'x', '--max-turns', '0'], /--max-turns/],
    ['an unknown format', ['-p', 'x', '--output-format', 'xml'], /text, json/],
    ['an unknown mode', ['-p', 'x', '--permission-mode', 'yolo'], /acceptEdits/],
    ['two prompts', ['-p', 'a', 'b'], /in quotes/],
    ['two sessions', ['-p', 'x', '-c', '-r', 'id'], /one of them/],
    ['no session to go on with', ['-p', '-c', 'x'], /no session of this directory/],
    ['a session that is not there', ['-p', 'x', '-r', 'nosuch'], /no session nosuch/],
    ['a folder that is not there', ['-p', 'x', '--add-dir', 'missing'], /--add-dir missing/],
    ['a pin that is not there', ['-p', 'x', '--pin', 'missing'], /--pin.*missing/],
    ['no prompt', ['-p'], /needs a prompt/],
    ['no terminal', ['hello'], /no terminal.*-p/],
    ['a format without -p', [...JSON_OUT, 'hello'], /goes with -p/],
  ])('that has %s is refused with one line and code 2', async (_, args, why) => {
    const { run, logs } = product();
    expectRefused(await run(args), 2, why);
    expect(logs()).toEqual([]);
  });

  it('is refused with too much piped in, not with a prompt that is merely long', async () => {
    const { run } = product();
    expectRefused(await run(['-p', 'x'], { input: 'x'.repeat(10 * 1024 * 1024 + 1) }), 2, /10 MiB.*@/);
    expect(await run(['-p', 'Count to 2'], { input: 'words '.repeat(20_000) })).toMatchObject({ code: 0, stderr: '' });
  });

  it('is answered with help and version without a session', async () => {
    const { run, logs } = product();
    expect((await run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    const help = await run(['--help']);
    expect([help.code, help.stderr]).toEqual([0, '']);
    for (const flag of ['--print', '--continue', '--resume', '--model', '--output-format', '--max-turns', '--pin', '--permission-mode', '--allowed-tools', '--disallowed-tools', '--append-system-prompt', '--add-dir', '--trust']) expect(help.stdout).toContain(flag);
    expect(logs()).toEqual([]);
  });
});

describe('slash commands', () => {
  it('show what they show, as a result without a turn', async () => {
    const { run } = product({ 'src/a.ts': 'export const a = 1;\n' });
    const context = resultIn((await run(['-p', '/context', ...JSON_OUT])).stdout);
    expect(context).toMatchObject({ subtype: 'success', is_error: false, num_turns: 0 });
    expect(context.result).toMatch(/System prompt +pinion/);
    expect(context.result).toMatch(/\d tools/);
    expect((await run(['-p', '/cost'])).stdout).toMatch(/^Cost: \$0/);
    const help = await run(['-p', '/help']);
    for (const words of ['/pin ', '/todo ', '/compact ', 'Shift-Tab', 'next permission mode']) expect(help.stdout).toContain(words);
  });

  it('go on with each other: what was pinned and noted in a run of its own is there in the next', async () => {
    const { run, logs } = product({ 'src/a.ts': 'export const a = 1;\n' });
    expect(await run(['-p', '/pin src/a.ts'])).toEqual({ code: 0, stdout: 'Pinned src/a.ts\n', stderr: '' });
    expect((await run(['-c', '-p', '/todo add water the plants'])).stdout).toContain('☐ 1 water the plants (yours)');
    expect((await run(['-c', '-p', '/pin'])).stdout).toMatch(/file:src\/a\.ts +~\d+/);
    expect((await run(['-c', '-p', 'What do you see?'])).stdout).toContain('src/a.ts');
    expect((await run(['-c', '-p', '/todo'])).stdout).toContain('water the plants');
    expect(logs()).toHaveLength(1);
    expect((await run(['-p', '/budget 5'])).stdout).toContain('of $5.00');
    expect((await run(['-c', '-p', '/cost'])).stdout).toContain('of $5.00');
  });

  it('that do not exist name the nearest, and fail as bad input', async () => {
    const { run } = product();
    expectRefused(await run(['-p', '/modle']), 2, /no command \/modle\. Did you mean \/model\?/);
    expectRefused(await run(['-p', '/']), 2, /\/help lists/);
    const { code, stdout } = await run(['-p', '/todo ad x', ...JSON_OUT]);
    expect(code).toBe(2);
    expect(resultIn(stdout)).toMatchObject({ subtype: 'error_during_execution', is_error: true, num_turns: 0, result: expect.stringContaining('/todo add') as string });
  });

  it('that a pipe cannot do say what to do instead, and those that come to nothing are errors', async () => {
    const { run } = product();
    expectRefused(await run(['-p', '/login']), 2, /ANTHROPIC_API_KEY/);
    expectRefused(await run(['-p', '/clear']), 2, /without -c is a new session/);
    expectRefused(await run(['-p', '/compact']), 1, /nothing to compact/);
    const { code, stdout } = await run(['-p', '/compact', ...JSON_OUT]);
    expect(code).toBe(1);
    expect(resultIn(stdout)).toMatchObject({ subtype: 'error_during_execution', is_error: true, num_turns: 0, result: expect.stringContaining('nothing to compact') as string });
  });

  it('are told from prompts that begin with a path', async () => {
    const { run } = product();
    const { stdout } = await run(['-p', '/etc/hosts is odd', ...JSON_OUT]);
    expect(resultIn(stdout)).toMatchObject({ subtype: 'success', num_turns: 1 });
  });
});

describe('tools', () => {
  it('that would have to be asked about are refused and listed, and the run goes on', async () => {
    const { run, cwd } = product();
    const { code, stdout, stderr } = await run(['-p', 'Run `touch made.txt`', ...JSON_OUT]);
    expect([code, stderr]).toEqual([0, '']);
    const result = resultIn(stdout);
    expect(result).toMatchObject({ subtype: 'success', is_error: false, num_turns: 2 });
    expect(only(result.permission_denials)).toMatchObject({ tool_name: 'Bash', tool_input: { command: 'touch made.txt' } });
    expect(existsSync(join(cwd, 'made.txt'))).toBe(false);
  });

  it('that are allowed run, those that are not stay refused', async () => {
    const { run, cwd } = product();
    const allowed = ['--allowed-tools', 'Bash(touch made.txt),Write(notes.txt)'];
    expect(resultIn((await run(['-p', 'Run `touch made.txt`', ...allowed, ...JSON_OUT])).stdout).permission_denials).toEqual([]);
    expect(existsSync(join(cwd, 'made.txt'))).toBe(true);
    expect((await run(['-p', 'Create notes.txt with "alpha"', ...allowed])).code).toBe(0);
    expect(readFileSync(join(cwd, 'notes.txt'), 'utf8')).toBe('alpha\n');
    expect(resultIn((await run(['-p', 'Run `touch other.txt`', ...allowed, ...JSON_OUT])).stdout).permission_denials).toHaveLength(1);
  });

  it('that are forbidden do not run in any mode, and are not offered', async () => {
    const { run, cwd, entries } = product();
    const { stdout } = await run(['-p', 'Run `touch made.txt`', '--disallowed-tools', 'Bash', '--permission-mode', 'bypassPermissions', ...JSON_OUT]);
    expect(resultIn(stdout)).toMatchObject({ is_error: false });
    expect(existsSync(join(cwd, 'made.txt'))).toBe(false);
    const head = only(entries().filter((entry) => entry.type === 'head'));
    const offered = head.tools.map(({ name }) => name);
    expect(offered).toEqual(expect.arrayContaining(['Edit', 'Glob', 'Grep', 'Read', 'TodoWrite', 'Write']));
    expect(offered).not.toContain('Bash');
  });

  it('that change files run without asking where edits are accepted, and not while planning', async () => {
    const { run, cwd } = product({ 'notes.txt': 'alpha\n' });
    const ask = ['-p', 'Replace "alpha" by "beta" in notes.txt', ...JSON_OUT];
    expect(resultIn((await run([...ask, '--permission-mode', 'plan'])).stdout).permission_denials.map(({ tool_name: name }) => name)).toContain('Edit');
    expect(readFileSync(join(cwd, 'notes.txt'), 'utf8')).toBe('alpha\n');
    expect(resultIn((await run([...ask, '--permission-mode', 'acceptEdits'])).stdout).permission_denials).toEqual([]);
    expect(readFileSync(join(cwd, 'notes.txt'), 'utf8')).toBe('beta\n');
  });

  it('reach a folder that was added, and no other', async () => {
    const outside = product({ 'there.txt': 'far away\n' }).cwd;
    const { run } = product();
    const ask = ['-p', `Read ${join(outside, 'there.txt')}`, ...JSON_OUT];
    expect(resultIn((await run(ask)).stdout).permission_denials).toHaveLength(1);
    const { permission_denials: denials, result } = resultIn((await run([...ask, '--add-dir', outside])).stdout);
    expect(denials).toEqual([]);
    expect(result).toContain('far away');
  });

  it('stop at the most steps that are allowed', async () => {
    const { run } = product(PACKAGE);
    const { code, stdout } = await run(['-p', 'Read package.json and tell me its name', '--max-turns', '1', ...JSON_OUT]);
    expect(code).toBe(1);
    expect(resultIn(stdout)).toMatchObject({ subtype: 'error_max_turns', is_error: true, num_turns: 1, result: expect.stringContaining('1 model request,') as string });
    // What was cut short is whole enough to go on with.
    expect(resultIn((await run(['-c', '-p', 'What did I ask before?', ...JSON_OUT])).stdout)).toMatchObject({ is_error: false });
  });
});

describe('what is wrong around a run', () => {
  it('in a settings file costs that file, is said in one line, and leaves the output pure', async () => {
    const { run, home } = product();
    mkdirSync(home);
    writeFileSync(join(home, 'settings.json'), '{ "model": ');
    const { code, stdout, stderr } = await run(['-p', 'Count to 2', ...JSON_OUT]);
    expect(code).toBe(0);
    expect(resultIn(stdout).result).toBe(NUMBERED.trim());
    expect(stderr).toMatch(/^pinion: [^\n]*settings\.json: [^\n]+left out\.\n$/);
  });

  it('in one setting or rule costs that one', async () => {
    const { run, home } = product();
    mkdirSync(home);
    writeFileSync(join(home, 'settings.json'), JSON.stringify({ theme: 'pink', permissions: { allow: ['Bash(', 'Bash(touch made.txt)'] } }));
    const { stdout, stderr } = await run(['-p', 'Run `touch made.txt`', ...JSON_OUT]);
    expect(resultIn(stdout).permission_denials).toEqual([]);
    expect(stderr.trim().split('\n')).toEqual([expect.stringMatching(/"theme" must be one of/) as string, expect.stringMatching(/allow rule "Bash\(" cannot be used/) as string]);
  });

  it('with the home costs the session, which is said, and not the run', async () => {
    const { run, cwd, home, logs } = product(PACKAGE);
    const ask = ['-p', 'Read package.json and tell me its name', ...JSON_OUT];
    const unsaved = async (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<void> => {
      const { code, stdout, stderr } = await run(args, { env, asNobody: true });
      expect(stderr).toMatch(/^pinion: this session could not be saved: [^\n]+\n$/);
      expect(code).toBe(0);
      expect(resultIn(stdout).result).toContain('lighthouse');
    };
    await run(ask);
    for (const folder of [cwd, dirname(home)]) chmodSync(folder, 0o755);
    for (const name of ['', ...readdirSync(home, { recursive: true, encoding: 'utf8' })]) chmodSync(join(home, name), 0o555);
    const before = readFileSync(only(logs()), 'utf8');
    await unsaved(ask);
    await unsaved(['-c', ...ask]);
    await unsaved(ask, { PINION_HOME: join(cwd, 'package.json', 'home') });
    expect(readFileSync(only(logs()), 'utf8')).toBe(before);
  });

  it('with the output is one line where there is still a place for one; a reader that has read enough is no failure', async () => {
    const { shell } = product();
    expect(await shell('pinion -p "Count to 2" > /dev/full')).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(/^pinion: standard output takes nothing \([^\n]+\)\.\n$/) as string });
    expect(await shell('pinion -p "Count to 2" | true; echo "${PIPESTATUS[0]}"; pinion -p "Count to 40" | head -n 1')).toEqual({ code: 0, stdout: '0\n1. line 1\n', stderr: '' });
    expect((await shell('pinion -p --nope 2> /dev/full')).code).toBe(2);
  });

  it('with the place is one line', async () => {
    const { shell } = product();
    expectRefused(await shell('mkdir gone; cd gone; rmdir ../gone; pinion -p hello'), 1, /current directory is not there any more/);
  });
});
