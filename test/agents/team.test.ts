import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { MOST_TURNS } from '#agents/desk.ts';
import { putMail, readMail } from '#agents/mailbox.ts';
import { NO_USAGE } from '#domain/content.ts';
import type { Entry } from '#domain/entry.ts';
import { tasksOf } from '#domain/folds.ts';
import { toldUpTo, untoldMail } from '#domain/mail.ts';
import type { SourceId } from '#domain/reminder.ts';
import { asks, says, shown } from '../loop/ports.ts';
import { call, memorySession, prompt } from '../support/logs.ts';
import { tempFolder } from '../support/temp.ts';
import { deskRig } from './rig.ts';

const answers = (count: number) => ({ replies: Array.from({ length: count }, (_, n) => says(`answer ${n + 1}`)) });
const signal = new AbortController().signal;

describe('a named agent', () => {
  test('stays when its turn is over, and a message begins a further one on its own thread', async () => {
    const { run, desk, lead, threads, quiet, woken } = deskRig({ script: () => answers(2) });
    expect(await run({ name: 'Bob', title: 'look' })).toMatchObject({ kind: 'started', text: expect.stringContaining('SendMessage reaches it as Bob.') });
    expect(desk.members(lead)).toEqual([{ name: 'Bob', type: 'general', title: 'look', state: 'working' }]);
    await quiet();
    expect(desk.members(lead)).toMatchObject([{ state: 'idle' }]);
    expect(await desk.send('bob', 'And now?', lead)).toEqual({ sent: ['Bob'] });
    await quiet();
    expect(threads).toHaveLength(1);
    expect(shown(threads[0]?.requests[1]).join('\n')).toMatch(/Do it\.[^]*answer 1[^]*lead: And now\?/);
    expect(tasksOf(lead.log)).toMatchObject([{ id: 'agent-1', name: 'Bob', state: 'done' }, { id: 'agent-2', name: 'Bob', state: 'done', result: expect.stringContaining('> answer 2') }]);
    expect(new Set(tasksOf(lead.log).map(({ file }) => file)).size).toBe(1);
    expect(woken()).toBe(2);
  });

  test('has a name of its own: none twice, none that means another, none that is no word', async () => {
    const { run, quiet } = deskRig({ script: () => answers(1) });
    const [one, two] = await Promise.all([run({ name: 'bob' }), run({ name: 'BOB' })]);
    expect([one.kind, two.kind].sort()).toEqual(['failed', 'started']);
    for (const name of ['lead', 'User', '*', '../../x', 'a b', 'x'.repeat(33), 'b\n']) expect((await run({ name })).text).toMatch(/is no name for a teammate/);
    await quiet();
  });

  test('hears at its next step what comes while it works, and what comes too late in a further turn', async () => {
    const { run, desk, lead, threads, quiet } = deskRig({ script: () => ({
      replies: [asks(call('t1')), async function* () { await desk.send('bob', 'second', lead); return says('x'); }, says('y')],
      tools: { Read: { effect: 'reads', run: async () => { await desk.send('bob', 'first', lead); return 'text'; } } },
    }) });
    await run({ name: 'bob' });
    await quiet();
    const [, second, third] = threads[0]?.requests.map((request) => shown(request).join('\n')) ?? [];
    expect(second).toContain('lead: first');
    expect(second).not.toContain('lead: second');
    expect(third?.split('lead: first')).toHaveLength(2);
    expect(third).toContain('lead: second');
    expect(threads[0]?.requests).toHaveLength(3);
  });

  test('goes on after a restart: its thread, its mail and its name are there', async () => {
    const folder = tempFolder();
    const logs = new Map<string, Entry[]>();
    const first = deskRig({ folder, logs, script: () => answers(1) });
    await first.run({ name: 'bob' });
    await first.quiet();
    first.desk.close();
    const second = deskRig({ folder, logs, lead: memorySession(JSON.parse(JSON.stringify(first.lead.log)) as Entry[]), script: () => ({ replies: [says('again')] }) });
    expect(second.desk.members(second.lead)).toMatchObject([{ name: 'bob', state: 'idle' }]);
    expect(await second.desk.send('bob', 'still there?', second.lead)).toEqual({ sent: ['bob'] });
    await second.quiet();
    expect(shown(second.threads[0]?.requests[0]).join('\n')).toMatch(/Do it\.[^]*answer 1[^]*lead: still there\?/);
    expect(second.threads[0]?.person).toMatchObject({ name: 'bob', title: 'work' });
  });

  test('one that was killed at work is no longer at work, and can be woken', async () => {
    const lead = memorySession();
    lead.append({ type: 'task', task: { id: 'agent-1', kind: 'agent', title: 'x', name: 'bob', agent: 'general', state: 'running', file: '/nowhere' } });
    const { desk, quiet, threads } = deskRig({ lead, script: () => answers(1) });
    expect(desk.members(lead)).toMatchObject([{ state: 'ended' }]);
    expect(await desk.send('bob', 'x', lead)).toEqual({ sent: ['bob'] });
    await quiet();
    expect(threads).toHaveLength(1);
  });

  test('whose type is gone cannot be woken, and it is said', async () => {
    const lead = memorySession();
    lead.append({ type: 'task', task: { id: 'agent-1', kind: 'agent', title: 'x', name: 'bob', agent: 'vanished', state: 'done', file: '/nowhere' } });
    const { desk } = deskRig({ lead });
    expect(await desk.send('bob', 'x', lead)).toEqual({ problem: 'bob cannot be woken: its type of agent is not there any more.' });
  });

  test('two that write to each other for ever are stopped until the user speaks', async () => {
    const { run, desk, lead, threads, quiet } = deskRig({ script: ({ name }) => ({ replies: Array.from({ length: 99 }, () => async function* () {
      const to = name === 'a' ? 'b' : 'a';
      const self = threads.find((thread) => thread.person.name === name)?.session;
      if (self !== undefined && desk.members(lead).length === 2) await desk.send(to, 'again', self);
      return says('x');
    }) }) });
    lead.append(prompt('go'));
    await run({ name: 'a' });
    await run({ name: 'b' });
    await desk.send('a', 'begin', lead);
    await quiet();
    const turns = tasksOf(lead.log).length;
    expect(turns).toBeLessThanOrEqual(2 * MOST_TURNS + 2);
    expect(turns).toBeGreaterThanOrEqual(MOST_TURNS);
    const refused = await desk.send('a', 'more', lead);
    const other = await desk.send('b', 'more', lead);
    expect([refused, other]).toContainEqual({ problem: expect.stringMatching(/had 20 turns since the user last spoke/) as string });
    await quiet();
    lead.append(prompt('go on'));
    expect(await desk.send('a', 'now', lead)).toEqual({ sent: ['a'] });
    desk.close();
    await quiet();
  });
});

describe('messages', () => {
  test('to all others, to the lead, and to nobody', async () => {
    const { run, desk, lead, threads, quiet, woken } = deskRig({ script: () => answers(3) });
    expect(await desk.send('bob', 'x', lead)).toEqual({ problem: 'There is no teammate "bob". There are no teammates: Task with a name starts one.' });
    expect(await desk.send('*', 'x', lead)).toEqual({ problem: 'There are no teammates: Task with a name starts one.' });
    await run({ name: 'ann' });
    await run({ name: 'bob' });
    await quiet();
    const ann = threads[0]?.session ?? lead;
    const before = woken();
    expect(await desk.send('*', 'hello', ann)).toEqual({ sent: ['lead', 'bob'] });
    expect(woken()).toBeGreaterThan(before);
    await quiet();
    expect(desk.mailTo(lead)).toMatchObject([{ from: 'ann', to: 'lead', text: 'hello' }]);
    expect(desk.hasMail(lead)).toBe(true);
    expect(shown(threads[1]?.requests[1]).join('\n')).toContain('ann: hello');
    expect(await desk.send('ann', 'x', ann)).toMatchObject({ problem: 'There is no teammate "ann" besides this one. There are lead, bob, and * for all.' });
    expect(await desk.send('bob', ' \n', ann)).toEqual({ problem: 'The message is empty.' });
    expect(await desk.send('bob', 'y'.repeat(20_000), ann)).toMatchObject({ problem: expect.stringMatching(/^Not sent to bob: a message has at most 16 KiB/) as string });
    expect(await desk.send('no\n</x>', 'x', lead)).toMatchObject({ problem: expect.stringContaining('"no\\u{A}\\u{3C}/x\\u{3E}"') as string });
  });

  test('an agent without a name has no mailbox', async () => {
    const { run, desk, threads } = deskRig({ script: () => ({ replies: [asks(call('t1')), says('x')], tools: { Read: { effect: 'reads', run: async () => {
      const self = threads[0]?.session;
      if (self === undefined) return '';
      expect(desk.self(self)).toMatchObject({ name: 'agent-1', named: false });
      expect(await desk.mail(self, signal)).toEqual([]);
      const sent = await desk.send('lead', 'x', self);
      return 'problem' in sent ? sent.problem : '';
    } } } }) });
    await run();
    expect(shown(threads[0]?.requests[1]).join('\n')).toContain('Only the lead and named agents have mailboxes');
  });
});

describe('mail is told once', () => {
  const file = (): string => join(tempFolder(), 'lead.jsonl');
  const told = (id: string, source = 'teammate_mailbox') => ({ type: 'reminder' as const, moment: 'step' as const, source: source as SourceId, form: 'full' as const, parts: [], snapshot: id });

  test('whatever becomes of the conversation: compaction, rewind, exclusion and resume tell nothing again', async () => {
    const box = file();
    const send = async (text: string): Promise<string> => {
      const put = await putMail(box, { from: 'bob', to: 'lead', text }, '');
      return 'id' in put ? put.id : '';
    };
    const [one, two] = [await send('one'), await send('two')];
    let session = memorySession([prompt('x')]);
    const untold = (): readonly string[] => untoldMail(session.log, readMail(box), 'main', 'teammate_mailbox').map(({ text }) => text);
    expect(untold()).toEqual(['one', 'two']);
    const said = session.append(told(one));
    expect(untold()).toEqual(['two']);
    session.append({ type: 'compaction', summary: 's', trigger: 'auto', usage: NO_USAGE, model: 'm', tokensBefore: 1 });
    session.append({ type: 'exclude', target: said.id, what: 'entry' });
    expect(untold()).toEqual(['two']);
    session.append(told(two));
    session.append({ type: 'rewind', to: session.log[0]?.id ?? said.id });
    session = memorySession(JSON.parse(JSON.stringify(session.log)) as Entry[]);
    expect(untold()).toEqual([]);
    await send('three');
    expect(untold()).toEqual(['three']);
    appendFileSync(box, '{"id":"torn');
    expect(untold()).toEqual(['three']);
  });

  test('of a sub-agent two sources tell, each its own; only what both have told may go', async () => {
    const box = file();
    const ids: string[] = [];
    for (const from of ['lead', 'ann', 'lead']) {
      const put = await putMail(box, { from, to: 'bob', text: from }, '');
      if ('id' in put) ids.push(put.id);
    }
    const session = memorySession();
    const up = (): string => toldUpTo(session.log, readMail(box), 'sub');
    expect(up()).toBe('');
    session.append(told(ids[2] ?? '', 'agent_pending_messages'));
    expect(up()).toBe(ids[0]);
    expect(untoldMail(session.log, readMail(box), 'sub', 'teammate_mailbox').map(({ from }) => from)).toEqual(['ann']);
    session.append(told(ids[1] ?? ''));
    expect(up()).toBe(ids[2]);
  });
});
