import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countText } from '#accounting/count.ts';
import { mediaTokens } from '#accounting/media.ts';
import { type Counter, createCounter, guessTokens, mostTokens } from '#accounting/tokens.ts';
import { oddText } from '../support/logs.ts';

const SOURCE = new URL('../../src/accounting/count-worker.ts', import.meta.url);

describe('counting', () => {
  it('counts special tokens as plain text and never throws', () => {
    expect(countText('hello world')).toBe(2);
    expect(countText('<|endoftext|>')).toBeGreaterThan(1);
    expect(countText('')).toBe(0);
    fc.assert(fc.property(oddText, (text) => { expect(countText(text)).toBeGreaterThanOrEqual(text === '' ? 0 : 1); }), { numRuns: 200 });
  });
  it('takes long words and long texts in its stride', () => {
    expect(countText('a'.repeat(200_000))).toBeGreaterThan(10_000);
    expect(countText(' '.repeat(200_000))).toBeGreaterThan(100);
    const line = 'The quick brown fox jumps over the lazy dog.\n';
    const long = countText(line.repeat(60_000));
    expect(Math.abs(long / (countText(line) * 60_000) - 1)).toBeLessThan(0.05);
  });
  it('is never below what a guess may assume, and near it for ordinary code', () => {
    fc.assert(fc.property(oddText, (text) => { expect(countText(text)).toBeLessThanOrEqual(mostTokens(text)); }), { numRuns: 300 });
    const code = readFileSync(new URL('../../src/accounting/tokens.ts', import.meta.url), 'utf8');
    expect(Math.abs(guessTokens(code) / countText(code) - 1)).toBeLessThan(0.3);
  });
});

describe('the counter', () => {
  let folder = '';
  let built: URL;
  const open: Counter[] = [];
  const counterOf = (worker: URL, patienceMs?: number): Counter => {
    const counter = createCounter({ worker, ...(patienceMs === undefined ? {} : { patienceMs }) });
    open.push(counter);
    return counter;
  };
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'pinion-count-'));
    await build({ entryPoints: [fileURLToPath(SOURCE)], outfile: join(folder, 'count-worker.js'), bundle: true, format: 'esm', platform: 'node', logLevel: 'silent' });
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(folder, 'broken.js'), 'throw new Error("broken")');
    writeFileSync(join(folder, 'deaf.js'), 'import { parentPort } from "node:worker_threads"; parentPort.on("message", () => {});');
    built = pathToFileURL(join(folder, 'count-worker.js'));
  });
  afterAll(() => {
    for (const counter of open) counter.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  it('counts in the built worker as in this thread', async () => {
    const texts = ['one two three', '', '<|endoftext|>', 'one two three', 'x'.repeat(500), '日本語のテキスト'];
    const here = await counterOf(SOURCE).count(texts);
    expect(here).toEqual(texts.map(countText));
    expect(await counterOf(built).count(texts)).toEqual(here);
  });
  it('answers many counts at once, each with its own', async () => {
    const counter = counterOf(built);
    const words = Array.from({ length: 20 }, (_, n) => 'word '.repeat(n + 1));
    const counts = await Promise.all(words.map(async (text) => await counter.count([text])));
    expect(counts.map(([tokens]) => tokens)).toEqual(words.map(countText));
  });
  it('guesses when the worker is missing, broken or deaf, and after it was closed', async () => {
    const texts = ['a text of some length that is to be guessed', 'and one more'];
    const guesses = texts.map(guessTokens);
    expect(await counterOf(pathToFileURL(join(folder, 'missing.js'))).count(texts)).toEqual(guesses);
    expect(await counterOf(pathToFileURL(join(folder, 'broken.js'))).count(texts)).toEqual(guesses);
    expect(await counterOf(pathToFileURL(join(folder, 'deaf.js')), 50).count(texts)).toEqual(guesses);
    const closed = counterOf(built);
    const under = closed.count(texts);
    closed.close();
    expect(await under).toEqual(guesses);
    expect(await closed.count(texts)).toEqual(guesses);
  });
});

describe('pictures and PDFs', () => {
  const blob = { bytes: 5_000_000 };
  it('cost by pixels, within the tier of the model', () => {
    expect(mediaTokens({ mime: 'image/png', width: 280, height: 28, blob }, 'claude-opus-5-5')).toBe(10);
    expect(mediaTokens({ mime: 'image/png', width: 281, height: 29, blob }, 'claude-opus-5-5')).toBe(22);
    expect(mediaTokens({ mime: 'image/png', width: 8000, height: 8000, blob }, 'claude-opus-5-5')).toBe(4784);
    expect(mediaTokens({ mime: 'image/png', width: 8000, height: 8000, blob }, 'claude-haiku-4-5')).toBe(1568);
    expect(mediaTokens({ mime: 'image/png', width: 5152, height: 560, blob }, 'claude-opus-5-5')).toBe(92 * 10);
    expect(mediaTokens({ mime: 'image/jpeg', blob }, 'llama')).toBe(1568);
  });
  it('cost by pages', () => {
    const one = mediaTokens({ mime: 'application/pdf', pages: 1, blob }, 'claude-opus-5-5');
    expect(mediaTokens({ mime: 'application/pdf', pages: 10, blob }, 'claude-opus-5-5')).toBe(10 * one);
    expect(mediaTokens({ mime: 'application/pdf', blob: { bytes: 1 } }, 'claude-opus-5-5')).toBe(one);
  });
});
