import { cutToLength } from '#lib/text.ts';

const MOST_LINES = 200;
const LONGEST_LINE = 500;

/** The newest lines that a server wrote and that were written of it. */
export interface ServerLog {
  lines(): readonly string[];
  add(text: string): void;
}

export function createLog(now: () => Date = () => new Date()): ServerLog {
  const kept: string[] = [];
  return {
    lines: () => kept,
    add(text) {
      // Of megabytes in one piece only the end is looked at.
      const lines = text.slice(-MOST_LINES * LONGEST_LINE).split(/\r\n|\n|\r/).map((line) => line.trimEnd()).filter((line) => line !== '').slice(-MOST_LINES);
      const at = now().toTimeString().slice(0, 8);
      kept.push(...lines.map((line) => `${at} ${cutToLength(line, LONGEST_LINE)}`));
      if (kept.length > MOST_LINES) kept.splice(0, kept.length - MOST_LINES);
    },
  };
}
