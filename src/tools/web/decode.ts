import { decode } from '#lib/decode.ts';

/** Where a page names its own encoding. */
const HEAD_BYTES = 2048;

/**
 * The text of a body: by its byte order mark, by what the server says, by what the page says, else by its bytes. A name that
 * is unknown or does not fit the bytes counts as none. Undefined for what is no text. `cut`: the last character may be torn.
 */
export function textOfBody(body: Buffer, type: string, cut: boolean): { readonly text: string; readonly charset: string } | undefined {
  const bytes = cut ? withoutHalf(body) : body;
  const guess = decode(bytes);
  if (guess.kind === 'text' && guess.bom) return { text: guess.text, charset: guess.encoding };
  const head = bytes.toString('latin1', 0, HEAD_BYTES);
  const named = [/charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(type)?.[1], /<meta[^>]{1,200}charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(head)?.[1], /^<\?xml[^>]{1,200}encoding\s*=\s*["']([\w.:-]+)/.exec(head)?.[1]];
  for (const charset of named) {
    const text = charset === undefined ? undefined : decoded(bytes, charset);
    if (text !== undefined) return { text, charset: charset?.toLowerCase() ?? '' };
  }
  return guess.kind === 'text' ? { text: guess.text, charset: guess.encoding } : undefined;
}

/** A page in another encoding has no zeros, unless that is UTF-16. */
function decoded(bytes: Buffer, charset: string): string | undefined {
  try {
    const decoder = new TextDecoder(charset, { fatal: true });
    return bytes.includes(0) && !decoder.encoding.startsWith('utf-16') ? undefined : decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Without the bytes of a character that was cut. */
function withoutHalf(bytes: Buffer): Buffer {
  let start = bytes.length - 1;
  while (start > 0 && start > bytes.length - 4 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  const first = bytes[start] ?? 0;
  const needs = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return start + needs > bytes.length ? bytes.subarray(0, start) : bytes;
}
