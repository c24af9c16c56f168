/** A stretch of text that is code: nothing in it is a mention. Offsets are UTF-16 units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/** Fenced blocks, in order; one that is never closed goes to the end. */
export function fencesIn(text: string): readonly Span[] {
  const spans: Span[] = [];
  let open: { readonly start: number; readonly mark: string } | undefined;
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline + 1;
    const mark = FENCE.exec(text.slice(start, Math.min(end, start + 512)))?.[1];
    if (mark !== undefined && open === undefined) open = { start, mark };
    else if (mark !== undefined && open !== undefined && mark.startsWith(open.mark)) {
      spans.push({ start: open.start, end });
      open = undefined;
    }
    start = end;
  }
  return open === undefined ? spans : [...spans, { start: open.start, end: text.length }];
}

/**
 * Tells where the inline code ends that begins at a run of backticks; undefined when no run of the same length closes it
 * in the same paragraph. To be asked with growing offsets: every run is looked at once for each length of run at most.
 */
export function createCodeSpans(text: string): (start: number, end: number) => number | undefined {
  const closers = new Map<number, number[]>();
  for (const { 0: run, index } of text.matchAll(/`+/g)) {
    const known = closers.get(run.length);
    if (known === undefined) closers.set(run.length, [index]);
    else known.push(index);
  }
  const at = new Map<number, number>();
  let paragraphEnd = -1;
  return (start, end) => {
    const length = end - start;
    const starts = closers.get(length) ?? [];
    let next = at.get(length) ?? 0;
    while (next < starts.length && (starts[next] ?? 0) < end) next += 1;
    at.set(length, next);
    if (paragraphEnd < start) paragraphEnd = endOfParagraph(text, start);
    const close = starts[next];
    return close === undefined || close >= paragraphEnd ? undefined : close + length;
  };
}

function endOfParagraph(text: string, from: number): number {
  const blank = /\n[ \t\r]*\n/g;
  blank.lastIndex = from;
  return blank.exec(text)?.index ?? text.length;
}
