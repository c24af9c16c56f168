import { expect, it } from 'vitest';
import { parseDollars } from '#lib/money.ts';

it.each([['5', 5], ['$5', 5], ['5 usd', 5], ['5$', 5], ['USD 5', 5], ['5 dollars', 5], ['1 dollar', 1], ['0.50', 0.5], ['.5', 0.5], ['$ 1,000', 1000], ['1,234.5 USD', 1234.5], [' 2 ', 2]])('%s is a sum', (text, usd) => {
  expect(parseDollars(text)).toBe(usd);
});

it.each(['', '$', 'usd', '0', '0.00', '-1', '5 eur', '1,00', 'five', '1e3', '5 5', '2000000', '5.', 'NaN', 'Infinity'])('%j is none', (text) => {
  expect(parseDollars(text)).toBeUndefined();
});
