import { sanitise } from '#lib/terminal.ts';
import { hang, wrapVerbatim } from './lines.ts';
import type { Pen } from './pen.ts';

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

interface DiffLine {
  readonly sign: ' ' | '+' | '-' | '@' | '\\';
  /** Counted from 1, in the new text, or in the old one for a removed line. */
  readonly number: number;
  readonly text: string;
}

function parse(patch: string): readonly DiffLine[] {
  const lines: DiffLine[] = [];
  let before = 0;
  let after = 0;
  let first = true;
  for (const line of sanitise(patch).split('\n')) {
    const hunk = HUNK.exec(line);
    const text = line.slice(1);
    if (hunk !== null) {
      before = Number(hunk[1]);
      after = Number(hunk[2]);
      if (!first) lines.push({ sign: '@', number: 0, text: '' });
      first = false;
    } else if (line.startsWith('+')) lines.push({ sign: '+', number: after++, text });
    else if (line.startsWith('-')) lines.push({ sign: '-', number: before++, text });
    else if (line.startsWith(' ') || (line === '' && after > 0)) {
      lines.push({ sign: ' ', number: after++, text });
      before += 1;
    } else if (line.startsWith('\\')) lines.push({ sign: '\\', number: 0, text });
  }
  while (lines.at(-1)?.sign === ' ' && lines.at(-1)?.text === '') lines.pop();
  return lines;
}

/** A unified diff (hunks only) with line numbers and signs: what was added and removed is told without colours too. */
export function drawDiff(patch: string, language: string | undefined, pen: Pen): readonly string[] {
  const { columns, theme } = pen;
  const lines = parse(patch);
  const digits = String(Math.max(0, ...lines.map(({ number }) => number))).length;
  const room = columns - digits - 3;
  return lines.flatMap(({ sign, number, text }) => {
    if (sign === '@') return [theme('dim', `${' '.repeat(digits)} ⋯`)];
    if (sign === '\\') return [theme('dim', `${' '.repeat(digits)}   ${text.trim()}`)];
    const role = sign === '+' ? 'added' : 'removed';
    const shown = wrapVerbatim(sanitise(text, { tabs: 4 }), room);
    const painted = sign === ' ' ? wrapVerbatim(pen.highlight(shown.join('\n'), language, theme), room) : shown.map((line) => theme(role, line));
    const label = theme('number', String(number).padStart(digits));
    const mark = sign === ' ' ? '  ' : ` ${theme(role, sign)}`;
    return hang(painted, `${label}${mark} `, `${' '.repeat(digits)}${mark} `);
  });
}
