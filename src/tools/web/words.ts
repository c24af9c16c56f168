const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: '\'', nbsp: ' ', mdash: '—', ndash: '–', hellip: '…' };

/** The few entities that titles and plain text hold. */
export function entities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{1,8}));/gi, (whole, decimal: string | undefined, hex: string | undefined, name: string | undefined) => {
    if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole;
    const code = Number.parseInt(decimal ?? hex ?? '', decimal === undefined ? 16 : 10);
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : whole;
  });
}

const UNREAD = ['script', 'style', 'noscript', 'template'];

/** The bare words of a page, in one pass whatever is in it: for pages that no parser can take. */
export function wordsOf(html: string): string {
  const lower = html.toLowerCase();
  const pieces: string[] = [];
  for (let at = 0; at < html.length;) {
    const tag = html.indexOf('<', at);
    if (tag === -1) {
      pieces.push(html.slice(at));
      break;
    }
    pieces.push(html.slice(at, tag), ' ');
    const unread = UNREAD.find((name) => lower.startsWith(name, tag + 1));
    const close = unread === undefined ? html.indexOf('>', tag) : endOf(lower, unread, tag);
    if (close === -1) break;
    if (/^<\/?(?:p|div|h[1-6]|li|tr|br|section|article|pre|table)\b/.test(lower.slice(tag, tag + 12))) pieces.push('\n');
    at = close + 1;
  }
  return entities(pieces.join('')).replace(/[ \t\r\f\v]+/g, ' ').replace(/ ?\n[ \n]*/g, '\n').trim();
}

function endOf(lower: string, name: string, from: number): number {
  const end = lower.indexOf(`</${name}`, from);
  return end === -1 ? -1 : lower.indexOf('>', end);
}
