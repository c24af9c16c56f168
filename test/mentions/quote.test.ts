import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findMentions } from '#mentions/parse.ts';
import { mentionText } from '#mentions/quote.ts';
import { nameFromBytes } from '#lib/names.ts';
import { readCases } from '../support/cases.ts';

const { names } = readCases('filenames') as { readonly names: readonly { readonly id: string; readonly name?: string; readonly bytes_b64?: string; readonly mention: string | null }[] };

describe('the text that mentions a name', () => {
  it.each(names.map((known) => [known.id, known] as const))('%s', (_, known) => {
    expect(mentionText(known.name ?? nameFromBytes(Buffer.from(known.bytes_b64 ?? '', 'base64'))) ?? null).toBe(known.mention);
  });

  it('is read as that name again, in the middle of a sentence', async () => {
    const name = fc.array(fc.oneof(
      fc.constantFrom('a', 'B', '.', '/', ' ', '@', '\\', ':', '1', '#L', '`', '(', ']', '日', '。', 'é', 'e\u0301', '"', '~', '-', '_', '\u3000', '\ufeff', '\u200b', '😀', ','),
      fc.string({ unit: 'grapheme', maxLength: 3 }),
    ), { minLength: 1, maxLength: 12 }).map((parts) => parts.join(''));
    await fc.assert(fc.asyncProperty(name, fc.constantFrom('', ' now', '\nthen', ' `x`'), async (path, after) => {
      const mention = mentionText(path);
      if (mention === undefined) return;
      const { mentions } = await findMentions(`see ${mention}${after}`, (asked) => (asked === path ? asked : undefined));
      expect(mentions).toMatchObject([{ found: path, raw: mention }]);
      expect(mentions).toHaveLength(1);
    }), { numRuns: 1500 });
  });
});
