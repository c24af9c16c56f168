import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { headOf, undeliveredOf } from '#domain/folds.ts';
import type { EntryBody } from '#domain/entry.ts';
import { checkRequest, flatten } from '../support/checker.ts';
import { answer, assistant, call, head, picture, prompt, reminder, thinking, toolResult } from '../support/logs.ts';
import { asks, deliverQueue, fails, lastResults, message, never, rig, says, type Scripted, toolText } from './ports.ts';

const read = { effect: 'reads' as const, run: () => 'contents' };

describe('a turn', () => {
  it('keeps head, prompt, reminders and answer, in that order', async () => {
    const at = rig({ replies: [says('Hello.')], collect: (moment) => ({ reminders: [reminder(moment, 'It is Monday.') as Extract<EntryBody, { type: 'reminder' }>], faults: [{ where: 'memory', message: 'gone' }] }) });
    expect(await at.turn('Hi')).toEqual({ kind: 'answered' });
    expect(at.types()).toEqual(['head', 'prompt', 'reminder', 'assistant']);
    expect(at.events.map(({ type }) => type)).toEqual(['entry', 'entry', 'fault', 'entry', 'textDelta', 'entry']);
    expect(flatten(at.requests[0] ?? { messages: [] })).toEqual([
      '["user",{"type":"text","text":"<system-reminder>\\nIt is Monday.\\n</system-reminder>"}]', '["user",{"type":"text","text":"Hi"}]',
    ]);
  });

  it('writes a new head only when it differs', async () => {
    let model = 'm';
    const at = rig({ replies: [says('a'), says('b'), says('c')], head: () => ({ type: 'head', system: [], tools: [], model }) });
    await at.turn('1');
    await at.turn('2');
    model = 'n';
    await at.turn('3');
    expect(at.types().filter((type) => type === 'head')).toHaveLength(2);
    expect(headOf(at.session.log)?.model).toBe('n');
    expect(at.requests[2]?.model).toBe('n');
  });

  it('runs calls, tells their results, and asks again until no call is left', async () => {
    const at = rig({ replies: [asks(call('a'), call('b', 'Write')), says('done')], tools: { Read: read, Write: { effect: 'writes', run: () => 'written' } } });
    expect(await at.turn('do')).toEqual({ kind: 'answered' });
    expect(at.types()).toEqual(['head', 'prompt', 'assistant', 'toolResult', 'toolResult', 'assistant']);
    expect(at.moments).toEqual(['prompt', 'step']);
    expect(at.events.filter(({ type }) => type === 'toolStarted')).toHaveLength(2);
    const [first, second] = at.requests.map(flatten);
    expect(second?.slice(0, first?.length)).toEqual(first);
  });

  it('stops at the most steps, with all results kept', async () => {
    const at = rig({ replies: [asks(call('a')), asks(call('b')), says('x')], tools: { Read: { effect: 'reads', run: ({ id }) => id } } });
    expect(await at.turn('go', { maxSteps: 2 })).toEqual({ kind: 'outOfSteps', steps: 2 });
    expect(lastResults(at.session)).toEqual([{ kind: 'ok', text: 'a' }, { kind: 'ok', text: 'b' }]);
    expect(at.session.log.at(-1)).toMatchObject({ type: 'notice', level: 'warning' });
    expect(await at.turn('go on')).toEqual({ kind: 'answered' });
  });

  it('keeps the prompt when everything fails', async () => {
    const at = rig({ replies: [fails('auth'), says('now')] });
    expect(await at.turn('please')).toEqual({ kind: 'failed', why: 'auth', message: 'it failed: auth' });
    expect(at.types()).toEqual(['head', 'prompt', 'notice']);
    await at.turn('again');
    const [first, second] = at.requests.map(flatten);
    expect(second?.slice(0, first?.length)).toEqual(first);
  });

  it('survives a client that throws and sources that throw', async () => {
    const at = rig({ replies: [], collect: () => { throw new Error('no source'); } });
    expect(await at.turn('hi')).toMatchObject({ kind: 'failed', why: 'server' });
    expect(at.events).toContainEqual({ type: 'fault', where: 'reminders', message: 'no source' });
  });

  it('does nothing when there is nothing to say', async () => {
    const at = rig({}, [head('m'), prompt('a'), answer('b')]);
    expect(await at.turn(undefined)).toEqual({ kind: 'answered' });
    expect(at.requests).toHaveLength(0);
    expect(await rig().turn(undefined)).toEqual({ kind: 'answered' });
  });
});

describe('calls', () => {
  it('runs reads side by side and others in order, and keeps results in the order of the calls', async () => {
    const log: string[] = [];
    const slow = (name: string, ms: number): (() => Promise<string>) => async () => { log.push(`${name}<`); await sleep(ms); log.push(`>${name}`); return name; };
    const at = rig({
      replies: [asks(call('1', 'R1'), call('2', 'R2'), call('3', 'W1'), call('4', 'W2')), says('ok')],
      tools: { R1: { effect: 'reads', run: slow('R1', 30) }, R2: { effect: 'reads', run: slow('R2', 1) }, W1: { effect: 'writes', run: slow('W1', 5) }, W2: { effect: 'executes', run: slow('W2', 1) } },
    });
    await at.turn('go');
    expect(log).toEqual(['R1<', 'R2<', '>R2', '>R1', 'W1<', '>W1', 'W2<', '>W2']);
    expect(lastResults(at.session).map(({ text }) => text)).toEqual(['R1', 'R2', 'W1', 'W2']);
  });

  it('answers an unknown tool, a throwing tool and a refusal, and goes on', async () => {
    const at = rig({
      replies: [asks(call('1', 'Nope'), call('2', 'Bad'), call('3', 'Read')), says('ok')],
      tools: { Bad: { run: () => { throw new Error('disk on fire'); } }, Read: read },
      verdict: ({ tool }) => (tool === 'Read' ? { kind: 'refuse', by: 'user', reason: 'read b instead' } : { kind: 'allow' }),
    });
    expect(await at.turn('go')).toEqual({ kind: 'answered' });
    expect(lastResults(at.session)).toEqual([
      { kind: 'failed', text: 'There is no tool named "Nope". The tools are: Bad, Read.' },
      { kind: 'failed', text: 'The tool failed: disk on fire' },
      { kind: 'refused', text: 'The user refused this call and said: read b instead' },
    ]);
    expect(at.session.log.findLast((entry) => entry.type === 'toolResult')).toMatchObject({ result: { card: { detail: 'refused: read b instead' } } });
  });

  it('runs nothing when the permission check itself fails', async () => {
    const at = rig({ replies: [asks(call('1')), says('ok')], tools: { Read: { run: () => { throw new Error('was run'); } } }, verdict: () => { throw new Error('no grammar'); } });
    await at.turn('go');
    expect(lastResults(at.session)).toEqual([{ kind: 'failed', text: 'Not run: the permission check failed (no grammar).' }]);
  });

  it('keeps the entries of a verdict and of a tool', async () => {
    const mode: EntryBody = { type: 'mode', mode: 'acceptEdits' };
    const at = rig({
      replies: [asks(call('1', 'Cd')), says('ok')],
      tools: { Cd: { run: async function* () { yield 'moving'; return { ...toolText('moved'), entries: [{ type: 'cwd', path: '/b' }] }; } } },
      verdict: () => ({ kind: 'allow', entries: [mode] }),
    });
    await at.turn('go');
    expect(at.types()).toEqual(['head', 'prompt', 'assistant', 'mode', 'toolResult', 'cwd', 'assistant']);
    expect(at.events).toContainEqual({ type: 'toolProgress', callId: '1', text: 'moving' });
  });

  it('ends the turn when the user says no without a word; what was allowed before it has run', async () => {
    const at = rig({
      replies: [asks(call('1'), call('2', 'Read', { path: 'x' }), call('3', 'Write'))],
      tools: { Read: read, Write: { effect: 'writes', run: () => 'written' } },
      verdict: ({ id }) => (id === '2' ? { kind: 'refuse', by: 'user', reason: '', endTurn: true } : { kind: 'allow' }),
    });
    expect(await at.turn('go')).toEqual({ kind: 'stopped', message: 'You refused Read. Say what to do instead.' });
    expect(lastResults(at.session).map(({ kind }) => kind)).toEqual(['ok', 'refused', 'refused']);
    expect(at.requests).toHaveLength(1);
  });

  it('answers two calls with one id', async () => {
    const at = rig({ replies: [asks(call('same', 'Read', { n: 1 }), call('same', 'Read', { n: 2 })), says('ok')], tools: { Read: { effect: 'reads', run: ({ input }) => JSON.stringify(input) } } });
    await at.turn('go');
    expect(lastResults(at.session).map(({ text }) => text)).toEqual(['{"n":1}', '{"n":2}']);
  });

  it('asks when the same call gives the same result three times, and goes on if told to', async () => {
    const again = asks(call('x'));
    const asked: string[] = [];
    const at = rig({ replies: [again, again, again, again, again, says('at last')], tools: { Read: read }, goOn: (what) => { asked.push(what); return true; } });
    expect(await at.turn('go')).toEqual({ kind: 'answered' });
    expect(asked).toEqual(['Read was called 3 times in a row with the same input and the same result. Go on?']);
    const stops = rig({ replies: [again, again, again], tools: { Read: read } });
    expect(await stops.turn('go')).toMatchObject({ kind: 'stopped' });
    expect(stops.requests).toHaveLength(3);
  });

  it('asks when one failure comes five times in a row, and never for different calls that succeed', async () => {
    const asked: string[] = [];
    const reads = Array.from({ length: 8 }, (_, n) => asks(call(`c${n}`, 'Read', { n })));
    const at = rig({ replies: [...reads, says('ok')], tools: { Read: { effect: 'reads', run: () => { throw new Error('no such file'); } } }, goOn: (what) => { asked.push(what); return true; } });
    await at.turn('go');
    expect(asked).toEqual(['Read failed 5 times in a row in the same way. Go on?']);
    const calm = rig({ replies: [...reads, says('ok')], tools: { Read: read }, goOn: () => { throw new Error('asked'); } });
    expect(await calm.turn('go')).toEqual({ kind: 'answered' });
  });
});

describe('ends of a reply', () => {
  it('runs no call of a reply that was cut, and gives up at the third', async () => {
    const cut = message([call('a'), call('b')], 'max_tokens');
    const at = rig({ replies: [cut, cut, cut], tools: { Read: { run: () => { throw new Error('was run'); } } } });
    expect(await at.turn('go')).toMatchObject({ kind: 'stopped' });
    expect(at.requests).toHaveLength(3);
    expect(new Set(lastResults(at.session).map(({ text }) => text))).toEqual(new Set(['Not run: the reply was cut at the output limit before it was finished. Send the call again in smaller parts.']));
    expect(lastResults(at.session)).toHaveLength(6);
  });

  it('says that an answer was cut', async () => {
    const at = rig({ replies: [says('half an ans', 'max_tokens')] });
    expect(await at.turn('go')).toEqual({ kind: 'answered' });
    expect(at.session.log.at(-1)).toMatchObject({ type: 'notice', text: 'The answer was cut at the output limit. Say "go on" to continue.' });
  });

  it('sends a paused reply again as it is, ten times at most', async () => {
    const pause = message([{ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }], 'pause_turn');
    const done = message([{ type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }, { type: 'text', text: 'found' }]);
    const at = rig({ replies: [pause, done] });
    expect(await at.turn('search')).toEqual({ kind: 'answered' });
    expect(at.moments).toEqual(['prompt']);
    expect(at.requests[1]?.messages.at(-1)?.role).toBe('assistant');
    const endless = rig({ replies: Array.from({ length: 11 }, (_, n) => message([{ type: 'server_tool_use', id: `s${n}`, name: 'web_search', input: {} }], 'pause_turn')) });
    expect(await endless.turn('search')).toMatchObject({ kind: 'stopped' });
    expect(endless.requests).toHaveLength(11);
  });

  it('takes a refused prompt out of the conversation and says so', async () => {
    const at = rig({ replies: [says('hello'), message([{ type: 'text', text: 'I can' }], 'refusal', 'cyber'), says('fine')] });
    await at.turn('hi');
    expect(await at.turn('do evil')).toEqual({ kind: 'stopped', message: 'The model refused to answer (cyber). What led to it was taken out of the conversation. Put it differently, or take another model with /model.' });
    await at.turn('do good');
    const last = flatten(at.requests[2] ?? { messages: [] }).join('\n');
    expect(last).not.toContain('evil');
    expect(last).not.toContain('I can');
    expect(last).toContain('do good');
  });

  it('takes back only the results that led to a refusal', async () => {
    const at = rig({ replies: [asks(call('a')), message([], 'refusal'), says('fine')], tools: { Read: { effect: 'reads', run: () => 'a scraped page' } } });
    await at.turn('look');
    await at.turn('go on');
    const last = flatten(at.requests[2] ?? { messages: [] }).join('\n');
    expect(last).toContain('look');
    expect(last).not.toContain('scraped');
  });

  it('ends on a reason that it does not know, an empty answer, and a call-less tool_use', async () => {
    const odd = rig({ replies: [message([{ type: 'text', text: 'x' }, call('a')], 'something_new')], tools: { Read: read } });
    expect(await odd.turn('go')).toEqual({ kind: 'stopped', message: 'The reply ended for a reason that is not known here (something_new).' });
    expect(lastResults(odd.session)).toEqual([{ kind: 'failed', text: 'Not run: the reply did not end properly.' }]);
    const empty = rig({ replies: [message([{ type: 'text', text: ' \n' }]), says('yes')] });
    expect(await empty.turn('go')).toEqual({ kind: 'answered' });
    expect(empty.session.log.at(-1)).toMatchObject({ type: 'notice' });
    await empty.turn('go on');
    const none = rig({ replies: [says('no call', 'tool_use')] });
    expect(await none.turn('go')).toEqual({ kind: 'answered' });
  });

  it('runs a whole call although the reply ended with end_turn', async () => {
    const at = rig({ replies: [message([call('a')], 'end_turn'), says('ok')], tools: { Read: read } });
    await at.turn('go');
    expect(lastResults(at.session)).toEqual([{ kind: 'ok', text: 'contents' }]);
  });

  it('compacts when the window was full, and offers to go on', async () => {
    const at = rig({ replies: [says('a long ans', 'model_context_window_exceeded'), says('Summary.'), says('more')] });
    expect(await at.turn('go')).toMatchObject({ kind: 'stopped', message: expect.stringContaining('was compacted') as string });
    expect(at.types()).toContain('compaction');
    await at.turn('go on');
  });
});

describe('queued words', () => {
  it('are delivered with the next step, as the user\'s own words behind the results', async () => {
    const at = rig({ replies: [asks(call('a')), says('ok')], tools: { Read: { effect: 'reads', run: () => { at.session.append({ type: 'queued', text: 'and hurry' }); return 'x'; } } }, collect: deliverQueue });
    await at.turn('go');
    expect(flatten(at.requests[1] ?? { messages: [] }).at(-1)).toBe('["user",{"type":"text","text":"and hurry"}]');
    expect(undeliveredOf(at.session.log)).toEqual([]);
  });

  it('keep the turn going when they came during the last answer', async () => {
    const late: Scripted = async function* () { yield { type: 'text', text: 'a' }; at.session.append({ type: 'queued', text: 'one more thing' }); return says('a'); };
    const at = rig({ replies: [late, says('b')], collect: deliverQueue });
    expect(await at.turn('go')).toEqual({ kind: 'answered' });
    expect(at.requests).toHaveLength(2);
    expect(undeliveredOf(at.session.log)).toEqual([]);
  });

  it('wait for the next turn when no source delivers them', async () => {
    const at = rig({ replies: [says('a')] }, [{ type: 'queued', text: 'later' }]);
    expect(await at.turn('go')).toEqual({ kind: 'answered' });
    expect(undeliveredOf(at.session.log)).toHaveLength(1);
  });

  it('begin a turn of their own', async () => {
    const at = rig({ replies: [says('b')], collect: deliverQueue }, [head('m'), prompt('x'), answer('y'), { type: 'queued', text: 'later' }]);
    expect(await at.turn(undefined)).toEqual({ kind: 'answered' });
    expect(flatten(at.requests[0] ?? { messages: [] }).at(-1)).toContain('later');
  });
});

describe('repairs', () => {
  it('leaves thinking out once when its signature no longer fits', async () => {
    const past = [head('m'), prompt('x'), assistant([thinking('hm'), { type: 'text', text: 'y' }])];
    const at = rig({ replies: [fails('signature'), says('ok')] }, past);
    expect(await at.turn('go')).toEqual({ kind: 'answered' });
    expect(at.types()).toContain('strip');
    expect(JSON.stringify(at.requests[0])).toContain('sig:hm');
    expect(JSON.stringify(at.requests[1])).not.toContain('sig:hm');
    const again = rig({ replies: [fails('signature'), fails('signature')] }, past);
    expect(await again.turn('go')).toMatchObject({ kind: 'failed', why: 'signature' });
    expect(again.requests).toHaveLength(2);
    const none = rig({ replies: [fails('signature')] });
    expect(await none.turn('go')).toMatchObject({ kind: 'failed' });
  });

  it('leaves out the picture that the API names, wherever it came from', async () => {
    const at = rig({ replies: [fails('image', { message: 2, block: 0 }), says('ok')] });
    const seen = picture(at.ports.world.blobs, 'shot.png');
    for (const body of [head('m'), prompt('x'), assistant([call('a')], 'tool_use'), toolResult('a', [{ type: 'text', text: 'a picture' }, seen])]) at.session.append(body);
    expect(await at.turn('go')).toEqual({ kind: 'answered' });
    expect(JSON.stringify(at.requests[1])).toContain('[shot.png: left out of the conversation]');
    expect(JSON.stringify(at.requests[1])).toContain('a picture');
    const unknown = rig({ replies: [fails('image')] });
    expect(await unknown.turn('go')).toMatchObject({ kind: 'failed', why: 'image' });
  });

  it('compacts once and sends again when the prompt was too long', async () => {
    const at = rig({ replies: [fails('tooLong'), says('Summary.'), says('ok')] }, [head('m'), prompt('old'), answer('older')]);
    expect(await at.turn('go')).toEqual({ kind: 'answered' });
    expect(at.session.log.find(({ type }) => type === 'compaction')).toMatchObject({ trigger: 'salvage', summary: 'Summary.' });
    expect(flatten(at.requests[2] ?? { messages: [] }).at(-1)).toBe('["user",{"type":"text","text":"go"}]');
    const still = rig({ replies: [fails('tooLong'), says('Summary.'), fails('tooLong')] }, [head('m'), prompt('old'), answer('older')]);
    expect(await still.turn('go')).toMatchObject({ kind: 'failed', why: 'tooLong' });
    const first = rig({ replies: [fails('tooLong')] });
    expect(await first.turn('huge')).toMatchObject({ kind: 'failed', message: expect.stringContaining('nothing to summarise') as string });
  });
});

describe('an interrupt', () => {
  const within = async (at: ReturnType<typeof rig>, when: (abort: () => void) => void): Promise<void> => {
    const controller = new AbortController();
    let aborted = 0;
    when(() => { aborted = performance.now(); controller.abort(); });
    expect(await at.turn('go', { signal: controller.signal })).toEqual({ kind: 'interrupted' });
    expect(aborted).toBeGreaterThan(0);
    expect(performance.now() - aborted).toBeLessThan(5000);
  };
  const ask = async (at: ReturnType<typeof rig>): Promise<string> => {
    expect(await at.turn('next')).toEqual({ kind: 'answered' });
    const request = at.requests.at(-1) ?? { messages: [] };
    expect(checkRequest(request)).toEqual([]);
    return flatten(request).join('\n');
  };
  const soon = (abort: () => void): void => { setTimeout(abort, 10); };

  it('keeps what was streamed, even from a client that takes no notice', async () => {
    const deaf: Scripted = async function* () { yield { type: 'text', text: 'Half an ' }; yield { type: 'text', text: 'answer' }; return await never(); };
    const at = rig({ replies: [deaf, says('ok')] });
    await within(at, soon);
    expect(at.session.log.at(-1)).toMatchObject({ type: 'assistant', stop: 'interrupted', content: [{ type: 'text', text: 'Half an answer' }] });
    const next = await ask(at);
    expect(next).toContain('Half an answer');
    expect(next).toContain('The user interrupted your reply');
  });

  it('takes the client\'s own account when it comes in time, less thinking and calls', async () => {
    const polite: Scripted = async function* (_request, signal) {
      yield { type: 'text', text: 'Ha' };
      await new Promise((resolve) => { signal.addEventListener('abort', resolve); });
      return { kind: 'interrupted', content: [thinking('t'), { type: 'text', text: 'Half' }, call('a')], usage: { input: 7, output: 1, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 }, model: 'm' };
    };
    const at = rig({ replies: [polite, says('ok')] });
    await within(at, soon);
    expect(at.session.log.at(-1)).toMatchObject({ stop: 'interrupted', content: [{ type: 'text', text: 'Half' }], usage: { input: 7 } });
    await ask(at);
  });

  it('forgets text that was discarded before it', async () => {
    const at = rig({ replies: [async function* () { yield { type: 'text', text: 'void' }; yield { type: 'discarded' }; return await never(); }, says('ok')] });
    await within(at, soon);
    expect(await ask(at)).not.toContain('void');
  });

  it('works while a client waits to send again, and while text keeps coming', async () => {
    const waits = rig({ replies: [async function* () { yield { type: 'waiting', attempt: 1, reason: 'overloaded', ms: 60_000 }; return await never(); }, says('ok')] });
    await within(waits, soon);
    await ask(waits);
    const chatty = rig({ replies: [async function* () { for (;;) { await sleep(1); yield { type: 'text', text: 'x' }; } }, says('ok')] });
    await within(chatty, soon);
    await ask(chatty);
  });

  it('works in tools that take no notice, and answers every call', async () => {
    const at = rig({ replies: [asks(call('1'), call('2'), call('3', 'Write')), says('ok')], tools: { Read: { effect: 'reads', run: ({ id }) => (id === '1' ? 'quick' : never()) }, Write: { effect: 'writes', run: () => 'no' } } });
    await within(at, soon);
    expect(lastResults(at.session).map(({ kind }) => kind)).toEqual(['ok', 'interrupted', 'interrupted']);
    expect(await ask(at)).toContain('The user interrupted the call');
  });

  it('keeps the outcome of a tool that winds up in time', async () => {
    const at = rig({ replies: [asks(call('1', 'Bash')), says('ok')], tools: { Bash: { run: async function* (_call, signal) {
      yield 'begun';
      await new Promise((resolve) => { signal.addEventListener('abort', resolve); });
      return { result: { kind: 'interrupted', content: [{ type: 'text', text: 'half the output' }], card: { title: 'Bash', body: [] } } };
    } } } });
    await within(at, soon);
    expect(await ask(at)).toContain('half the output');
  });

  it('works at the gate', async () => {
    const at = rig({ replies: [asks(call('1'), call('2')), says('ok')], tools: { Read: read }, verdict: never });
    await within(at, soon);
    expect(lastResults(at.session).map(({ kind }) => kind)).toEqual(['interrupted', 'interrupted']);
    await ask(at);
  });

  it('works while sources speak, while the request is weighed, and when asked to go on', async () => {
    let deaf = true;
    const collects = rig({ replies: [says('ok')], collect: () => (deaf ? never() : { reminders: [], faults: [] }) });
    await within(collects, soon);
    deaf = false;
    await ask(collects);
    let weighs = true;
    const fits = rig({ replies: [says('ok')], fit: () => (weighs ? never() : { tokens: 1, limit: 2, fits: true }) });
    await within(fits, soon);
    weighs = false;
    await ask(fits);
    const again = asks(call('x'));
    const circles = rig({ replies: [again, again, again, says('ok')], tools: { Read: read }, goOn: never });
    await within(circles, (abort) => { setTimeout(abort, 30); });
    await ask(circles);
  });

  it('works in a compaction, which leaves the log as it was', async () => {
    const at = rig({ replies: [async function* () { yield { type: 'text', text: 'Sum' }; return await never(); }, says('Summary.'), says('ok')], fit: ({ messages }) => ({ tokens: messages.length > 2 ? 900 : 10, limit: 500, fits: messages.length <= 2 }) }, [head('m'), prompt('a'), answer('b')]);
    await within(at, soon);
    expect(at.types()).toEqual(['head', 'prompt', 'assistant', 'prompt']);
    await ask(at);
  });

  it('works before anything happened', async () => {
    const at = rig({ replies: [says('ok')] });
    await within(at, (abort) => { abort(); });
    expect(at.types()).toEqual(['head', 'prompt']);
    expect(await ask(at)).toContain('go');
  });
});

describe('a budget', () => {
  const fit = (more: object) => ({ tokens: 10, limit: 1000, fits: true, ...more });
  it('pauses the turn before the request, loses nothing, and the turn goes on when it is raised', async () => {
    let broke = false;
    const at = rig({ replies: [asks(call('a')), says('done')], tools: { Read: read }, fit: () => fit(broke ? { unaffordable: 'Budget: $5 of $5 is spent.' } : {}), collect: () => { broke = at.session.log.some(({ type }) => type === 'toolResult') && !at.session.log.some(({ type }) => type === 'option'); return { reminders: [], faults: [] }; } });
    expect(await at.turn('work')).toEqual({ kind: 'outOfBudget', message: 'Budget: $5 of $5 is spent.' });
    expect(at.types()).toEqual(['head', 'prompt', 'assistant', 'toolResult', 'notice']);
    expect(at.requests).toHaveLength(1);
    at.session.append({ type: 'option', name: 'budgetUsd', value: 9 });
    expect(await at.turn('go on')).toEqual({ kind: 'answered' });
    const [first, second] = at.requests.map(flatten);
    expect(second?.slice(0, first?.length)).toEqual(first);
  });
  it('does not compact first when there is no money for that either', async () => {
    const at = rig({ replies: [says('a'), says('b')], fit: () => (at.requests.length === 0 ? fit({}) : fit({ fits: false, unaffordable: 'broke' })) });
    await at.turn('1');
    expect(await at.turn('2')).toEqual({ kind: 'outOfBudget', message: 'broke' });
    expect(at.requests).toHaveLength(1);
  });
  it('says what is to be known once in a session', async () => {
    const at = rig({ replies: [says('a'), says('b')], fit: () => fit({ notices: ['It comes to 80 %.'] }) });
    await at.turn('1');
    await at.turn('2');
    expect(at.session.log.filter(({ type }) => type === 'notice')).toMatchObject([{ text: 'It comes to 80 %.', level: 'warning' }]);
  });
});
