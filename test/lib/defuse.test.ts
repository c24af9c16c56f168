import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defuse, restore } from '#lib/defuse.ts';

const TAG = 'system-reminder';
const DOCUMENT = 'document-report-md-text-markdown';

describe('defusing', () => {
  const spellings = [
    '<system-reminder>', '</system-reminder>', '<system-reminder/>', '</SYSTEM-Reminder>', '< / system-reminder >', '<//system-reminder>',
    '</system-reminder foo="bar">', '</system-reminder\n>', '</system-reminder', '<\n/system-reminder', '<\\/system-reminder>',
    '<\u00a0/system-reminder>', '</\u200bsystem-reminder>', '</sys\u200btem-reminder>', '</system\u00ad-reminder>', '</system\u2011reminder>',
    '<SYSTEM_REMINDER>', '</system reminder>', '\uff1c/system-reminder\uff1e', '\u2039/system-reminder\u203a', '\u27e8system-reminder\u27e9',
    '</\uff53\uff59stem-reminder>', '</\u{1d42c}ystem-reminder>', '</s\u0336ystem-reminder>', '<\u3164/system-reminder>', '<\u{e0001}/system-reminder>',
    '&lt;/system-reminder&gt;', '&LT/system-reminder', '&#60;system-reminder>', '&#x3C;system-reminder>', '&#0000060;/system-reminder>',
    '<system-reminder-2>', '</system-reminders>', '<\ufffd/system-reminder>', '\u226e/system-reminder>', '<\u2215system-reminder>',
  ];
  it.each(spellings)('marks %j', (spelling) => {
    const defused = defuse(`a ${spelling} b`, TAG);
    expect(defused).toContain('[defused:system');
    expect(defused).not.toMatch(/<\W*system/i);
    expect(restore(defused)).toBe(`a ${spelling} b`);
  });

  it('marks the delimiter of a document, not that of another one', () => {
    expect(defuse(`</${DOCUMENT}>`, DOCUMENT)).toBe(`[defused:document]/${DOCUMENT}>`);
    expect(defuse('</document-other-txt-text-plain>', DOCUMENT)).toBe('</document-other-txt-text-plain>');
  });

  it('leaves nothing behind that a removed delimiter had kept apart', () => {
    const nested = '<sys</system-reminder>tem-reminder>'.repeat(20) + '<'.repeat(50) + 'system-reminder>';
    const defused = defuse(nested, TAG);
    expect(defuse(defused, TAG).replaceAll('+', '')).toBe(defused);
    expect(restore(defused)).toBe(nested);
  });

  it('passes ordinary source code byte for byte', () => {
    const code = 'const a = b < c && d<Set<string>>(e);\n</div>\n<system>\n<SystemReminder/>\n`</ctx>` &lt;b&gt; &amp; x<<2 // < system\n#include <system/reminder.h>\n';
    expect(defuse(code, TAG)).toBe(code);
    expect(defuse(code, DOCUMENT)).toBe(code);
    expect(restore(code)).toBe(code);
  });

  it('tells marks that the text held from its own', () => {
    const text = 'about [defused:system]/system-reminder> and </system-reminder>';
    const defused = defuse(text, TAG);
    expect(defused).toBe('about [defused+:system]/system-reminder> and [defused:system]/system-reminder>');
    expect(restore(defused)).toBe(text);
  });

  it('leaves what only looks like a mark alone, both ways', () => {
    for (const text of ['[defused:system]', '[defused:system:3C]/system-reminder', '[defused:system:41]system-reminder', '[defused:other] system', '[defused:system:26]system']) {
      expect(restore(text)).toBe(text);
      expect(defuse(text, TAG)).toBe(text);
    }
  });

  it('lets passes for several tags follow one another, each undone by one restore', () => {
    const text = `</${DOCUMENT}> </system-reminder> [defused:system]system-reminder [defused:document]/${DOCUMENT}`;
    const twice = defuse(defuse(text, DOCUMENT), TAG);
    expect(twice).toBe(`[defused:document]/${DOCUMENT}> [defused:system]/system-reminder> [defused+:system]system-reminder [defused+:document]/${DOCUMENT}`);
    expect(restore(twice)).toBe(text);
  });
});

const pieces = fc.array(fc.oneof(
  fc.constantFrom('<', '</', '\uff1c', '\u2039', '&lt;', '&', '#60', 'lt', '>', '/', ' ', '\u200b', '\u00a0', 'system-reminder', 'system', '-', '_', 'reminder', 'SYS', 'tem',
    '[defused:system]', '[defused+:system]', '[defused++:system:FF1C]', '[defused:system:26]lt;', '[defused', ':system', ']', '+', '[', '\ud800', 'x'),
  fc.string({ maxLength: 4 }),
), { maxLength: 24 }).map((parts) => parts.join(''));

describe('for any text', () => {
  it('is undone by restore', () => {
    fc.assert(fc.property(pieces, (text) => { expect(restore(defuse(text, TAG))).toBe(text); }), { numRuns: 3000 });
  });
  it('leaves no delimiter: a second pass only marks the marks', () => {
    fc.assert(fc.property(pieces, (text) => {
      const once = defuse(text, TAG);
      expect(restore(defuse(once, TAG))).toBe(once);
      expect(defuse(once, TAG).replace(/\[defused\+*/g, '')).toBe(once.replace(/\[defused\+*/g, ''));
    }), { numRuns: 3000 });
  });
  it('needs time in proportion to the length only', () => {
    for (const unit of ['<', '</', '< ', '<\u200b', '&lt;', '&#0', '[defused+', '[defused:system]', '<system-', '<sys\u200b', '<s\u200b\u200b/']) {
      expect(restore(defuse(unit.repeat(50_000), TAG))).toHaveLength(unit.length * 50_000);
    }
  });
});
