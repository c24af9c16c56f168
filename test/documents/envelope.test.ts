import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { documentText, textEnvelope } from '#documents/envelope.ts';
import { mimeOf } from '#documents/mime.ts';
import { renderReminder } from '#domain/reminder.ts';
import { decode } from '#lib/decode.ts';
import { restore } from '#lib/defuse.ts';
import { wellFormed } from '#lib/text.ts';
import { readCases } from '../support/cases.ts';

interface Case { readonly id: string; readonly kind: string; readonly channel: string; readonly name?: string; readonly display_name?: string; readonly body: string }
const { cases } = readCases('envelope-injection') as { readonly cases: readonly Case[] };

const PLACEHOLDER = /ctx-k7Qm2xV9/gi;

function tagOf(name: string, mime: string): string {
  return /^<([^>]*)>/.exec(textEnvelope(name, mime, ''))?.[1] ?? '';
}

/** The case with the product's own delimiter in the place of the list's; in the case's capitals where it plays with those. */
function aimed(known: Case): { readonly name: string; readonly mime: string; readonly tag: string; readonly body: string } {
  const name = known.name ?? `${known.channel}.txt`;
  const mime = mimeOf(name, decode(Buffer.from('text')));
  const tag = tagOf(name, mime);
  const body = known.body.replace(PLACEHOLDER, (found) => (found === found.toUpperCase() ? tag.toUpperCase() : tag));
  return { name, mime, tag, body };
}

/** What a strict reader gets back: blocks whose tags stand alone on a line, and the lines outside. */
function parse(text: string): { readonly blocks: readonly { readonly tag: string; readonly body: string }[]; readonly outside: readonly string[] } {
  const blocks: { tag: string; body: string }[] = [];
  const outside: string[] = [];
  let open: { tag: string; lines: string[] } | undefined;
  for (const line of text.split('\n')) {
    const opening = /^<(document-[a-z0-9-]+)>$/.exec(line)?.[1];
    if (open === undefined && opening !== undefined) open = { tag: opening, lines: [] };
    else if (open !== undefined && line === `</${open.tag}>`) {
      blocks.push({ tag: open.tag, body: open.lines.join('\n') });
      open = undefined;
    } else (open === undefined ? outside : open.lines).push(line);
  }
  return { blocks, outside };
}

function rendered(known: Case): string {
  const { name, mime, body } = aimed(known);
  return documentText({ label: name, mime, text: body, lines: body.split('\n').length, bytes: Buffer.byteLength(body) });
}

function nameIn(header: string): string {
  const quoted = /^File "((?:[^"\\]|\\.)*)": /.exec(header)?.[1] ?? '';
  return quoted.replace(/\\u\{([0-9A-F]+)\}|\\(.)/g, (_, hex: string | undefined, plain: string) => (hex === undefined ? plain : String.fromCodePoint(Number.parseInt(hex, 16))));
}

describe('hostile names and bodies', () => {
  it.each(cases.map((known) => [known.id, known] as const))('%s stays in one block that gives name and body back', (_, known) => {
    const { name, tag, body } = aimed(known);
    const text = rendered(known);
    const { blocks, outside } = parse(text);
    expect(blocks.map((block) => block.tag)).toEqual([tag]);
    expect(restore(blocks[0]?.body ?? '')).toBe(wellFormed(body));
    expect(outside).toHaveLength(1);
    const [header = ''] = outside;
    expect(header).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
    expect(header).toContain(`File "${known.display_name ?? name}": `);
    if (!header.includes('…')) expect(nameIn(header)).toBe(name);
    if (known.kind === 'fidelity') expect(blocks[0]?.body).toBe(wellFormed(body));
    expect(rendered(known)).toBe(text);
  });

  it.each(cases.map((known) => [known.id, known] as const))('%s leaves one opening and one closing line in a reminder', (_, known) => {
    const reminder = renderReminder([rendered(known), rendered({ ...known, name: 'other.md', body: 'other' })]);
    const lines = reminder.split('\n');
    const { tag } = aimed(known);
    const spelt = (pattern: string): readonly string[] => lines.filter((line) => new RegExp(`^\\s*${pattern}\\s*>?\\s*$`, 'i').test(line));
    expect(spelt(`<${tag}`)).toHaveLength(1);
    expect(spelt(`<[\\s/]*/\\s*${tag}`)).toHaveLength(1);
    expect(lines.filter((line) => /<[\s/]*system[-_]reminder/i.test(line))).toEqual(['<system-reminder>', '</system-reminder>']);
    expect(parse(reminder).blocks).toHaveLength(2);
    expect(reminder.isWellFormed()).toBe(true);
    expect(JSON.parse(JSON.stringify(reminder))).toBe(reminder);
  });

  it('gives any body back, within a reminder too', () => {
    const pieces = fc.array(fc.oneof(fc.constantFrom('<', '</', '>', '\n', 'document-a-md-text-markdown', 'system-reminder', '[defused:document]', '[defused:system]', '\u200b', ' ', '+'), fc.string({ maxLength: 5 })), { maxLength: 20 });
    fc.assert(fc.property(pieces, (parts) => {
      const body = parts.join('');
      const reminder = renderReminder([textEnvelope('a.md', 'text/markdown', body)]);
      const inner = /<document-a-md-text-markdown>\n([^]*)\n<\/document-a-md-text-markdown>\n<\/system-reminder>$/.exec(reminder)?.[1];
      expect(restore(inner ?? '')).toBe(body);
    }), { numRuns: 2000 });
  });
});

describe('the tag', () => {
  it('is made of name and type', () => {
    expect(textEnvelope('report.md', 'text/markdown', 'x')).toBe('<document-report-md-text-markdown>\nx\n</document-report-md-text-markdown>');
    expect(textEnvelope('', '', '')).toBe('<document-doc>\n\n</document-doc>');
    expect(tagOf('src/A B.ts', 'text/typescript')).toBe('document-src-a-b-ts-text-typescript');
  });
  it('ends in a hash of the name when letters were lost', () => {
    expect(tagOf('résumé.md', 'text/markdown')).toMatch(/^document-r-sum-md-text-markdown-[0-9a-f]{8}$/);
    expect(tagOf('日本語.txt', 'text/plain')).toMatch(/^document-txt-text-plain-[0-9a-f]{8}$/);
    expect(tagOf('日本.txt', 'text/plain')).not.toBe(tagOf('日木.txt', 'text/plain'));
  });
  it('is cut at 80 characters and then ends in a hash of the name', () => {
    const long = `${'deep/'.repeat(30)}a.ts`;
    expect(tagOf(long, 'text/plain')).toMatch(/^document-[a-z-]{71}-[0-9a-f]{8}$/);
    expect(tagOf(long, 'text/plain')).not.toBe(tagOf(`${'deep/'.repeat(30)}b.ts`, 'text/plain'));
  });
});

describe('the header line', () => {
  it('says path, lines and bytes, and how to read on after a cut', () => {
    expect(documentText({ label: 'a.md', mime: 'text/markdown', text: 'x\n', lines: 1, bytes: 2 })).toBe('File "a.md": 1 line, 2 bytes\n<document-a-md-text-markdown>\nx\n\n</document-a-md-text-markdown>');
    const cut = documentText({ label: 'a.md', mime: 'text/markdown', text: 'x\ny\n', lines: 90, bytes: 400, shown: { from: 1, to: 2, cutInLine: false, more: true } });
    expect(cut).toMatch(/^File "a.md": lines 1-2 of 90 lines, 400 bytes\n/);
    expect(cut).toMatch(/\n\[shown: lines 1-2 of 90 \(4 of 400 bytes\); read on with Read from line 3\]$/);
  });
});
