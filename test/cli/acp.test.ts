import { expect, it } from 'vitest';
import { parseAcp } from '#cli/acp.ts';
import { Answered, UsageError } from '#cli/arguments.ts';

it('takes the flags that hold for every session', () => {
  const { args, login } = parseAcp(['--model', 'opus', '--permission-mode', 'plan', '--allowed-tools', 'Edit Bash(ls)', '--max-turns', '3', '--mcp-config', 'a.json']);
  expect(login).toBe(false);
  expect(args).toMatchObject({ model: 'opus', permissionMode: 'plan', allowedTools: ['Edit', 'Bash(ls)'], maxTurns: 3, mcpConfig: ['a.json'], print: false, trust: false });
  expect(parseAcp(['--login']).login).toBe(true);
});

it('help names the settings of an editor; what is no flag of it is refused in one line', () => {
  expect(() => parseAcp(['--help'])).toThrow(Answered);
  expect(() => parseAcp(['--help'])).toThrow(/"agent_servers": \{\n\s+"Pinion": \{ "type": "custom", "command": "pinion", "args": \["acp"\] \}\n\s+\}/);
  for (const columns of [80, 40]) {
    let help = '';
    try { parseAcp(['--help'], columns); } catch (error) { help = (error as Error).message; }
    expect(help.split('\n').filter((line) => line.length > columns && !line.includes('"Pinion"'))).toEqual([]);
  }
  for (const argv of [['-p'], ['--trust'], ['--nonsense'], ['words'], ['--permission-mode', 'none'], ['--max-turns', 'x']]) {
    expect(() => parseAcp(argv), argv.join(' ')).toThrow(UsageError);
    expect(() => parseAcp(argv), argv.join(' ')).toThrow(/^[^\n]+See pinion (?:acp )?--help\.$/);
  }
});
