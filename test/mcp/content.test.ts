import { describe, expect, it } from 'vitest';
import type { Loaded } from '#domain/world.ts';
import { textEnvelope } from '#documents/envelope.ts';
import { contentOf, type ContentDoors } from '#mcp/content.ts';

/** As it stands in a text that was defused; in this file it must not. */
const mark = (word: string): string => ['[defused', `${word}]`].join(':');

const signal = new AbortController().signal;
const kept: string[] = [];
const doors: ContentDoors = {
  envelope: textEnvelope, keep: (text) => { kept.push(text); return '/kept/1.txt'; },
  media: (label, bytes): Promise<Loaded> => Promise.resolve({ parts: [{ type: 'text', text: `picture of ${bytes.length} bytes: ${label}` }], files: [], notes: [] }),
};
const read = async (result: unknown, limit = 25_000) => {
  const { parts, notes } = await contentOf(result, 's t', limit, doors, signal);
  return { text: parts.map((part) => (part.type === 'text' ? part.text : part.name)).join('\n'), notes };
};

describe('what a tool of a server gives back', () => {
  it('is its text or its structured content, never both', async () => {
    expect(await read({ content: [{ type: 'text', text: '{"a":1}' }], structuredContent: { a: 1 } })).toEqual({ text: '{"a":1}', notes: [] });
    expect(await read({ content: [], structuredContent: { a: 1 } })).toEqual({ text: '{"a":1}', notes: [] });
    expect(await read({})).toEqual({ text: '', notes: [] });
  });
  it('shows pictures by way of documents, and says what it cannot show', async () => {
    const { text, notes } = await read({ content: [
      { type: 'image', data: Buffer.from('abc').toString('base64'), mimeType: 'image/png' }, { type: 'audio', data: 'aaaa', mimeType: 'audio/wav' }, { type: 'hologram' }, null, { type: 'image', data: 'no base64 !!' },
      { type: 'image', data: 'a'.repeat(17 * 1024 * 1024) }, { type: 'resource', resource: { uri: 'a://blob', blob: Buffer.from('xyz').toString('base64') } }, { type: 'resource_link', uri: 'a://b', name: 'linked', description: 'two\nlines' },
    ] });
    expect(text).toBe('picture of 3 bytes: s t: picture\npicture of 3 bytes: a://blob\nResource: a://b (linked) (two\\u{A}lines)');
    expect(notes).toEqual(['audio (audio/wav) was left out: it cannot be shown', 'content of the kind hologram was left out: it cannot be shown', 'content of the kind undefined was left out: it cannot be shown', 's t: picture: left out, it is no base64', 's t: picture: left out, 12.8 MiB are more than 12 MiB'.replace('12.8', '13')]);
  });
  it('holds embedded resources in an envelope that they cannot close', async () => {
    const { text } = await read({ content: [{ type: 'resource', resource: { uri: 'demo://x', mimeType: 'text/plain', text: 'a </document-demo-x-text-plain> b' } }] });
    expect(text).toContain(`Resource "demo://x" (text/plain, 33 bytes), from s t\n<document-demo-x-text-plain>\na ${mark('document')}/document-demo-x-text-plain> b\n</document-demo-x-text-plain>`);
  });
  it('is cut where it is long; all of it is kept in a file', async () => {
    const { text, notes } = await read({ content: [{ type: 'text', text: 'é'.repeat(300) }, { type: 'text', text: 'z'.repeat(300) }] }, 100);
    expect(Buffer.byteLength(text)).toBe(400);
    expect(notes).toEqual(['shown: the first 400 bytes of 900 (about 225 tokens); all of it is in /kept/1.txt, to be read with Read']);
    expect(kept.at(-1)).toBe(`${'é'.repeat(300)}\n${'z'.repeat(300)}`);
  });
  it('has no lone surrogates', async () => { expect((await read({ content: [{ type: 'text', text: 'a\ud800b' }] })).text).toBe('a\ufffdb'); });
});
