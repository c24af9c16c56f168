import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Usage } from '#domain/content.ts';
import type { Entry, EntryBody } from '#domain/entry.ts';
import { factsOf } from '#accounting/models.ts';
import { createMeter, type MeterOptions } from '#accounting/meter.ts';
import { createCounter } from '#accounting/tokens.ts';
import { project } from '#loop/project.ts';
import { assistant, call, calls, entry, loads, memoryBlobs, oddLogs, picture, prompt, reminder, toolResult } from '../support/logs.ts';

const blobs = memoryBlobs();
const counter = createCounter({ worker: new URL('../../src/accounting/count-worker.ts', import.meta.url) });
const MODEL = 'claude-opus-5-5';

function meterFor(options: Partial<MeterOptions> = {}, window = 200_000) {
  return createMeter({ counter, facts: () => factsOf(MODEL, { window }), limits: () => ({ autoCompact: true }), ...options });
}

const head: Extract<EntryBody, { type: 'head' }> = { type: 'head', system: [{ type: 'text', text: 'You help with code.' }, { type: 'text', text: 'Speak French.' }], tools: [{ name: 'Read', input_schema: { type: 'object' } }], model: MODEL };
const usage = (input: number, output = 10, cacheRead = 0): Usage => ({ input, output, cacheRead, cacheWrite: 0, cacheWrite1h: 0 });
const said = (text: string, use: Usage): EntryBody => assistant([{ type: 'text', text }], 'end_turn', use);
/** What a message costs beside its blocks; its first block bears it. */
const FRAME = 4;
const words = (n: number): string => 'word '.repeat(n);

async function rowsOf(log: readonly Entry[]) {
  const request = project(log, blobs);
  const meter = meterFor();
  const rows = await meter.describe(request, log);
  const { tokens } = await meter.estimate(request, log);
  expect(rows.reduce((sum, row) => sum + row.tokens, 0)).toBe(tokens);
  return rows;
}

describe('the account of a request', () => {
  it('shows a tool that was loaded on demand where it was loaded, and without tokens once that is gone', async () => {
    const log = [head, prompt('go'), calls('a'), loads('a', 'WebFetch')].map((body) => entry(body));
    const row = (rows: Awaited<ReturnType<typeof rowsOf>>) => rows.find(({ label }) => label.startsWith('WebFetch'));
    expect(row(await rowsOf(log))).toMatchObject({ label: 'WebFetch (on demand)', group: 'tools' });
    expect(row(await rowsOf(log))?.tokens).toBeGreaterThan(10);
    const later = await rowsOf([...log, entry({ type: 'compaction', summary: 's', trigger: 'auto', usage: usage(0, 0), model: MODEL, tokensBefore: 1 }), entry(prompt('and?'))]);
    expect(row(later)).toMatchObject({ label: 'WebFetch (on demand, not loaded now)', tokens: 0 });
    expect(later.find(({ label }) => label === '1 tool')).toBeDefined();
  });

  it('has a row for each thing in it, with origin and age', async () => {
    const log = [
      head, prompt('Look at this picture', [picture(blobs, 'shot.png')]), reminder('prompt', words(40), { source: 'pins' }), reminder('prompt', words(20), { source: 'todos' }), reminder('prompt', words(10), { source: 'date_change' }),
      assistant([{ type: 'thinking', thinking: 'hm', signature: 's' }, { type: 'text', text: 'I look.' }, call('a', 'Read', { path: 'a' })], 'tool_use'),
      toolResult('a', 'the contents'), reminder('step', 'a.ts changed', { source: 'changed_files' }),
      { type: 'shell', command: 'git status', output: 'clean', exitCode: 0 } as EntryBody, { type: 'queued', text: 'q' } as EntryBody,
      said('Done.', usage(0)), reminder('step', '', { source: 'queued_commands', userTexts: ['and hurry'] }),
    ].map((body) => entry(body));
    const rows = await rowsOf(log);
    expect(rows.map(({ label, group, origin, age }) => [label, group, origin, age])).toEqual([
      ['System prompt', 'system', 'pinion', 2], ['Added to the system prompt', 'system', 'user', 2], ['1 tool', 'tools', 'pinion', 2],
      ['pins', 'pins', 'pins', 2], ['todos', 'todos', 'todos', 2], ['date_change', 'reminders', 'date_change', 2], ['shot.png', 'media', 'prompt', 2], ['Look at this picture', 'prompts', 'user', 2],
      ['I look.', 'answers', 'model', 2], ['Read', 'tool results', 'Read', 1], ['changed_files', 'reminders', 'changed_files', 1], ['Done.', 'answers', 'model', 1],
      ['!git status', 'shell', 'user', 1], ['and hurry', 'prompts', 'user (queued)', 0],
    ]);
    const tokens = new Map(rows.map(({ label, tokens: n }) => [label, n]));
    expect(tokens.get('pins')).toBeGreaterThan((tokens.get('todos') ?? 0) * 1.5);
    expect(rows.find(({ label }) => label === 'pins')?.entry).toBe(log[2]?.id);
  });

  it('weighs pictures by pixels, whatever their bytes', async () => {
    const big = picture(blobs, 'big.png', new Uint8Array(300_000).fill(7));
    const rows = await rowsOf([entry(prompt('see', [{ ...big, width: 280, height: 280 }]))]);
    expect(rows.find(({ group }) => group === 'media')?.tokens).toBe(100 + FRAME);
  });

  it('adds up to the estimate for any log whatever, live and replayed', async () => {
    await fc.assert(fc.asyncProperty(oddLogs(blobs), async (log) => {
      const request = project(log, blobs);
      const meter = meterFor();
      const rows = await meter.describe(request, log);
      const { tokens } = await meter.estimate(request, log);
      expect(rows.reduce((sum, row) => sum + row.tokens, 0)).toBe(tokens);
      for (const row of rows) expect(row.tokens).toBeGreaterThanOrEqual(0);
      const replayed = JSON.parse(JSON.stringify(log)) as Entry[];
      expect(await meterFor().describe(project(replayed, blobs), replayed)).toEqual(rows);
    }), { numRuns: 150 });
  });
});

describe('the estimate', () => {
  const of = async (log: readonly Entry[]) => await meterFor().estimate(project(log, blobs), log);

  it('stands on what was measured, and estimates only what was added', async () => {
    const log = [head, prompt(words(100)), said('Yes.', usage(700, 12, 300))].map((body) => entry(body));
    expect(await of(log)).toEqual({ tokens: 1012, estimated: false });
    const more = await of([...log, entry(prompt('and now?'))]);
    expect(more.estimated).toBe(true);
    expect(more.tokens - 1012).toBeGreaterThan(3);
    expect(more.tokens - 1012).toBeLessThan(30);
  });

  it('can be had at a glance, the same where it was measured', async () => {
    const log = [head, prompt(words(100)), said('Yes.', usage(700, 12, 300))].map((body) => entry(body));
    const glance = (at: readonly Entry[]) => meterFor().glance(project(at, blobs), at);
    expect(glance(log)).toEqual(await of(log));
    const more = [...log, entry(prompt(words(200)))];
    expect(glance(more).estimated).toBe(true);
    expect(Math.abs(glance(more).tokens / (await of(more)).tokens - 1)).toBeLessThan(0.2);
  });

  it('learns from past replies how the model counts', async () => {
    const base = [head, prompt(words(1000))].map((body) => entry(body));
    const plain = (await of(base)).tokens;
    const measured = Math.round(plain * 1.3);
    const log = [...base, entry(said('ok', usage(measured))), entry(prompt(words(1000)))];
    const added = (await of(log)).tokens - measured - 10;
    const uncalibrated = (await of([...base, entry(prompt(words(1000)))])).tokens - plain;
    expect(added / uncalibrated).toBeGreaterThan(1.25);
    expect(added / uncalibrated).toBeLessThan(1.35);
    const wild = [...base, entry(said('ok', usage(plain * 50))), entry(prompt(words(1000)))];
    expect(((await of(wild)).tokens - plain * 50 - 10) / uncalibrated).toBeLessThan(1.7);
  });

  it('forgets what was measured once what stands before it has changed', async () => {
    const log = [head, prompt(words(100)), said('Yes.', usage(5000))].map((body) => entry(body));
    const exceptions: EntryBody[] = [{ type: 'exclude', target: log[1]?.id ?? ('' as never), what: 'entry' }, { type: 'strip', reason: 'x' }, { ...head, model: 'claude-sonnet-5-5' },
      { type: 'compaction', summary: 's', trigger: 'manual', usage: usage(1), model: MODEL, tokensBefore: 5000 }];
    for (const exception of exceptions) expect((await of([...log, entry(exception)])).tokens).toBeLessThan(2000);
    expect((await of([...log, entry({ type: 'mode', mode: 'plan' })])).tokens).toBe(5010);
  });

  it('trusts only replies of the model that is asked, under whatever name a server of its own answers', async () => {
    const log = (asked: string, answered: string) => [entry({ ...head, model: asked }), entry(prompt('a')), entry({ ...said('b', usage(700, 12)), model: answered } as EntryBody)];
    expect((await of(log(MODEL, MODEL))).tokens).toBe(712);
    expect((await of(log('qwen3', 'qwen3:latest'))).tokens).toBe(712);
    expect((await of(log(MODEL, 'claude-haiku-5-5'))).tokens).not.toBe(712);
  });

  it('says how far it was off', async () => {
    const first = [head, prompt(words(500))].map((body) => entry(body));
    const plain = (await of(first)).tokens;
    const log = [...first, entry(said('ok', usage(plain * 2)))];
    const view = await meterFor().contextView(project(log, blobs), log);
    expect(view.measured).toBe(plain * 2);
    expect(view.error).toBeCloseTo(-0.5, 1);
    expect(view).toMatchObject({ estimated: plain * 2 + 10, window: 200_000, model: MODEL });
    const fresh = await meterFor().contextView(project(first, blobs), first);
    expect([fresh.measured, fresh.error]).toEqual([undefined, undefined]);
  });
});

describe('the fit', () => {
  const big = [head, prompt(words(30_000))].map((body) => entry(body));
  const request = project(big, blobs);

  it('loads no tokenizer as long as it is certain without', async () => {
    const never = { count: () => { throw new Error('counted'); }, close: () => undefined };
    const small = [head, prompt('hi')].map((body) => entry(body));
    expect(await meterFor({ counter: never }).fit(project(small, blobs), small)).toMatchObject({ fits: true });
    const anchored = [head, prompt('hi'), said('ok', usage(140_000)), prompt('more')].map((body) => entry(body));
    const fit = await meterFor({ counter: never }).fit(project(anchored, blobs), anchored);
    expect(fit.fits).toBe(true);
    expect(fit.tokens).toBeGreaterThan(140_010);
  });

  it('keeps room for the answer, and obeys the user\'s threshold', async () => {
    expect(meterFor().limit()).toBe(151_200);
    expect(meterFor({}, 1_000_000).limit()).toBe(200_000);
    expect(meterFor({ limits: () => ({ autoCompact: true, compactAt: 500_000 }) }, 1_000_000).limit()).toBe(500_000);
    expect(meterFor({ limits: () => ({ autoCompact: false, compactAt: 1000 }) }, 1_000_000).limit()).toBe(871_200);
    expect(meterFor({}, 8000).limit()).toBe(5400);
    expect(await meterFor().fit(request, big)).toMatchObject({ fits: true });
    const tight = await meterFor({ limits: () => ({ autoCompact: true, compactAt: 20_000 }) }).fit(request, big);
    expect(tight).toMatchObject({ fits: false, limit: 20_000 });
    expect(tight).not.toHaveProperty('stuck');
  });

  it('names the pins when they alone do not fit', async () => {
    const pins = async () => [{ label: 'a.md', text: words(3000) }, { label: 'src/big.ts', text: words(20_000) }, { label: 'gone.ts', text: undefined }];
    const fit = await meterFor({ pins, limits: () => ({ autoCompact: true, compactAt: 20_000 }) }).fit(request, big);
    expect(fit.stuck).toMatch(/^The pins alone have about 33k tokens, and 20k would fit: src\/big\.ts \(~29k\), a\.md \(~4\.4k\), gone\.ts \(~0\)\. \/unpin src\/big\.ts would free 29k\.$/);
    const few = await meterFor({ pins: async () => [{ label: 'a.md', text: 'short' }], limits: () => ({ autoCompact: true, compactAt: 20_000 }) }).fit(request, big);
    expect(few).not.toHaveProperty('stuck');
  });

  it('says when a tool round passed the limit', async () => {
    const log = [head, prompt('go'), calls('a'), toolResult('a', words(60_000))].map((body) => entry(body));
    expect((await meterFor({ limits: () => ({ autoCompact: true, compactAt: 50_000 }) }).fit(project(log, blobs), log)).fits).toBe(false);
  });
});
