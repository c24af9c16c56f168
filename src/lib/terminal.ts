import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';
import { markControls } from './marks.ts';

/** How outside text is made fit for the terminal. */
export interface SanitiseOptions {
  /** `false`: a line feed becomes a visible mark too, for what must stay on one line (titles, names, paths). Default: kept. */
  readonly newlines?: boolean;
  /** Distance of tab stops in columns: tabs become spaces. Without it a tab stays a tab. */
  readonly tabs?: number;
  /** Well-formed colour sequences (SGR) vanish instead of being shown as marks: for output of programs. Default: shown. */
  readonly dropColours?: boolean;
}

export interface Sanitiser {
  /** The part of all text so far that can be shown already. A half sequence, half character or CR at the end waits. */
  push(chunk: string): string;
  /** What still waited. */
  end(): string;
}

const PLAIN = /^[\x20-\x7e\n]*$/;
const PLAIN_LINE = /^[\x20-\x7e]*$/;
const COLOURS = /\x1b\[[0-9;:]{0,64}m/g;
/** Colours that may still be coming: the beginning of an SGR sequence, a CR whose LF may follow, half a surrogate pair. */
const UNFINISHED = /(?:\x1b(?:\[[0-9;:]{0,64})?|\r|[\ud800-\udbff])$/;
/**
 * The one way for text from outside (files, models, programs, servers) to the terminal. What is left can only be printed:
 * every control character, 8-bit ones and those that turn the writing direction included, stands there as a visible mark
 * (`␛`, `<U+009B>`), so an escape sequence is seen and does nothing, finished or not. Lone surrogates become U+FFFD,
 * CR LF becomes LF. Linear in the length of the text.
 */
export function sanitise(text: string, options: SanitiseOptions = {}): string {
  const clean = PLAIN.test(text) ? text : mark(text.toWellFormed(), options);
  const line = options.newlines === false ? clean.replaceAll('\n', '␊') : clean;
  return options.tabs === undefined ? line : expandTabs(line, options.tabs);
}

/** As {@link sanitise}, over text that comes in chunks cut anywhere: the outputs joined equal the whole text sanitised at once. */
export function createSanitiser(options: SanitiseOptions = {}): Sanitiser {
  const { tabs, ...rest } = options;
  let waiting = '';
  let column = 0;
  const settle = (text: string): string => {
    const clean = sanitise(text, rest);
    if (tabs === undefined) return clean;
    const shown = expandTabs(clean, tabs, column);
    const lineStart = shown.lastIndexOf('\n') + 1;
    column = (lineStart === 0 ? column : 0) + width(shown.slice(lineStart));
    return shown;
  };
  return {
    push(chunk) {
      const text = waiting + chunk;
      waiting = UNFINISHED.exec(text)?.[0] ?? '';
      return settle(text.slice(0, text.length - waiting.length));
    },
    end() {
      const last = waiting;
      waiting = '';
      return settle(last);
    },
  };
}

function mark(text: string, options: SanitiseOptions): string {
  // Line ends first: a colour between CR and LF keeps them apart, in one text as in chunks.
  const lines = text.replaceAll('\r\n', '\n');
  return markControls(options.dropColours === true ? lines.replace(COLOURS, '') : lines);
}

/** Tabs as spaces up to the next stop, in display columns, line by line; the first line begins at column `from`. */
export function expandTabs(text: string, stop = 4, from = 0): string {
  if (!text.includes('\t')) return text;
  return text.split('\n').map((line, index) => {
    const [first = '', ...rest] = line.split('\t');
    let column = (index === 0 ? from : 0) + width(first);
    let out = first;
    for (const piece of rest) {
      const gap = stop - (column % stop);
      out += ' '.repeat(gap) + piece;
      column += gap + width(piece);
    }
    return out;
  }).join('\n');
}

/** Columns that one line takes in the terminal; colour sequences take none, a tab none (expand it first). */
export function width(line: string): number {
  return PLAIN_LINE.test(line) ? line.length : stringWidth(line);
}

/**
 * Wraps text to lines of at most `columns` columns (at least 1): between words where it can, else inside them, never inside a
 * grapheme. Spaces stay; colours (SGR) are closed at a line's end and opened again on the next one.
 */
export function wrapLines(text: string, columns: number): string[] {
  const limit = Math.max(1, columns);
  return text.split('\n').flatMap((line) =>
    line.length <= limit && PLAIN_LINE.test(line) ? [line] : wrapAnsi(line, limit, { hard: true, trim: false }).split('\n'));
}

let segmenter: Intl.Segmenter | undefined;

/** One line cut to at most `columns` columns, the last one an ellipsis if something was cut. Takes plain text, without colours. */
export function truncateTo(line: string, columns: number, ellipsis = '…'): string {
  if (columns <= 0) return '';
  if (PLAIN_LINE.test(line)) return line.length <= columns ? line : line.slice(0, Math.max(0, columns - width(ellipsis))) + ellipsis;
  if (width(line) <= columns) return line;
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  const room = columns - width(ellipsis);
  let used = 0;
  let out = '';
  for (const { segment } of segmenter.segment(line)) {
    used += width(segment);
    if (used > room) break;
    out += segment;
  }
  return out + ellipsis;
}
