import { describe, expect, it } from 'vitest';
import { createCollector } from '#attachments/collect.ts';
import { defineSource, type Source, type SourceLimits, type SourceSpec } from '#attachments/define.ts';
import type { Json } from '#lib/brand.ts';
import type { Entry } from '#domain/entry.ts';
import type { Collected } from '#domain/ports.ts';
import { absent, type World } from '#domain/world.ts';
import { memorySession } from '../support/logs.ts';
import { world } from './world.ts';

const says = (id: string, words: string, more: { threads?: 'all' | 'main'; limits?: Partial<SourceLimits> } = {}): Source =>
  defineSource<string>({ id, on: ['prompt'], threads: more.threads ?? 'all', cadence: 'always', limits: more.limits ?? {}, observe: () => words, revive: () => undefined, full: (now) => now });
const fails: Source = defineSource<string>({ id: 'fails', on: ['prompt'], threads: 'all', cadence: 'always', observe: () => { throw new Error('the disk is on fire'); }, revive: () => undefined, full: (now) => now });
const dawdles = (ms: number): Source =>
  defineSource<string>({ id: 'dawdles', on: ['prompt'], threads: 'all', cadence: 'always', limits: { ms }, observe: () => new Promise(() => undefined), revive: () => undefined, full: (now) => now });

function collect(sources: readonly Source[], more: { off?: readonly string[]; world?: Partial<World>; signal?: AbortSignal } = {}): Promise<Collected> {
  const collector = createCollector({ sources, off: () => more.off ?? [], world: (moment, session) => world(session, { ...more.world, moment }) });
  return collector.collect('prompt', memorySession(), more.signal ?? new AbortController().signal);
}

describe('collecting reminders', () => {
  it('keeps the order of the shelf, however long each takes', async () => {
    const slow = defineSource<string>({ id: 'slow', on: ['prompt'], threads: 'all', cadence: 'always', observe: () => new Promise((resolve) => { setTimeout(() => { resolve('late'); }, 20); }), revive: () => undefined, full: (now) => now });
    const { reminders } = await collect([slow, says('quick', 'x')]);
    expect(reminders.map(({ source }) => source)).toEqual(['slow', 'quick']);
  });
  it('loses only the words of a source that throws or dawdles, and says so', async () => {
    const { reminders, faults } = await collect([fails, dawdles(20), says('b', 'still here')]);
    expect(reminders.map(({ source }) => source)).toEqual(['b']);
    expect(faults).toEqual([{ where: 'reminder fails', message: 'the disk is on fire' }, { where: 'reminder dawdles', message: 'no answer within 20 ms' }]);
  });
  it('tells a source that its time is over', async () => {
    let told = false;
    const hears = defineSource<string>({
      id: 'hears', on: ['prompt'], threads: 'all', cadence: 'always', limits: { ms: 10 }, revive: () => undefined, full: (now) => now,
      observe: (_, signal) => new Promise((resolve) => { signal.addEventListener('abort', () => { told = true; resolve('too late'); }); }),
    });
    expect((await collect([hears])).reminders).toEqual([]);
    expect(told).toBe(true);
  });
  it('asks in sub-agents only those that speak there', async () => {
    const { reminders } = await collect([says('a', 'x', { threads: 'main' }), says('b', 'y')], { world: { thread: 'sub' } });
    expect(reminders.map(({ source }) => source)).toEqual(['b']);
  });
  it('asks none that is switched off, and none at another moment', async () => {
    const step = defineSource<string>({ id: 'c', on: ['step'], threads: 'all', cadence: 'always', observe: () => 'x', revive: () => undefined, full: (now) => now });
    expect((await collect([says('a', 'x'), says('b', 'y'), step], { off: ['a'] })).reminders.map(({ source }) => source)).toEqual(['b']);
  });
  it('cuts at the cap, and says so in the reminder and to the user', async () => {
    const { reminders, faults } = await collect([says('a', '한'.repeat(1000), { limits: { tokens: 100 } })]);
    const [, last] = reminders[0]?.parts ?? [];
    expect(reminders[0]?.parts[0]).toEqual({ type: 'text', text: '한'.repeat(100) });
    expect(last).toEqual({ type: 'text', text: '[cut: 300 of 3000 bytes shown]' });
    expect(faults).toEqual([{ where: 'reminder a', message: 'cut: 300 of 3000 bytes shown' }]);
  });
  it('leaves out whole parts where a cut would leave an envelope open', async () => {
    const source = defineSource<Json>({
      id: 'a', on: ['prompt'], threads: 'all', cadence: 'always', limits: { tokens: 10 }, capped: 'parts', observe: () => null, revive: () => undefined,
      full: () => [{ type: 'text', text: 'x'.repeat(20) }, { type: 'text', text: 'y'.repeat(20) }, { type: 'text', text: 'z' }],
    });
    const { reminders } = await collect([source]);
    expect(reminders[0]?.parts.map((part) => (part.type === 'text' ? part.text[0] : ''))).toEqual(['x', 'z', '[']);
  });
  it('reports no fault after an abort', async () => {
    const abort = new AbortController();
    const waiting = collect([dawdles(5000)], { signal: abort.signal });
    abort.abort(new Error('esc'));
    expect(await waiting).toEqual({ reminders: [], faults: [] });
  });
  it('survives a world that cannot be made', async () => {
    const collector = createCollector({ sources: [says('a', 'x')], world: () => { throw new Error('no world'); } });
    expect(await collector.collect('prompt', memorySession(), new AbortController().signal)).toEqual({ reminders: [], faults: [{ where: 'reminders', message: 'no world' }] });
  });
});

/** What a source owes by its cadence, checked by the compiler: each line fails to compile when the answer changes. */
interface Base { id: string; on: ['prompt']; threads: 'all'; observe(): string; revive(stored: Json): string | undefined; full(now: string): string }
type Compiles<T> = T extends SourceSpec<string> ? true : false;
const owed: readonly [
  Compiles<Base & { cadence: 'once' }>, Compiles<Base & { cadence: 'onChange' }>, Compiles<Base & { cadence: 'onChange'; delta(before: string, now: string): string }>,
  Compiles<Base & { cadence: { everySteps: 5; fullEvery: 5 } }>, Compiles<Base & { cadence: { everySteps: 5; fullEvery: 5 }; brief(now: string): string; gone(): string }>,
  Compiles<Base & { cadence: { sinceWrite: 1; between: 1 } }>, Compiles<Base & { cadence: { sinceWrite: 1; between: 1 }; wrote(entry: Entry): boolean }>,
] = [true, false, true, false, true, false, true];

describe('a source', () => {
  it('owes what its cadence needs', () => { expect(owed).toHaveLength(7); });
  const list = (now: readonly string[] | undefined, keep?: (now: readonly string[]) => Json): Source => defineSource<readonly string[]>({
    id: 'list', on: ['prompt'], threads: 'all', cadence: 'onChange', observe: () => now ?? absent,
    revive: (stored) => (Array.isArray(stored) ? stored.filter((name) => typeof name === 'string') : undefined),
    full: (all) => `all: ${all.join()}`,
    delta: (before, all) => all.filter((name) => !before.includes(name)).join() || undefined,
    gone: (before) => `gone: ${before?.join() ?? 'unknown'}`,
    ...(keep !== undefined && { keep }),
  });
  const speak = async (source: Source, snapshot: Json, gone = false): Promise<string | undefined> => {
    const spoken = await source.speak(world(memorySession()), { kind: 'sent', snapshot, stepsAgo: 1, times: 1, gone }, new AbortController().signal);
    const [part] = spoken?.reminder.parts ?? [];
    return spoken === undefined ? undefined : `${spoken.reminder.form} ${part?.type === 'text' ? part.text : ''}`;
  };
  it('says the change', async () => { expect(await speak(list(['a', 'b']), ['a'])).toBe('delta b'); });
  it('is silent when nothing of it is news', async () => { expect(await speak(list(['a']), ['a', 'b'])).toBeUndefined(); });
  it('speaks whole when its stored snapshot cannot be read', async () => { expect(await speak(list(['a']), 'of another version')).toBe('full all: a'); });
  it('says goodbye once', async () => {
    expect(await speak(list(undefined), ['a'])).toBe('gone gone: a');
    expect(await speak(list(undefined), 7)).toBe('gone gone: unknown');
    expect(await speak(list(undefined), null, true)).toBeUndefined();
  });
  it('speaks whole when it is back', async () => { expect(await speak(list(['a']), null, true)).toBe('full all: a'); });
  it('stores what keep makes of it', async () => {
    const spoken = await list(['a'], (now) => now.length).speak(world(memorySession()), { kind: 'never' }, new AbortController().signal);
    expect(spoken?.reminder.snapshot).toBe(1);
  });
});
