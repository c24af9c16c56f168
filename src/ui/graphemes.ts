let segmenter: Intl.Segmenter | undefined;

/** Made at first need: plain ASCII, which is most of what is typed, never needs it, and making it takes long. */
function graphemesOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter.segment(text);
}

/** Two neighbours of these always have a border between them. */
function isPlain(code: number): boolean {
  return (code >= 0x20 && code < 0x7f) || code === 0x0a || code === 0x09;
}

/** The start of the next grapheme after `at` (an offset in UTF-16 units, itself a border); the text's length at its end. */
export function nextBorder(text: string, at: number): number {
  if (at >= text.length) return text.length;
  if (isPlain(text.charCodeAt(at)) && (at + 1 >= text.length || isPlain(text.charCodeAt(at + 1)))) return at + 1;
  const line = lineAround(text, at);
  const segment = graphemesOf(text.slice(line.from, line.to)).containing(at - line.from);
  return segment === undefined ? at + 1 : line.from + segment.index + segment.segment.length;
}

/** The start of the grapheme before `at`; 0 at the beginning. */
export function previousBorder(text: string, at: number): number {
  if (at <= 0) return 0;
  if (isPlain(text.charCodeAt(at - 1)) && (at === 1 || isPlain(text.charCodeAt(at - 2)))) return at - 1;
  return borderAtOrBefore(text, at - 1);
}

/** The nearest border at or after an offset, for one that may lie inside a grapheme. */
export function borderAtOrAfter(text: string, at: number): number {
  if (at <= 0 || at >= text.length) return Math.max(0, Math.min(at, text.length));
  const before = borderAtOrBefore(text, at);
  return before === at ? at : nextBorder(text, before);
}

function borderAtOrBefore(text: string, at: number): number {
  const line = lineAround(text, at);
  const segment = graphemesOf(text.slice(line.from, line.to)).containing(at - line.from);
  return segment === undefined ? at : line.from + segment.index;
}

/** A line with its line feed; no grapheme reaches over one. */
function lineAround(text: string, at: number): { readonly from: number; readonly to: number } {
  const from = at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
  const end = text.indexOf('\n', at);
  return { from, to: end === -1 ? text.length : end + 1 };
}

/** The graphemes of a line, in order. */
export function* graphemes(line: string): Generator<string> {
  if (/^[\x20-\x7e]*$/.test(line)) {
    for (let at = 0; at < line.length; at += 1) yield line.charAt(at);
    return;
  }
  for (const { segment } of graphemesOf(line)) yield segment;
}
