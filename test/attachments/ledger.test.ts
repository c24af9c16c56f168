import { describe, expect, it } from 'vitest';
import { ledgerOf } from '#attachments/ledger.ts';
import type { Entry, EntryBody } from '#domain/entry.ts';
import { NO_USAGE } from '#domain/content.ts';
import type { SourceId } from '#domain/reminder.ts';
import { answer, memorySession, prompt, reminder } from '../support/logs.ts';

const id = 'date' as SourceId;
const said = (snapshot: string): EntryBody => reminder('prompt', 'text', { source: 'date', snapshot });
const compaction: EntryBody = { type: 'compaction', summary: 's', trigger: 'auto', usage: NO_USAGE, model: 'm', tokensBefore: 1 };

describe('what each source has said', () => {
  it('counts steps and times', () => {
    const { log } = memorySession([prompt('a'), said('1'), answer('x'), answer('y'), said('2'), answer('z')]);
    expect(ledgerOf(log).get(id)).toEqual({ kind: 'sent', snapshot: '2', stepsAgo: 1, times: 2, gone: false });
  });
  it('knows nothing of a source that never spoke', () => {
    expect(ledgerOf([]).get(id)).toBeUndefined();
  });
  it('starts anew at a compaction', () => {
    const session = memorySession([said('1'), answer('x')]);
    session.append(compaction);
    expect(ledgerOf(session.log).size).toBe(0);
    session.append(said('2'));
    expect(ledgerOf(session.log).get(id)).toMatchObject({ snapshot: '2', times: 1 });
  });
  it('follows a rewind', () => {
    const session = memorySession([said('1'), answer('x'), said('2'), answer('y')]);
    const to = session.log[1]?.id;
    if (to === undefined) throw new Error('no entry');
    session.append({ type: 'rewind', to });
    expect(ledgerOf(session.log).get(id)).toMatchObject({ snapshot: '1', stepsAgo: 1, times: 1 });
  });
  it('does not count what is excluded, and counts it again when it is restored', () => {
    const session = memorySession([said('1'), said('2')]);
    const target = session.log[1]?.id;
    if (target === undefined) throw new Error('no entry');
    session.append({ type: 'exclude', target, what: 'entry' });
    expect(ledgerOf(session.log).get(id)).toMatchObject({ snapshot: '1', times: 1 });
    session.append({ type: 'restore', target });
    expect(ledgerOf(session.log).get(id)).toMatchObject({ snapshot: '2', times: 2 });
    session.append({ type: 'exclude', target, what: 'media' });
    expect(ledgerOf(session.log).get(id)).toMatchObject({ snapshot: '2' });
  });
  it('is the same after a resume', () => {
    const { log } = memorySession([said('1'), answer('x'), said('2')]);
    expect(ledgerOf(JSON.parse(JSON.stringify(log)) as Entry[])).toEqual(ledgerOf(log));
  });
  it('counts times from the last farewell', () => {
    const session = memorySession([said('1'), said('1')]);
    session.append({ type: 'reminder', moment: 'step', source: id, form: 'gone', parts: [], snapshot: null });
    expect(ledgerOf(session.log).get(id)).toMatchObject({ gone: true, times: 0 });
    session.append(said('1'));
    expect(ledgerOf(session.log).get(id)).toMatchObject({ gone: false, times: 1 });
  });
});
