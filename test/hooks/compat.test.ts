import { existsSync, readFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { household, type Household } from '../support/household.ts';
import { call, say } from '../support/messages-server/reply.ts';
import { expectValid, last, serve, wordsOf } from '../support/product.ts';
import { contexts, notices, ofUser, results, script } from './people.ts';

/** Enough of jq for `jq -r '.a.b // empty'`, so that tests need none. */
const JQ = `#!/usr/bin/env node
let text = '';
process.stdin.on('data', (chunk) => { text += chunk; }).on('end', () => {
  const query = process.argv.filter((word) => word.startsWith('.')).at(-1);
  const [path, otherwise] = query.split('//').map((part) => part.trim());
  const value = path.split('.').filter(Boolean).reduce((at, key) => at?.[key], JSON.parse(text));
  if (value === undefined || value === null) { if (otherwise !== 'empty') console.log('null'); } else console.log(typeof value === 'string' ? value : JSON.stringify(value));
});
`;
const withJq = (home: Household): Readonly<Record<string, string>> => ({ PATH: `${join(script(home, 'bin/jq', JQ), '..')}:${process.env['PATH'] ?? ''}` });
const write = (path: string, content = 'x') => call('Write', { file_path: path, content });
const run = (command: string, more: object = {}) => ({ hooks: [{ type: 'command', command, ...more }] });
const python = spawnSync('python3', ['--version']).status === 0;

it('pipelines with jq over the fields of a call, with matchers as people write them', async () => {
  const server = await serve([{ content: [call('Bash', { command: 'echo hi', description: 'Says hi' }), write('a.ts', 'let a\n'), write('.env', 'KEY=1')] }, say('Done.')]);
  const home = household({}, server);
  ofUser(home, {
    PreToolUse: [
      { matcher: 'Bash', ...run('jq -r \'.tool_input.command\' >> "$CLAUDE_PROJECT_DIR"/commands.txt') },
      { matcher: 'Edit|MultiEdit|Write', ...run('file=$(jq -r \'.tool_input.file_path // empty\'); case "$file" in *.env) echo "Blocked: $file is protected" >&2; exit 2;; esac') },
    ],
    PostToolUse: [{ matcher: 'Edit|MultiEdit|Write', ...run('jq -r \'.tool_input.file_path\' | { read -r file; case "$file" in *.ts) printf \'// formatted\\n\' >> "$file";; esac; }', { timeout: 10 }) }],
  }, { env: withJq(home) });
  const dweller = await home.open();
  await dweller.turn('Go');
  expect(results(dweller.log).map(({ result }) => result.kind)).toEqual(['ok', 'ok', 'refused']);
  expect(readFileSync(join(home.cwd, 'commands.txt'), 'utf8')).toBe('echo hi\n');
  expect(readFileSync(join(home.cwd, 'a.ts'), 'utf8')).toBe('let a\n// formatted\n');
  expect(existsSync(join(home.cwd, '.env'))).toBe(false);
  expect(wordsOf(last(server.requests))).toContain('is protected');
  expect(notices(dweller.log)).toEqual([]);
  expectValid(server);
});

it.skipIf(!python)('scripts in Python of the project: a validator that stops with exit code 2, one that adds context, one that says yes', async () => {
  const server = await serve([{ content: [call('Bash', { command: 'grep -r x .' }), call('Read', { file_path: 'README.md' })] }, say('Done.')]);
  const home = household({
    'README.md': '# Title\n',
    '.claude/hooks/validate.py': `#!/usr/bin/env python3
import json
import re
import sys

RULES = [(r"^grep\\b(?!.*\\|)", "Use rg instead of grep")]
try:
    data = json.load(sys.stdin)
except json.JSONDecodeError as error:
    print(f"Error: {error}", file=sys.stderr)
    sys.exit(1)
if data.get("tool_name", "") != "Bash":
    sys.exit(0)
problems = [words for pattern, words in RULES if re.search(pattern, data["tool_input"].get("command", ""))]
for words in problems:
    print(f"* {words}", file=sys.stderr)
sys.exit(2 if problems else 0)
`,
    '.claude/hooks/context.py': 'import json, sys, os\nprompt = json.load(sys.stdin)["prompt"]\nprint(f"Project: {os.path.basename(os.environ[\'CLAUDE_PROJECT_DIR\'])}; asked: {prompt}")\n',
    '.claude/hooks/docs.py': 'import json, sys\ndata = json.load(sys.stdin)\nif data["tool_input"].get("file_path", "").endswith((".md", ".txt")):\n    print(json.dumps({"decision": "approve", "reason": "Documentation", "suppressOutput": True}))\n',
    '.claude/settings.json': JSON.stringify({ hooks: {
      PreToolUse: [{ matcher: 'Bash', ...run('python3 "$CLAUDE_PROJECT_DIR"/.claude/hooks/validate.py') }, { matcher: 'Read', ...run('python3 $CLAUDE_PROJECT_DIR/.claude/hooks/docs.py') }],
      UserPromptSubmit: [run('python3 "${CLAUDE_PROJECT_DIR}/.claude/hooks/context.py"')],
    } }),
  }, server);
  const dweller = await home.open();
  dweller.house.start();
  await dweller.turn('Look around');
  expect(results(dweller.log)).toMatchObject([{ result: { kind: 'refused', content: [{ text: expect.stringContaining('Use rg instead of grep') as string }] } }, { result: { kind: 'ok' } }]);
  expect(contexts(dweller.log)).toMatchObject([{ text: `Project: ${home.cwd.split('/').at(-1) ?? ''}; asked: Look around` }]);
  expect(notices(dweller.log)).toEqual([]);
  expectValid(server);
});

it('matchers: lists, wildcards over servers, everything; and shapes that people leave half-filled', async () => {
  const server = await serve([{ content: [write('a'), call('Read', { file_path: 'a' })] }, say('Done.')]);
  const home = household({}, server);
  const mark = (name: string) => run(`echo ${name} >> ran`);
  ofUser(home, {
    PreToolUse: [
      { matcher: 'mcp__memory__.*', ...mark('memory') }, { matcher: 'mcp__.*__write.*', ...mark('writes') }, { matcher: 'Write|Edit', ...mark('list') }, { matcher: '^(Write|Edit)$', ...mark('regex') },
      { matcher: '*', ...mark('star') }, { matcher: '', ...mark('empty') }, { ...mark('none') }, { matcher: 'write', ...mark('case') }, { matcher: 'Notebook.*|Wri.*', ...mark('part') }, { matcher: 'Write', hooks: [] },
    ],
    Stop: [{ matcher: '', ...run('echo stop >> ran') }],
  });
  const dweller = await home.open();
  await dweller.turn('Go');
  const ran = readFileSync(join(home.cwd, 'ran'), 'utf8').trim().split('\n');
  const counts = Object.fromEntries([...new Set(ran)].toSorted().map((name) => [name, ran.filter((one) => one === name).length]));
  expect(counts).toEqual({ empty: 2, list: 1, none: 2, part: 1, regex: 1, star: 2, stop: 1 });
  expect(notices(dweller.log)).toEqual([]);
});

it('a session that logs, a reminder at its end, a stop hook that minds `stop_hook_active`, a notifier', async () => {
  const server = await serve([say('One.'), say('Two.')]);
  const home = household({}, server);
  const keeper = script(home, 'keep-going.sh', '#!/bin/bash\nset -euo pipefail\nINPUT=$(cat)\nif [ "$(echo "$INPUT" | jq -r \'.stop_hook_active\')" = "true" ]; then exit 0; fi\necho \'{"decision": "block", "reason": "Run the tests before you stop"}\'\n');
  ofUser(home, {
    SessionStart: [{ matcher: 'startup', ...run('echo "Recent work: none"; echo "$(jq -r .source) $(basename "$PWD")" >> sessions.log') }],
    Stop: [run(keeper)], Notification: [run('command -v notify-send >/dev/null && notify-send "Claude Code" "Awaiting your input" || true')], SubagentStop: [run('true')],
    PreCompact: [{ matcher: 'manual|auto', ...run('echo compacting') }],
  }, { env: withJq(home) });
  const dweller = await home.open();
  dweller.house.start();
  expect(await dweller.turn('Go')).toEqual({ kind: 'answered' });
  expect(server.requests).toHaveLength(2);
  expect(wordsOf(last(server.requests))).toContain('Run the tests before you stop');
  expect(wordsOf(last(server.requests))).toContain('Recent work: none');
  expect(readFileSync(join(home.cwd, 'sessions.log'), 'utf8')).toBe(`startup ${home.cwd.split('/').at(-1) ?? ''}\n`);
  expectValid(server);
});
