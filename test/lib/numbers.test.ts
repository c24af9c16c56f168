import { describe, expect, it } from 'vitest';
import { ago, bytes, dollars, percent, tokens } from '#lib/numbers.ts';

describe('numbers for people', () => {
  it.each([[0, '0'], [812, '812'], [999.4, '999'], [999.6, '1k'], [1000, '1k'], [8_440, '8.4k'], [9_949, '9.9k'], [9_950, '10k'], [134_200, '134k'], [999_499, '999k'], [999_500, '1M'], [1_230_000, '1.2M']])('%d tokens: %s', (n, text) => {
    expect(tokens(n)).toBe(text);
  });

  it.each([[undefined, '$?'], [0, '$0'], [0.00001, '<$0.0001'], [0.0042, '$0.0042'], [0.01, '$0.01'], [12.345, '$12.35']])('%d dollars: %s', (usd, text) => {
    expect(dollars(usd)).toBe(text);
  });

  it.each([[0, '0%'], [0.001, '<1%'], [0.005, '1%'], [0.5, '50%'], [1, '100%'], [1.2, '120%'], [Number.NaN, '0%'], [Infinity, '0%']])('a share of %d: %s', (share, text) => {
    expect(percent(share)).toBe(text);
  });

  it.each([[0, '0 B'], [1023, '1023 B'], [1024, '1 KiB'], [8_600, '8.4 KiB'], [10_190, '10 KiB'], [1_048_500, '1 MiB'], [3 * 1024 ** 2, '3 MiB']])('%d bytes: %s', (n, text) => {
    expect(bytes(n)).toBe(text);
  });

  it.each([[-5, 'now'], [59_000, 'now'], [60_000, '1 min ago'], [59 * 60_000, '59 min ago'], [3_600_000, '1 h ago'], [47 * 3_600_000, '47 h ago'], [48 * 3_600_000, '2 days ago']])('%d ms: %s', (ms, text) => {
    expect(ago(ms)).toBe(text);
  });
});
