import { Help, type HelpConfiguration } from 'commander';

/** Columns beyond which lines grow no longer, and below which flags and what they do stand below each other. */
export const WIDEST = 80;
/** Columns below which nothing is wrapped. */
const NARROW = 16;

/** The columns that help is drawn for. */
export const helpColumns = (): number => (process.stdout.isTTY ? process.stdout.columns : WIDEST);

const usual = Object.assign(new Help(), { minWidthToWrap: NARROW });
const hang = (text: string): string => text.replace(/^/gm, '    ');

/** How help looks on a screen of so many columns. */
export function helpLook(screen: number): HelpConfiguration {
  const columns = Math.min(WIDEST, screen);
  return { helpWidth: columns, minWidthToWrap: NARROW, ...(columns < WIDEST && { formatItem: (term, _width, what) => `  ${term}\n${hang(usual.boxWrap(what, columns - 4))}` }) };
}

/** Paragraphs below the flags, an empty line between them. Lines that begin with blanks stay as they are: they are there to be copied. */
export function helpProse(paragraphs: readonly string[], screen: number): string {
  const columns = Math.min(WIDEST, screen);
  const wrapped = (paragraph: string): string => paragraph.split('\n').map((line) => (line.startsWith(' ') ? line : usual.boxWrap(line, columns))).join('\n');
  return `\n${paragraphs.map(wrapped).join('\n\n')}`;
}

/** Words and what they mean, below each other on a narrow screen. */
export function helpItems(items: readonly (readonly [term: string, what: string])[], screen: number): string {
  const widest = Math.max(...items.map(([term]) => term.length));
  return items.map(([term, what]) => (screen < WIDEST ? `  ${term}\n${hang(usual.boxWrap(what, screen - 4))}` : `  ${term.padEnd(widest)}  ${what}`)).join('\n');
}
