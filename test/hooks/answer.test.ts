import { expect, it } from 'vitest';
import { answerOf, judgementOf } from '#hooks/answer.ts';
import { combine, permissionOf, reasonOf } from '#hooks/combine.ts';
import { type Hook, readHooks } from '#hooks/read.ts';
import { safeSequence } from '#hooks/terminal.ts';
import { keepLong } from '#hooks/long.ts';
import { readFileSync } from 'node:fs';
import { tempFolder } from '../support/temp.ts';

function hook(event: string, handler: Readonly<Record<string, string | boolean>> = { type: 'command', command: 'guard.sh' }): Hook {
  const [one] = readHooks({ from: 'f', own: true, hooks: { [event]: [{ hooks: [handler] }] } }).hooks;
  if (one === undefined) throw new Error(`no hook for ${event}`);
  return one;
}
const ran = (exitCode: number, stdout = '', stderr = '') => ({ kind: 'done' as const, exitCode, stdout, stderr });
const same = (text: string): string => text;
const answer = (event: string, ...run: Parameters<typeof ran>) => answerOf(hook(event), ran(...run), same);
const json = (event: string, value: unknown) => answer(event, 0, JSON.stringify(value));

it('exit code 0 without a word says nothing', () => {
  expect(answer('PreToolUse', 0)).toEqual({ hook: expect.anything(), more: {}, quiet: false });
  expect(answer('PostToolUse', 0, 'formatted\n', 'noise')).toMatchObject({ more: {} });
  expect(answer('PostToolUse', 0, 'formatted\n').context).toBeUndefined();
});

it.each(['UserPromptSubmit', 'SessionStart', 'UserPromptExpansion'])('what is printed at %s is told to the model', (event) => {
  expect(answer(event, 0, '  branch: main\n').context).toBe('branch: main');
});

it('exit code 2 stops where something can be stopped, and is heard by whom it can help elsewhere', () => {
  expect(answer('PreToolUse', 2, '{"continue":true}', 'no rm\n')).toMatchObject({ permission: 'deny', block: 'no rm' });
  for (const event of ['UserPromptSubmit', 'Stop', 'PostToolUse', 'PreCompact', 'PermissionRequest', 'TaskCreated', 'ConfigChange', 'Elicitation']) expect(answer(event, 2, '', 'no')).toMatchObject({ block: 'no' });
  for (const event of ['SessionStart', 'Notification', 'SubagentStart', 'FileChanged']) expect(answer(event, 2, '', 'odd')).toMatchObject({ failure: 'exit code 2: odd' });
  for (const event of ['StopFailure', 'InstructionsLoaded', 'PermissionDenied']) expect(answer(event, 2, '', 'odd')).toEqual({ hook: expect.anything(), more: {}, quiet: false });
});

it('other exit codes, time-outs and failures are one line for the user and nothing else', () => {
  expect(answer('PreToolUse', 1, '{"decision":"block"}', 'first\nsecond')).toMatchObject({ failure: 'failed with exit code 1: first' });
  expect(answer('PreToolUse', 1).permission).toBeUndefined();
  expect(answerOf(hook('Stop'), { kind: 'timedOut', stdout: '{"decision":"block"}', stderr: '' }, same)).toMatchObject({ failure: expect.stringContaining('time-out') });
  expect(answerOf(hook('Stop'), { kind: 'timedOut', stdout: '{"decision":"block"}', stderr: '' }, same).block).toBeUndefined();
  expect(answerOf(hook('Stop'), { kind: 'failed', stdout: '', stderr: '', problem: 'spawn x ENOENT' }, same)).toMatchObject({ failure: 'failed: spawn x ENOENT' });
  expect(answer('Stop', 0, '{"decision": "block"')).toMatchObject({ failure: expect.stringContaining('begins like JSON') });
});

it('JSON says it in fields of each event', () => {
  expect(json('PreToolUse', { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: 'no' } })).toMatchObject({ permission: 'deny', block: 'no' });
  expect(json('PreToolUse', { hookSpecificOutput: { permissionDecision: 'ask', updatedInput: { command: 'ls' }, additionalContext: 'know' } })).toMatchObject({ permission: 'ask', context: 'know', more: { updatedInput: { command: 'ls' } } });
  expect(json('PreToolUse', { decision: 'approve', reason: 'fine' })).toMatchObject({ permission: 'allow', reason: 'fine' });
  expect(json('PreToolUse', { decision: 'block', reason: 'no' })).toMatchObject({ permission: 'deny', block: 'no' });
  expect(json('Stop', { decision: 'block', reason: 'tests fail' })).toMatchObject({ block: 'tests fail' });
  expect(json('SessionStart', { decision: 'block', reason: 'x' }).block).toBeUndefined();
  expect(json('Stop', { continue: false, stopReason: 'enough', decision: 'block', reason: 'more' })).toMatchObject({ stop: 'enough' });
  expect(json('Stop', { systemMessage: 'careful', suppressOutput: true })).toMatchObject({ message: 'careful', quiet: true });
});

it('what has nothing to say injects nothing; fields of the wrong kind are left out', () => {
  for (const value of [{}, { continue: true }, { suppressOutput: true }, { hookSpecificOutput: { hookEventName: 'UserPromptSubmit' } }, { hookSpecificOutput: { additionalContext: '  ' } }, { systemMessage: 7, decision: true, hookSpecificOutput: [1] }]) {
    expect(combine('UserPromptSubmit', [json('UserPromptSubmit', value)]).entries).toEqual([]);
  }
  expect(json('PreToolUse', { hookSpecificOutput: { hookEventName: 'PostToolUse', permissionDecision: 'deny' } })).toMatchObject({ failure: expect.stringContaining('answered for PostToolUse') });
});

it('the strictest word counts: deny, defer, ask, allow', () => {
  const said = (permission: string) => json('PreToolUse', { hookSpecificOutput: { permissionDecision: permission } });
  const all = ['allow', 'ask', 'defer', 'deny'].map(said);
  for (const expected of ['deny', 'defer', 'ask', 'allow']) {
    expect(permissionOf(all)?.permission).toBe(expected);
    all.pop();
  }
  expect(permissionOf(all)).toBeUndefined();
});

it('a model that is asked says yes or no', () => {
  const ask = (event: string, more = {}) => hook(event, { type: 'prompt', prompt: 'ok?', ...more });
  expect(judgementOf(ask('Stop'), 'Sure: {"ok": true}', same)).toEqual({ hook: expect.anything(), more: {}, quiet: false });
  expect(judgementOf(ask('Stop'), '{"ok": false, "reason": "not yet"}', same)).toMatchObject({ block: 'not yet' });
  expect(judgementOf(ask('Stop'), '{"ok": false, "reason": "not yet"}', same).stop).toBeUndefined();
  expect(judgementOf(ask('PreToolUse'), '{"ok": false, "reason": "no"}', same)).toMatchObject({ permission: 'deny', stop: 'no' });
  expect(judgementOf(ask('PreToolUse', { continueOnBlock: true }), '{"ok": false, "reason": "no"}', same).stop).toBeUndefined();
  expect(judgementOf(ask('PermissionRequest'), '{"ok": false}', same).block).toBeUndefined();
  expect(judgementOf(ask('Stop'), 'I think so', same)).toMatchObject({ failure: expect.stringContaining('"ok"') });
});

it('reasons name who gave them; what is shown cannot move the cursor', () => {
  const said = combine('PreToolUse:Bash', [answer('PreToolUse', 2, '', 'one'), answer('PreToolUse', 2, '', 'two'), json('PreToolUse', { systemMessage: '\u001b[2Jboo' })]);
  expect(reasonOf(said)).toBe('PreToolUse:Bash hook (guard.sh): one\nPreToolUse:Bash hook (guard.sh): two');
  expect(JSON.stringify(said.entries)).not.toContain('\\u001b');
});

it.each([
  ['\u001b]0;title\u0007', true], ['\u0007', true], ['\u001b]777;notify;a;b\u001b\\\u0007', true], ['\u001b]9;4;1;50\u0007', true],
  ['\u001b]52;c;aGk=\u0007', false], ['\u001b]8;;http://x\u0007', false], ['\u001b[2J', false], ['\u001b]0;a\u001b[2J\u0007', false], ['text', false], ['\u001b]1337;x\u0007', false], ['', false],
])('the sequence %j may be sent: %s', (text, expected) => {
  expect(safeSequence(text) !== undefined).toBe(expected);
});

it('what is too long lies in a file', () => {
  const folder = tempFolder();
  const kept: string[] = [];
  const long = 'x'.repeat(10_001);
  expect(keepLong('short', folder, '1', (file) => { kept.push(file); })).toBe('short');
  const said = keepLong(long, folder, '1', (file) => { kept.push(file); });
  expect(said.length).toBeLessThan(2500);
  expect(said).toContain(`10001 characters in all, in ${kept[0] ?? ''}`);
  expect(readFileSync(kept[0] ?? '', 'utf8')).toBe(long);
});
