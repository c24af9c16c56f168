import fc from 'fast-check';
import { expect, test } from 'vitest';
import { collectOutput } from '#tools/shell/output.ts';

function collect(chunks: readonly (string | Uint8Array)[], shown = 30_000): string {
  const output = collectOutput({ shown });
  for (const chunk of chunks) output.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  return output.end().text;
}

test('however text is cut into chunks, it comes out the same', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '\n', '\r', 'é', '😀', ' '), maxLength: 60 });
  fc.assert(fc.property(text, fc.integer({ min: 1, max: 7 }), (whole, size) => {
    const bytes = Buffer.from(whole);
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
    expect(collect(chunks)).toBe(collect([whole]));
  }), { numRuns: 300 });
});

test('of a line that was written over, the last state stays; CRLF is a line end', () => {
  expect(collect(['10%\r20%\r', '100%\ndone\r\n', 'x\ry'])).toBe('100%\ndone\ny');
});

test('colours and other sequences for terminals are taken out', () => {
  expect(collect(['\u001b[31mred\u001b[0m \u001b]0;title\u0007end'])).toBe('red end');
});

test('B-07: what is not UTF-8 is shown as such and said', () => {
  expect(collect([Buffer.from('caf\xe9 and much more text here\n', 'latin1')])).toBe('caf\ufffd and much more text here\n\n[1 place of the output not UTF-8, shown as \ufffd]');
});

test('S-03: binary output is named, not shown; names between zeros are', () => {
  const bytes = Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * 7919) % 256));
  expect(collect(['head\n', bytes])).toBe('[output of 5005 bytes is binary, or not UTF-8; not shown]');
  expect(collect(['src/first.ts\0src/second.ts\0'])).toBe('src/first.ts␀src/second.ts␀');
});

test('beginning and end of much output are kept, whole lines at the cut', () => {
  const text = collect([Array.from({ length: 10_000 }, (_, at) => `line ${at + 1}\n`).join('')], 3000);
  expect(text).toMatch(/^line 1\nline 2\n/);
  expect(text).toMatch(/\n\[… shown the first \d+ and the last \d+ of 98894 characters;[^\n]*\n?…\]\nline \d+\n/);
  expect(text.endsWith('line 10000\n')).toBe(true);
  expect(text.length).toBeLessThan(3200);
});

test('no half character at a cut', () => {
  const text = collect(['😀'.repeat(5000)], 301);
  expect(text.isWellFormed()).toBe(true);
  expect(text).not.toContain('\ufffd');
});

test('an endless line takes no more memory than its ends', () => {
  const output = collectOutput({ shown: 3000 });
  const chunk = Buffer.alloc(65_536, 'x');
  const before = process.memoryUsage().heapUsed;
  for (let at = 0; at < 500; at += 1) output.push(chunk);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(25 * 1024 * 1024);
  expect(output.end().text.length).toBeLessThan(3200);
});
