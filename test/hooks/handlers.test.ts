import { createServer, type IncomingMessage } from 'node:http';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { costOf } from '#accounting/cost.ts';
import type { Answer, Question } from '#domain/ports.ts';
import type { Arguments } from '#cli/arguments.ts';
import { hostileCommand, type Hostile, tool } from '../mcp/fixtures.ts';
import { type Dweller, household, type Household } from '../support/household.ts';
import { call, say } from '../support/messages-server/reply.ts';
import { obj } from '../support/messages-server/shape.ts';
import { expectValid, last, serve, until, wordsOf } from '../support/product.ts';
import { answering, command, contexts, heardIn, notices, ofUser, RECORDER, results, script } from './people.ts';

const bash = (line: string) => ({ content: [call('Bash', { command: line })] });
const one = (handler: object) => ({ hooks: [handler] });
const specific = (fields: object): string => JSON.stringify({ hookSpecificOutput: fields });

interface Heard {
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, unknown>>;
}

/** A service that hears events; `answer` gives status and body. */
async function service(answer: (body: Readonly<Record<string, unknown>>) => readonly [number, string, Readonly<Record<string, string>>?]) {
  const heard: Heard[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (words: string) => { text += words; }).on('end', () => {
      const body = obj(JSON.parse(text));
      heard.push({ headers: request.headers, body });
      const [status, said, headers] = answer(body);
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(said);
    });
  });
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  onTestFinished(() => { server.closeAllConnections(); server.close(); });
  return { heard, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` };
}

describe('a hook that is a service', () => {
  it('is told by POST and answers as a command does; only variables that it may name are sent along', async () => {
    const { heard, url } = await service(({ hook_event_name: event }) => [200, event === 'PreToolUse' ? specific({ hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: 'not on Fridays' }) : specific({ hookEventName: 'UserPromptSubmit', additionalContext: 'it is Friday' })]);
    const server = await serve([bash('echo hi'), say('Done.')]);
    const home = household({}, server, { TOKEN: 'abc', OTHER: 'kept' });
    const handler = { type: 'http', url, headers: { Authorization: 'Bearer $TOKEN', 'X-Other': '${OTHER}' }, allowedEnvVars: ['TOKEN'] };
    ofUser(home, { PreToolUse: [{ matcher: 'Bash', ...one(handler) }], UserPromptSubmit: [one(handler)] });
    const dweller = await home.open();
    await dweller.turn('Go');
    expect(results(dweller.log)).toMatchObject([{ result: { kind: 'refused', content: [{ text: expect.stringContaining('not on Fridays') as string }] } }]);
    expect(wordsOf(last(server.requests))).toContain('it is Friday');
    expect(heard.map(({ body }) => body['hook_event_name'])).toEqual(['UserPromptSubmit', 'PreToolUse']);
    expect(heard[1]).toMatchObject({ headers: { authorization: 'Bearer abc', 'x-other': '', 'content-type': 'application/json' }, body: { tool_name: 'Bash', tool_input: { command: 'echo hi' } } });
    expectValid(server);
  });

  it('that fails, sends elsewhere, takes too long or stands in the local network costs one line and nothing else', async () => {
    const { heard, url } = await service(({ prompt }) => (prompt === 'redirect' ? [302, '', { location: 'http://127.0.0.1:1/' }] : [500, '{"decision":"block"}']));
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => { silent.listen(0, '127.0.0.1', resolve); });
    onTestFinished(() => { silent.closeAllConnections(); silent.close(); });
    const server = await serve([say('One.'), say('Two.')]);
    const home = household({}, server);
    ofUser(home, { UserPromptSubmit: [one({ type: 'http', url }), one({ type: 'http', url: `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`, timeout: 0.3 }), one({ type: 'http', url: 'http://10.1.2.3/' })] });
    const dweller = await home.open();
    await dweller.turn('Go');
    await dweller.turn('redirect');
    expect(notices(dweller.log).slice(0, 3)).toEqual([expect.stringContaining('status 500'), expect.stringContaining('time-out'), expect.stringContaining('10.1.2.3')]);
    expect(notices(dweller.log)[3]).toContain('status 302');
    expect([heard.length, server.requests.length]).toEqual([2, 2]);
  });

  it('is reached only where the settings name it, if they name any', async () => {
    const { heard, url } = await service(() => [200, '{}']);
    const server = await serve([say('One.')]);
    const home = household({}, server);
    ofUser(home, { UserPromptSubmit: [one({ type: 'http', url }), one({ type: 'http', url: `${url}/other?a` })] }, { allowedHttpHookUrls: ['http://127.0.0.1:*/hook'] });
    const dweller = await home.open();
    await dweller.turn('Go');
    expect(heard).toHaveLength(1);
    expect(notices(dweller.log)).toEqual([expect.stringContaining('"allowedHttpHookUrls"')]);
  });
});

/** Replies to the conversation in turn; a question of a hook's goes to `judge`. */
const judged = (replies: readonly object[], judge: (text: string) => string) => {
  const left = [...replies];
  return serve((request) => (request.body['model'] === 'claude-haiku-5-5' ? say(judge(wordsOf(request))) : left.shift() ?? say('Done.')) as never);
};

describe('a hook that asks a model', () => {
  it('refuses a call and ends the turn; where it says so, the turn goes on', async () => {
    const questions: string[] = [];
    const server = await judged([bash('make deploy'), say('Instead.')], (text) => {
      questions.push(text);
      return 'I think: {"ok": false, "reason": "deploys need a ticket"}';
    });
    const home = household({}, server);
    ofUser(home, { PreToolUse: [{ matcher: 'Bash', ...one({ type: 'prompt', prompt: 'Is this safe? $ARGUMENTS', continueOnBlock: true }) }] });
    const dweller = await home.open();
    expect(await dweller.turn('Go')).toEqual({ kind: 'answered' });
    expect(results(dweller.log)).toMatchObject([{ result: { kind: 'refused', content: [{ text: expect.stringContaining('deploys need a ticket') as string }] } }]);
    expect(questions[0]).toContain('Is this safe?');
    expect(questions[0]).toContain('make deploy');

    const again = await judged([bash('make deploy')], () => '{"ok": false, "reason": "no"}');
    const strict = household({}, again);
    ofUser(strict, { PreToolUse: [{ matcher: 'Bash', ...one({ type: 'prompt', prompt: 'Is this safe?' }) }] });
    expect(await (await strict.open()).turn('Go')).toMatchObject({ kind: 'stopped', message: expect.stringContaining('no') as string });
    expectValid(again);
  });

  it('that gives no answer of that form decides nothing', async () => {
    const server = await judged([bash('echo hi'), say('Done.')], () => 'It looks fine to me.');
    const home = household({}, server);
    ofUser(home, { PreToolUse: [one({ type: 'prompt', prompt: 'Is this safe?' })] });
    const dweller = await home.open();
    await dweller.turn('Go');
    expect(results(dweller.log)).toMatchObject([{ result: { kind: 'ok' } }]);
    expect(notices(dweller.log)).toEqual([expect.stringContaining('"ok"')]);
  });

  it('an agent looks around with tools before it answers, hooks hear nothing of it, and its cost is counted', async () => {
    const isSub = (body: Readonly<Record<string, unknown>>): boolean => JSON.stringify(body['system']).includes('You are a sub-agent');
    const counts = { lead: 0, sub: 0 };
    const server = await serve(({ body }) => {
      if (isSub(body)) return (counts.sub += 1) === 1 ? { content: [call('Read', { file_path: 'CHANGES.md' })] } : say(JSON.stringify(counts.sub === 2 ? { ok: false, reason: 'CHANGES.md is empty' } : { ok: true }));
      return say(`Try ${(counts.lead += 1)}.`);
    });
    const home = household({ 'CHANGES.md': '\n' }, server);
    ofUser(home, { Stop: [one({ type: 'agent', prompt: 'Is the change written down? $ARGUMENTS' })], PreToolUse: [command(script(home, 'record.sh', RECORDER))], SubagentStart: [command(script(home, 'record.sh', RECORDER))] });
    const dweller = await home.open();
    expect(await dweller.turn('Go')).toEqual({ kind: 'answered' });
    expect([counts, heardIn(home)]).toEqual([{ lead: 2, sub: 3 }, []]);
    expect(contexts(dweller.log)).toMatchObject([{ event: 'Stop', text: 'CHANGES.md is empty' }]);
    expect(costOf(dweller.log).perModel.reduce((sum, { requests }) => sum + requests, 0)).toBe(5);
    expectValid(server);
  });
});

/** A household with servers of the user's, connected. */
async function connected(home: Household, servers: Readonly<Record<string, Hostile>>, more: { readonly answer?: (question: Question) => Answer | undefined; readonly args?: Partial<Arguments> } = {}): Promise<Dweller> {
  const config = join(dirname(home.home), 'mcp.json');
  writeFileSync(config, JSON.stringify({ mcpServers: Object.fromEntries(Object.entries(servers).map(([name, options]) => [name, hostileCommand(options)])) }));
  const dweller = await home.open({ args: { mcpConfig: [config], ...more.args }, ...(more.answer !== undefined && { answer: more.answer }) });
  dweller.house.start();
  await dweller.house.mcp.settled(10_000);
  return dweller;
}

describe('a hook that is a tool of a server', () => {
  it('gets fields of the event in its input, and what it gives is heard as what a command prints', async () => {
    const server = await serve([{ content: [call('Write', { file_path: 'a.ts', content: 'x' })] }, say('Done.')]);
    const home = household({}, server);
    ofUser(home, {
      UserPromptSubmit: [one({ type: 'mcp_tool', server: 'memory', tool: 'echo', input: { message: 'about ${prompt}' } }), one({ type: 'mcp_tool', server: 'gone', tool: 'echo' }), one({ type: 'mcp_tool', server: 'memory', tool: 'never' })],
      PostToolUse: [{ matcher: 'Write', ...one({ type: 'mcp_tool', server: 'memory', tool: 'words', input: { file: '${tool_input.file_path}' } }) }], PreToolUse: [{ matcher: 'mcp__.*', ...command(script(home, 'record.sh', RECORDER)) }],
    });
    const dweller = await connected(home, { memory: { tools: [tool('echo'), tool('words')], words: specific({ hookEventName: 'PostToolUse', additionalContext: 'remembered' }) } });
    await dweller.turn('cats');
    expect(contexts(dweller.log)).toMatchObject([{ event: 'UserPromptSubmit', text: 'echo: about cats' }, { event: 'PostToolUse:Write', text: 'remembered' }]);
    expect(notices(dweller.log)).toEqual([expect.stringContaining('the server gone is not connected'), expect.stringContaining('has no tool never')]);
    expect(heardIn(home)).toEqual([]);
    expectValid(server);
  });
});

const ELICIT = 'mcp__s__elicit';
const FORM = { message: 'Who are you?', requestedSchema: { type: 'object', properties: { name: { type: 'string', title: 'Your name' }, age: { type: 'integer' } }, required: ['name'] } };

describe('a question of a server', () => {
  const asked = async (hooks: (home: Household) => object, params: object = FORM, answer: (question: Question) => Answer | undefined = () => ({ kind: 'chosen', answers: [['Ann'], ['leave it out']] })) => {
    const server = await serve([{ content: [call('ToolSearch', { query: `select:${ELICIT}` })] }, { content: [call(ELICIT, params)] }, say('Done.')]);
    const home = household({}, server);
    ofUser(home, hooks(home));
    const dweller = await connected(home, { s: { tools: [tool('elicit')] } }, { answer });
    await dweller.turn('Go');
    expectValid(server);
    const said = results(dweller.log).at(-1)?.result.content.map((part) => (part.type === 'text' ? part.text : '')).join('') ?? '';
    return { dweller, home, result: JSON.parse(/\{"action.*\}/.exec(said)?.[0] ?? 'null') as unknown, notified: () => heardIn(home).filter((one) => one['hook_event_name'] === 'Notification').map((one) => one['notification_type']) };
  };

  it('and its answer are told to hooks, as is that somebody is asked', async () => {
    const { home, dweller, result, notified } = await asked((at) => {
      const record = command(script(at, 'record.sh', RECORDER));
      return { Elicitation: [{ matcher: 's', ...record }], ElicitationResult: [record], Notification: [record] };
    });
    expect(result).toEqual({ action: 'accept', content: { name: 'Ann' } });
    await until(() => notified().length === 2);
    expect(heardIn(home).filter((one) => one['hook_event_name'] !== 'Notification')).toMatchObject([
      { hook_event_name: 'Elicitation', mcp_server_name: 's', message: 'Who are you?', mode: 'form', requested_schema: FORM.requestedSchema, session_id: dweller.conversation.session.id },
      { hook_event_name: 'ElicitationResult', mcp_server_name: 's', mode: 'form', action: 'accept', content: { name: 'Ann' } },
    ]);
    expect(notified()).toEqual(['elicitation_dialog', 'elicitation_response']);
  });

  it('is answered by a hook without anybody being asked, or declined by exit code 2', async () => {
    const { result, dweller } = await asked(() => ({ Elicitation: [command(answering({ hookSpecificOutput: { hookEventName: 'Elicitation', action: 'accept', content: { name: 'Bot', age: 3 } } }))] }));
    expect([result, dweller.asked]).toEqual([{ action: 'accept', content: { name: 'Bot', age: 3 } }, []]);
    const no = await asked(() => ({ Elicitation: [command('echo never >&2; exit 2')] }));
    expect([no.result, no.dweller.asked]).toEqual([{ action: 'decline' }, []]);
  });

  it('an answer of a hook that does not fit the form is left out, and the person is asked', async () => {
    for (const content of [{ age: 3 }, { name: 'x', age: 1.5 }]) {
      const { result, dweller } = await asked(() => ({ Elicitation: [command(answering({ hookSpecificOutput: { hookEventName: 'Elicitation', action: 'accept', content } }))] }));
      expect(result).toEqual({ action: 'accept', content: { name: 'Ann' } });
      expect(dweller.asked).toHaveLength(1);
    }
  });

  it('what was answered may be changed or kept back', async () => {
    const other = await asked(() => ({ ElicitationResult: [command(answering({ hookSpecificOutput: { hookEventName: 'ElicitationResult', action: 'accept', content: { name: 'A.' } } }))] }));
    expect(other.result).toEqual({ action: 'accept', content: { name: 'A.' } });
    const kept = await asked(() => ({ ElicitationResult: [command('exit 2')] }));
    expect(kept.result).toEqual({ action: 'decline' });
  });

  it('no hook agrees to an address that may not be opened', async () => {
    const yes = () => ({ Elicitation: [command(answering({ hookSpecificOutput: { hookEventName: 'Elicitation', action: 'accept' } }))] });
    const { result, dweller } = await asked(yes, { mode: 'url', message: 'x', elicitationId: 'e', url: 'javascript:alert(1)' });
    expect([result, dweller.asked]).toEqual([{ action: 'decline' }, []]);
    expect((await asked(yes, { mode: 'url', message: 'x', elicitationId: 'e', url: 'https://example.com/' })).result).toEqual({ action: 'accept' });
  });
});

it('a skill\'s command is what hooks made of it', async () => {
  const server = await serve([say('One.')]);
  const home = household({ '.claude/commands/status.md': 'State: !`touch first; echo plain`\n' }, server);
  ofUser(home, { PreToolUse: [{ matcher: 'Bash', ...command(answering({ hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: { command: 'echo rewritten' } } })) }] });
  const dweller = await home.open();
  await dweller.command('/status');
  const words = wordsOf(last(server.requests));
  expect(words).toContain('State: rewritten');
  expect(existsSync(join(home.cwd, 'first'))).toBe(false);
  expect(readFileSync(join(home.cwd, '.claude/commands/status.md'), 'utf8')).toContain('plain');
});
