import { sanitise } from '#lib/terminal.ts';
import { clip } from './lines.ts';
import type { Theme } from './theme.ts';

/** Lines of a person's own status line that are kept. */
const MOST_LINES = 8;
/** UTF-16 units of one line that are looked at. */
const LONGEST_LINE = 4096;
const LONGEST_LINK = 2048;

/** Colours, links, and whatever else of escape sequences is well-formed; what is not stays for the sanitiser. */
const SEQUENCES = /\x1b\[(?<colour>[0-9;:]{0,64})m|\x1b\]8;[^;\x07\x1b]{0,256};(?<link>[^\x07\x1b]*)(?:\x07|\x1b\\)|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[ -/]+[0-~]|\x1b[=>78c]/g;
const LINK = /^(?:https?|file|mailto):[\x21-\x7e]+$/;
const OPENS = /^(?!0*(?:;0*)*$)/;
const END_LINK = '\x1b]8;;\x1b\\';
const COLOURS_AND_LINKS = /\x1b\[[0-9;:]*m|\x1b\]8;[^\x07\x1b]*(?:\x07|\x1b\\)/g;

/**
 * What a person's status line command wrote, as lines: colours (SGR) and links (OSC 8) stay, other well-formed sequences are
 * dropped, and every other control character is a visible mark. Each line closes what it opened.
 */
export function statusLinesOf(output: string): readonly string[] {
  const lines = output.replaceAll('\r\n', '\n').split('\n').map((line) => cleaned(line.slice(0, LONGEST_LINE)).trimEnd());
  while (lines.at(-1) === '') lines.pop();
  while (lines[0] === '') lines.shift();
  return lines.slice(0, MOST_LINES);
}

function cleaned(line: string): string {
  let out = '';
  let at = 0;
  let coloured = false;
  let linked = false;
  for (const match of line.matchAll(SEQUENCES)) {
    out += sanitise(line.slice(at, match.index), { newlines: false, tabs: 4 });
    at = match.index + match[0].length;
    const { colour, link } = match.groups ?? {};
    if (colour !== undefined) {
      coloured = OPENS.test(colour);
      out += match[0];
    } else if (link === '' && linked) {
      linked = false;
      out += END_LINK;
    } else if (link !== undefined && link !== '' && link.length <= LONGEST_LINK && LINK.test(link)) {
      linked = true;
      out += `\x1b]8;;${link}\x1b\\`;
    }
  }
  return `${out}${sanitise(line.slice(at), { newlines: false, tabs: 4 })}${linked ? END_LINK : ''}${coloured ? '\x1b[0m' : ''}`;
}

/** Lines of {@link statusLinesOf} as they are drawn: at most `most`, none wider than `columns`; without colours where the theme has none. */
export function drawStatusLines(lines: readonly string[], most: number, columns: number, theme: Theme): readonly string[] {
  const plain = theme('dim', '.') === '.';
  return lines.slice(0, Math.max(0, most)).map((line) => clip(plain ? line.replace(COLOURS_AND_LINKS, '') : line, columns));
}
