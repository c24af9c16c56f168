import { alike } from './files/target.ts';
import { linesOf, numbered } from './lines.ts';

const MOST_SHOWN = 8;
/** Files with more lines are not searched for what is near. */
const MOST_LINES = 20_000;
const LEAST_LIKENESS = 0.55;

/** Why a text was not found, for the model: the place most like it with line numbers, and in what it differs. Empty when nothing is like it. */
export function describeMiss(text: string, wanted: string): string {
  const lines = linesOf(text);
  const parts = linesOf(wanted);
  if (lines.length > MOST_LINES) return '';
  const anchor = parts.map((line, index) => ({ line, index })).sort((a, b) => b.line.trim().length - a.line.trim().length)[0];
  if (anchor === undefined || anchor.line.trim().length < 2) return '';
  const best = nearestLine(lines, anchor.line);
  if (best === undefined) return '';
  const from = Math.max(0, best - anchor.index);
  const shown = lines.slice(from, from + Math.min(parts.length, MOST_SHOWN)).map((line) => line.slice(0, 300));
  const difference = parts.map((part, index) => ({ part, line: lines[from + index] ?? '' })).find(({ part, line }) => part !== line);
  return `\nNearest, from line ${from + 1}:\n${numbered(shown, from + 1)}${difference === undefined ? '' : `\n${howTheyDiffer(difference.part, difference.line)}`}`;
}

function nearestLine(lines: readonly string[], wanted: string): number | undefined {
  let best: number | undefined;
  let most = LEAST_LIKENESS;
  const sought = wanted.trim();
  for (const [index, line] of lines.entries()) {
    const trimmed = line.trim();
    if (Math.abs(trimmed.length - sought.length) > sought.length) continue;
    const likeness = trimmed === sought ? 2 : alike(trimmed.slice(0, 500), sought.slice(0, 500));
    if (likeness > most) [best, most] = [index, likeness];
  }
  return best;
}

function howTheyDiffer(wanted: string, line: string): string {
  if (wanted.trim() === line.trim()) {
    return `It differs in blanks: the file's line begins with ${blanksOf(line)}, yours with ${blanksOf(wanted)}${/\s$/.test(line) || /\s$/.test(wanted) ? '; blanks at the end differ or are there' : ''}.`;
  }
  let at = 0;
  while (at < wanted.length && wanted[at] === line[at]) at += 1;
  const theirs = codePoint(line, at);
  const yours = codePoint(wanted, at);
  const strange = Array.from(line).filter((character) => character > '\u007f').map((character) => codePoint(character, 0));
  return `First difference at column ${at + 1}: the file has ${theirs}, you sent ${yours}.${strange.length > 0 ? ` The file's line holds ${[...new Set(strange)].slice(0, 5).join(', ')}.` : ''}`;
}

function blanksOf(line: string): string {
  const blanks = /^\s*/.exec(line)?.[0] ?? '';
  const tabs = blanks.split('\t').length - 1;
  const rest = blanks.length - tabs;
  return [tabs > 0 ? `${tabs} tab${tabs === 1 ? '' : 's'}` : '', rest > 0 ? `${rest} blank${rest === 1 ? '' : 's'}` : ''].filter((text) => text !== '').join(' and ') || 'none';
}

function codePoint(text: string, at: number): string {
  const code = text.codePointAt(at);
  if (code === undefined) return 'the end of the line';
  const name = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  return code > 0x20 && code < 0x7f ? `"${String.fromCodePoint(code)}"` : name;
}
