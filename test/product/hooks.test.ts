import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { call, say } from '../support/messages-server/reply.ts';
import { expectValid, last, product, serve, until, wordsOf } from '../support/product.ts';
import { command, GUARD, hooked } from '../hooks/people.ts';

/** The user's own hooks. */
function keep(home: string, hooks: object): void {
  const file = join(home, 'settings.json');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ hooks }));
}

it('print mode: what hooks say goes along, a guard refuses, a test run keeps the model at work, and the end of the session is told', async () => {
  const server = await serve([{ content: [call('Bash', { command: 'rm -rf build' })] }, say('Done?'), say('Done now.')]);
  const { run, cwd, home } = product({ 'guard.sh': GUARD, 'test.sh': 'if [ -e tested ]; then exit 0; fi\ntouch tested\necho "1 test fails" >&2\nexit 2\n' }, server);
  keep(home, {
    SessionStart: [command('cat >/dev/null; echo "The issue is number 4"')], PreToolUse: [{ matcher: 'Bash', ...command('bash guard.sh') }],
    Stop: [command('sh test.sh')], SessionEnd: [command('cat > "$CLAUDE_PROJECT_DIR/ended.json"')], Setup: [command('touch never')],
  });
  const { code, stdout, stderr } = await run(['-p', 'Clean up', '--allowed-tools', 'Bash']);
  expect([code, stdout]).toEqual([0, 'Done now.\n']);
  expect(stderr).toContain('hooks of "Setup" do not run');
  const words = wordsOf(last(server.requests));
  for (const said of ['The issue is number 4', 'rm -rf is not allowed here', '1 test fails']) expect(words).toContain(said);
  expect(JSON.parse(readFileSync(join(cwd, 'ended.json'), 'utf8'))).toMatchObject({ hook_event_name: 'SessionEnd', reason: 'other' });
  expectValid(server);
});

it('print mode: nothing of a folder runs that is not trusted, and a prompt that is kept back is an error', async () => {
  const server = await serve([say('Hello.')]);
  const files = { '.claude/settings.json': hooked({ SessionStart: [command('touch canary')], UserPromptSubmit: [command('touch canary; echo "not today" >&2; exit 2')] }) };
  const { run, cwd } = product(files, server);
  expect((await run(['-p', 'Hello'])).code).toBe(0);
  expect(existsSync(join(cwd, 'canary'))).toBe(false);
  const kept = await run(['--trust', '-p', 'Hello']);
  expect([kept.code, kept.stdout]).toEqual([1, '']);
  expect(kept.stderr).toContain('not today');
  expect(server.requests).toHaveLength(1);
});

it('the screen: the trust question names hooks, a prompt that is kept back stands in the composer again', async () => {
  const server = await serve([say('Hi there.')]);
  const { open, cwd } = product({ '.claude/settings.json': hooked({ UserPromptSubmit: [command('grep -q secret && { echo "no secrets" >&2; exit 2; }; touch asked; exit 0')] }) }, server);
  const terminal = open({ columns: 80, rows: 30 });
  const shows = (words: string): Promise<void> => until(() => terminal.lines().some((line) => line.includes(words)));
  await shows('at UserPromptSubmit runs');
  expect(existsSync(join(cwd, 'asked'))).toBe(false);
  terminal.type('y');
  await shows('/ for commands');
  terminal.enter('tell my secret');
  await shows('no secrets');
  await until(() => terminal.lines().some((line) => /^[>❯│ ]*.*tell my secret/.test(line)));
  expect(server.requests).toHaveLength(0);
  expect(existsSync(join(cwd, 'asked'))).toBe(false);
});

it('the screen: /hooks tells of hooks that were agreed to at the door', async () => {
  const server = await serve([say('Hi there.')]);
  const { open, cwd, home } = product({ '.claude/settings.json': hooked({ UserPromptSubmit: [command('touch asked')] }) }, server);
  const terminal = open({ columns: 80, rows: 30 });
  const shows = (words: string): Promise<void> => until(() => terminal.lines().some((line) => line.includes(words)));
  await shows('at UserPromptSubmit runs');
  terminal.type('y');
  await until(() => existsSync(join(home, 'trust.json')) && readFileSync(join(home, 'trust.json'), 'utf8').includes('"hooks"'));
  await shows('/ for commands');
  terminal.enter('hello');
  await shows('Hi there.');
  expect(existsSync(join(cwd, 'asked'))).toBe(true);
  terminal.enter('/hooks');
  await shows('runs; from .claude/settings.json');
});

it('a sequence of a hook reaches the terminal of the screen, and no pipe', async () => {
  const server = await serve([say('Hi there.'), say('Hi there.')]);
  const { open, run, home } = product({}, server);
  keep(home, { UserPromptSubmit: [command(`cat >/dev/null; printf '%s' '{"terminalSequence":"\\u001b]0;from a hook\\u0007"}'`)] });
  const printed = await run(['-p', 'hello']);
  expect([printed.code, printed.stdout, printed.stderr]).toEqual([0, 'Hi there.\n', '']);
  const terminal = open({ columns: 80, rows: 24 });
  const shows = (words: string): Promise<void> => until(() => terminal.lines().some((line) => line.includes(words)));
  await shows('/ for commands');
  terminal.enter('hello');
  await shows('Hi there.');
  expect(terminal.raw()).toContain('\u001b]0;from a hook\u0007');
});
