import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { width } from '#lib/terminal.ts';
import { createLineNames } from '#ui/line-names.ts';

describe('names of lines', () => {
  it('bring back the lines that they stand for, also those that look like names', () => {
    const line = fc.oneof(fc.string({ unit: 'binary' }).filter((text) => !text.includes('\n')), fc.constantFrom('', '@1', '@2', '@z'));
    fc.assert(fc.property(fc.array(line, { maxLength: 40 }), (lines) => {
      const names = createLineNames();
      const frame = lines.map(names.of);
      expect(names.read(frame.join('\n'), 100_000)).toBe(lines.join('\n'));
      expect(lines.map(names.of)).toEqual(frame);
      expect(frame.every((name) => /^@[0-9a-z]{1,4}$/.test(name))).toBe(true);
      expect(new Set(frame).size).toBe(new Set(lines).size);
    }));
  });

  it('are read as wide as the window is now', () => {
    const names = createLineNames();
    const name = names.of(`\u001B[31m${'─'.repeat(30)}\u001B[39m`);
    for (const columns of [80, 10, 30, 9]) expect(width(names.read(name, columns))).toBe(Math.min(30, columns));
  });

  it('leave what is no name', () => { expect(createLineNames().read('some words\n@1\n', 80)).toBe('some words\n@1\n'); });

  it('do not grow for ever, and are not used twice', () => {
    const names = createLineNames();
    const first = names.of('first');
    for (let i = 0; i < 3000; i += 1) names.of(`line ${i}`);
    names.tidy();
    expect(names.read(first, 80)).toBe(first);
    expect(names.of('other')).not.toBe(first);
    names.tidy();
    expect(names.read(names.of('other'), 80)).toBe('other');
  });
});
