import { expect, it } from 'vitest';
import type { Json } from '#lib/brand.ts';
import { handlerKey, readHooks, shortName, whatOf } from '#hooks/read.ts';

const read = (hooks: Json) => readHooks({ from: '.claude/settings.json', own: true, hooks });
const command = (more: Readonly<Record<string, Json>> = {}): Json => ({ type: 'command', command: 'true', ...more });

it('reads what people write', () => {
  const { hooks, problems } = read({
    PreToolUse: [{ matcher: 'Bash', hooks: [command({ timeout: 5, if: 'Bash(rm *)' }), { type: 'http', url: 'http://localhost:1/x', headers: { A: 'b' }, allowedEnvVars: ['T'] }] }],
    Stop: [{ hooks: [{ type: 'prompt', prompt: 'Is it done? $ARGUMENTS' }] }],
    PostToolUse: [{ hooks: [{ type: 'mcp_tool', server: 's', tool: 't', input: { a: '${tool_name}' } }, { type: 'agent', prompt: 'look' }] }],
  });
  expect(problems).toEqual([]);
  expect(hooks.map(({ event, matcher, handler }) => [event, matcher, handler.type])).toEqual([
    ['PreToolUse', 'Bash', 'command'], ['PreToolUse', 'Bash', 'http'], ['Stop', '', 'prompt'], ['PostToolUse', '', 'mcp_tool'], ['PostToolUse', '', 'agent'],
  ]);
});

it('one that is wrong costs itself only, and is said on one line', () => {
  const { hooks, problems } = read({
    PreToolUse: [{ matcher: '(', hooks: [command()] }, { hooks: [command(), { type: 'shell', command: 'x' }, command({ timeout: 'long' }), 7] }, 'text'],
    Setup: [{ hooks: [command()] }], Whatever: [], Stop: 'no list', SessionStart: [{ hooks: [{ type: 'http', url: 'http://x' }] }],
  });
  expect(hooks).toHaveLength(1);
  expect(problems).toEqual([
    expect.stringContaining('PreToolUse[0]: the matcher \\"(\\" is neither'),
    expect.stringContaining('PreToolUse[1].hooks[1]: its "type" must be'),
    expect.stringContaining('PreToolUse[1].hooks[2]: its "timeout" cannot be used'),
    expect.stringContaining('PreToolUse[1].hooks[3]'),
    expect.stringContaining('PreToolUse[2] must hold "hooks"'),
    '.claude/settings.json: hooks of "Setup" do not run: there is no --init; SessionStart runs at each start.',
    '.claude/settings.json: hooks of "Whatever" do not run: there is no such event.',
    expect.stringContaining('"Stop" must be a list'),
    expect.stringContaining('a hook of the type "http" cannot run at SessionStart'),
  ]);
  expect(problems.every((line) => !line.includes('\n'))).toBe(true);
});

it.each([null, 7, 'x', []] satisfies Json[])('hooks that are %j are one line', (hooks) => {
  expect(read(hooks)).toEqual({ hooks: [], problems: ['.claude/settings.json: hooks: it must be an object of events; it was left out.'] });
});

it('identical ones are one, whatever their keys are ordered like; changed ones are others', () => {
  const [a, b, c] = read({ Stop: [{ hooks: [command({ timeout: 5 }), { timeout: 9, command: 'true', type: 'command' }, command({ args: [] })] }] }).hooks;
  if (a === undefined || b === undefined || c === undefined) throw new Error('three hooks');
  expect(handlerKey(a.handler)).toBe(handlerKey(b.handler));
  expect(handlerKey(a.handler)).not.toBe(handlerKey(c.handler));
  expect(new Set([a.id, b.id, c.id]).size).toBe(3);
});

it('a hook has a short name, and is told whole', () => {
  const named = (text: string) => shortName({ type: 'command', command: text });
  expect(named('"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh --x')).toBe('guard.sh');
  expect(named('python3 ~/hooks/check.py')).toBe('check.py');
  expect(named('jq -r .tool_name >> log')).toBe('jq -r');
  expect(named('/tmp/x/record.sh; echo no >&2')).toBe('record.sh');
  expect(named('$(evil)')).toBe('evil');
  expect(whatOf({ type: 'command', command: 'node', args: ['a b.js', '-x'] })).toBe('node "a b.js" -x');
});
