import { describe, expect, it } from 'vitest';
import type { Entry, EntryBody } from '#domain/entry.ts';
import type { Outcome, Reply } from '#domain/ports.ts';
import { compact, openPromptOf } from '#loop/compact.ts';
import { digestOf } from '#loop/digest.ts';
import { project } from '#loop/project.ts';
import { checkRequest, flatten } from '../support/checker.ts';
import { answer, assistant, call, calls, entry, head, picture, prompt, reminder, thinking, toolResult } from '../support/logs.ts';
import { fails, message, never, type Rig, rig, says } from './ports.ts';

const past: EntryBody[] = [head('m'), prompt('make a parser'), assistant([thinking('t'), call('a')], 'tool_use'), toolResult('a', 'the file'), answer('made')];

async function outcomeOf(at: Rig, options: { trigger?: 'manual' | 'auto' | 'salvage'; keep?: string; signal?: AbortSignal } = {}): Promise<Outcome> {
  const work = compact(at.session, at.ports, options.signal ?? new AbortController().signal, { trigger: options.trigger ?? 'manual', keep: options.keep ?? '' });
  let next = await work.next();
  for (; next.done !== true; next = await work.next()) at.events.push(next.value);
  for (const request of at.requests) expect(checkRequest(request)).toEqual([]);
  return next.value;
}

function compactions(log: readonly Entry[]): Entry[] {
  return log.filter(({ type }) => type === 'compaction');
}

describe('compact', () => {
  it('sends the last request, byte for byte, with one message more', async () => {
    const at = rig({ replies: [says('  A parser was made.  ')], fit: () => ({ tokens: 321, limit: 1000, fits: true }) }, past);
    const before = flatten(project(at.session.log, at.ports.world.blobs));
    expect(await outcomeOf(at, { keep: 'the grammar' })).toEqual({ kind: 'answered' });
    const sent = flatten(at.requests[0] ?? { messages: [] });
    expect(sent.slice(0, before.length)).toEqual(before);
    expect(sent).toHaveLength(before.length + 1);
    expect(sent.at(-1)).toContain('kept above all: the grammar');
    expect(compactions(at.session.log)).toEqual([expect.objectContaining({ summary: 'A parser was made.', trigger: 'manual', tokensBefore: 321, usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 } })]);
    expect(at.session.log.at(-1)).not.toHaveProperty('openPrompt');
  });

  it('shows no text of the summary as an answer', async () => {
    const at = rig({ replies: [says('Summary.')] }, past);
    await outcomeOf(at);
    expect(at.events.map(({ type }) => type)).toEqual(['doing', 'entry']);
  });

  it('has nothing to do at the beginning', async () => {
    const at = rig({}, [head('m'), prompt('one')]);
    expect(await outcomeOf(at)).toEqual({ kind: 'stopped', message: 'There is nothing to compact yet.' });
  });

  it('leaves the log as it was when it fails', async () => {
    const replies: Reply[] = [fails('network'), message([], 'end_turn'), message([{ type: 'text', text: 'I' }], 'refusal'), message([call('x')], 'tool_use')];
    for (const reply of replies) {
      const at = rig({ replies: [reply] }, past);
      expect(await outcomeOf(at)).toMatchObject({ kind: 'failed' });
      expect(at.session.log).toHaveLength(past.length);
    }
  });

  it('leaves out old results until the request fits, and thinking with them', async () => {
    const log = [...past, prompt('more'), calls('b'), toolResult('b', 'newest file'), answer('yes')];
    const at = rig({ replies: [says('S.')], window: 1000, fit: (request) => ({ tokens: JSON.stringify(request).includes('the file') ? 2000 : 10, limit: 500, fits: false }) }, log);
    expect(await outcomeOf(at)).toEqual({ kind: 'answered' });
    const sent = JSON.stringify(at.requests[0]);
    expect(sent).toContain('newest file');
    expect(sent).not.toContain('sig:t');
    expect(sent).toContain('left out to save room');
  });

  it('tries with less when the provider says it is too long, and in the end does without a model', async () => {
    const at = rig({ replies: [fails('tooLong'), fails('tooLong'), fails('tooLong'), fails('tooLong')] }, past);
    expect(await outcomeOf(at)).toEqual({ kind: 'answered' });
    expect(at.requests).toHaveLength(4);
    expect(compactions(at.session.log)).toEqual([expect.objectContaining({ summary: digestOf(past.map((body) => entry(body))), usage: expect.objectContaining({ input: 0 }) as unknown })]);
    const salvage = rig({ replies: [says('S.')] }, past);
    await outcomeOf(salvage, { trigger: 'salvage' });
    expect(JSON.stringify(salvage.requests[0])).not.toContain('the file');
  });

  it('cuts long texts at the last', async () => {
    const long = `begin ${'x'.repeat(5000)} end`;
    const at = rig({ replies: [says('S.')], window: 1000, fit: (request) => ({ tokens: JSON.stringify(request).length > 8000 ? 2000 : 10, limit: 500, fits: false }) }, [head('m'), prompt(long), answer(long), prompt('b'), answer('c')]);
    expect(await outcomeOf(at)).toEqual({ kind: 'answered' });
    expect(JSON.stringify(at.requests[0])).toContain('begin xxx');
    expect(JSON.stringify(at.requests[0])).toContain('xxx end');
  });

  it('leaves out thinking or pictures that the API refuses, once', async () => {
    const at = rig({ replies: [fails('signature'), fails('image'), says('S.')] }, past);
    at.session.append(prompt('see', [picture(at.ports.world.blobs)]));
    expect(await outcomeOf(at)).toEqual({ kind: 'answered' });
    expect(JSON.stringify(at.requests[1])).not.toContain('sig:t');
    expect(JSON.stringify(at.requests[1])).toContain('base64');
    expect(JSON.stringify(at.requests[2])).not.toContain('base64');
    expect(at.session.log.at(-1)).toHaveProperty('openPrompt', at.session.log.at(-2)?.id);
  });

  it('is interrupted at once, even if the model takes no notice', async () => {
    const controller = new AbortController();
    const at = rig({ replies: [async function* () { yield { type: 'text', text: 'Sum' }; return await never(); }] }, past);
    setTimeout(() => { controller.abort(); }, 10);
    expect(await outcomeOf(at, { signal: controller.signal })).toEqual({ kind: 'interrupted' });
    expect(at.session.log).toHaveLength(past.length);
  });
});

describe('the open prompt', () => {
  const open = (...bodies: EntryBody[]): unknown => {
    const log = bodies.map((body) => entry(body));
    const id = openPromptOf(log);
    const found = log.find((one) => one.id === id);
    return found !== undefined && 'text' in found ? found.text : undefined;
  };
  it('is the last one that no finished answer has followed', () => {
    expect(open(prompt('a'))).toBe('a');
    expect(open(prompt('a'), answer('b'))).toBeUndefined();
    expect(open(prompt('a'), calls('x'), toolResult('x', 'y'))).toBe('a');
    expect(open(prompt('a'), calls('x'), toolResult('x', '', 'interrupted'))).toBeUndefined();
    expect(open(prompt('a'), assistant([], 'interrupted'))).toBeUndefined();
    expect(open(prompt('a'), answer('b'), prompt('c'), reminder('prompt', 'r'))).toBe('c');
  });
  it('may be words from the queue, and is carried over a second compaction', () => {
    const queued = entry({ type: 'queued', text: 'q' });
    const delivered = entry(reminder('step', '', { userTexts: ['q'], source: 'queued_commands', snapshot: queued.id }));
    expect(openPromptOf([entry(prompt('a')), entry(answer('b')), queued, delivered])).toBe(queued.id);
    const first = entry({ type: 'compaction', summary: 's', trigger: 'auto', openPrompt: queued.id, usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 }, model: 'm', tokensBefore: 1 });
    expect(openPromptOf([queued, first, entry(calls('x')), entry(toolResult('x', 'y'))])).toBe(queued.id);
    expect(openPromptOf([queued, first, entry(answer('y'))])).toBeUndefined();
  });
});

describe('fitting', () => {
  const tokens = (request: { messages: readonly unknown[] }): number => (JSON.stringify(request).includes('make a parser') ? 900 : 100);

  it('defers the turn, compacts, and lets every source speak again before it asks', async () => {
    const at = rig({ replies: [says('Summary.'), says('ok')], fit: (request) => ({ tokens: tokens(request), limit: 500, fits: tokens(request) < 500 }), collect: (moment) => ({ reminders: [reminder(moment, 'Pins.') as never], faults: [] }) }, past);
    expect(await at.turn('and now?')).toEqual({ kind: 'answered' });
    expect(at.moments).toEqual(['prompt', 'prompt']);
    expect(compactions(at.session.log)).toEqual([expect.objectContaining({ trigger: 'auto' })]);
    const last = flatten(at.requests[1] ?? { messages: [] });
    expect(last.map((block) => block.includes('Pins.'))).toEqual([false, true, false]);
    expect(last.at(-1)).toContain('and now?');
  });

  it('stops when a compaction does not shrink the request', async () => {
    const at = rig({ replies: [says('Summary.')], fit: () => ({ tokens: 1000, limit: 500, fits: false }) }, past);
    expect(await at.turn('go')).toMatchObject({ kind: 'stopped', message: expect.stringContaining('did not make the conversation shorter') as string });
  });

  it('compacts twice in a turn at the most', async () => {
    let weight = 100_000;
    const at = rig({ replies: [says('S1'), asksOnce(), says('S2'), asksOnce(), says('ok')], window: 80_000, tools: { Read: { effect: 'reads', run: () => 'x' } }, fit: () => { weight *= 0.8; return { tokens: weight, limit: 10, fits: false }; } }, past);
    expect(await at.turn('go')).toMatchObject({ kind: 'answered' });
    expect(compactions(at.session.log)).toHaveLength(2);
  });

  it('says which pins do not fit, and sends nothing', async () => {
    const at = rig({ fit: () => ({ tokens: 1000, limit: 500, fits: false, stuck: 'The pin src/big.ts alone has 900 tokens; /unpin it.' }) }, past);
    expect(await at.turn('go')).toEqual({ kind: 'stopped', message: 'The pin src/big.ts alone has 900 tokens; /unpin it.' });
    expect(at.requests).toHaveLength(0);
  });

  it('sends a first prompt that passes the user\'s limit but not the window, and refuses one that passes both', async () => {
    const over = rig({ replies: [says('ok')], fit: () => ({ tokens: 1000, limit: 500, fits: false }) });
    expect(await over.turn('go')).toEqual({ kind: 'answered' });
    const huge = rig({ fit: () => ({ tokens: 300_000, limit: 500, fits: false }) });
    expect(await huge.turn('go')).toMatchObject({ kind: 'stopped' });
    expect(huge.requests).toHaveLength(0);
  });

  it('leaves the turn as failed when the compaction fails, with the prompt kept', async () => {
    const at = rig({ replies: [fails('network')], fit: () => ({ tokens: 1000, limit: 500, fits: false }) }, past);
    expect(await at.turn('go')).toMatchObject({ kind: 'failed', why: 'network' });
    expect(at.session.log.some((one) => one.type === 'prompt' && one.text === 'go')).toBe(true);
  });

  it('goes on without an estimate', async () => {
    const at = rig({ replies: [says('ok')], fit: () => { throw new Error('no worker'); } }, past);
    expect(await at.turn('go')).toEqual({ kind: 'answered' });
    expect(at.events).toContainEqual({ type: 'fault', where: 'token estimate', message: 'no worker' });
  });
});

function asksOnce(): Reply {
  return message([call(`c${Math.random()}`.replace('.', ''), 'Read', { n: Math.random() })], 'tool_use');
}
