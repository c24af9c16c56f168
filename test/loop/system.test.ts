import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { systemBlocks } from '#loop/system.ts';

describe('the system prompt', () => {
  const text = systemBlocks().map((block) => block.text).join('\n');

  it('is what was reviewed', async () => {
    await expect(text).toMatchFileSnapshot('../golden/system.txt');
  });
  it('is short', () => {
    expect(countTokens(text)).toBeLessThan(2500);
  });
  it('holds nothing that changes, and no secrecy', () => {
    expect(text).not.toMatch(/\b20\d\d\b|\/home\/|linux|darwin|branch:|never mention/i);
    expect(systemBlocks()).toEqual(systemBlocks());
  });
  it('takes the user\'s addition as a block of its own', () => {
    expect(systemBlocks('  Speak French. ').map((block) => block.text)).toEqual([text, 'Speak French.']);
    expect(systemBlocks(' ')).toHaveLength(1);
  });
});
