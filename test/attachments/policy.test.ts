import { describe, expect, it } from 'vitest';
import { due, type Cadence } from '#attachments/policy.ts';
import type { Form } from '#domain/reminder.ts';
import type { StoredBefore } from '#domain/world.ts';

const never: StoredBefore = { kind: 'never' };
const lost = (stepsAgo = 1, times = 1): StoredBefore => ({ kind: 'lost', stepsAgo, times });
const sent = (snapshot: string, stepsAgo = 1, times = 1): StoredBefore => ({ kind: 'sent', snapshot, stepsAgo, times, gone: false });
const gone: StoredBefore = { kind: 'sent', snapshot: null, stepsAgo: 1, times: 0, gone: true };
const five = { everySteps: 5, fullEvery: 5 };
const ten = { sinceWrite: 10, between: 10 };

const rows: readonly (readonly [string, Cadence, StoredBefore, number, Form | undefined])[] = [
  ['once, at first', 'once', never, 0, 'full'],
  ['once, again', 'once', sent('a'), 0, undefined],
  ['once, changed', 'once', sent('b'), 0, undefined],
  ['once, lost', 'once', lost(), 0, undefined],
  ['once, back again', 'once', gone, 0, 'full'],
  ['always, at first', 'always', never, 0, 'full'],
  ['always, the same', 'always', sent('a'), 0, 'full'],
  ['onChange, at first', 'onChange', never, 0, 'full'],
  ['onChange, the same', 'onChange', sent('a', 100), 0, undefined],
  ['onChange, changed', 'onChange', sent('b'), 0, 'delta'],
  ['onChange, lost', 'onChange', lost(), 0, 'full'],
  ['onChange, back again', 'onChange', gone, 0, 'full'],
  ['everySteps, at first', five, never, 0, 'full'],
  ['everySteps, one step early', five, sent('a', 4), 0, undefined],
  ['everySteps, second time', five, sent('a', 5, 1), 0, 'brief'],
  ['everySteps, fifth time', five, sent('a', 9, 4), 0, 'brief'],
  ['everySteps, sixth time', five, sent('a', 5, 5), 0, 'full'],
  ['everySteps, changed', five, sent('b', 1), 0, 'full'],
  ['everySteps, lost', five, lost(), 0, 'full'],
  ['everySteps, back again', five, gone, 0, 'full'],
  ['sinceWrite, too early', ten, never, 9, undefined],
  ['sinceWrite, at first', ten, never, 10, 'full'],
  ['sinceWrite, said lately', ten, sent('b', 9), 30, undefined],
  ['sinceWrite, said long ago', ten, sent('a', 10), 30, 'full'],
  ['sinceWrite, written lately', ten, sent('a', 30), 3, undefined],
  ['sinceWrite, lost lately', ten, lost(9), 30, undefined],
];

describe('which form is due', () => {
  it.each(rows)('%s', (_, cadence, before, sinceWrite, form) => {
    expect(due(cadence, before, 'a', sinceWrite)).toBe(form);
  });
  it('compares snapshots by what they hold, not by the order of their keys', () => {
    expect(due('onChange', { kind: 'sent', snapshot: { a: 1, b: [2] }, stepsAgo: 1, times: 1, gone: false }, { b: [2], a: 1 })).toBeUndefined();
  });
});
