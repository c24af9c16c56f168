import { markControls } from '#lib/marks.ts';
import { cutToLength } from '#lib/text.ts';

/** What a server wrote and what happened to it: the newest lines, kept in memory only. */
export interface ServerLog {
  /** Every line of the text becomes a line of the log; blank ones do not. */
  write(text: string): void;
  /** Newest last. */
  lines(): readonly string[];
}

const MOST_LINES = 400;
const LONGEST_LINE = 500;
/** Of one text that a server wrote no more lines than this are taken. */
const MOST_AT_ONCE = 40;

export function createLog(now: () => Date = () => new Date()): ServerLog {
  const kept: string[] = [];
  return {
    write(text) {
      const lines = text.slice(0, MOST_AT_ONCE * LONGEST_LINE).split(/\r?\n/).filter((line) => line.trim() !== '');
      const time = now().toTimeString().slice(0, 8);
      for (const line of lines.slice(0, MOST_AT_ONCE)) {
        const shown = cutToLength(line, LONGEST_LINE);
        kept.push(markControls(`${time} ${shown.toWellFormed()}${shown.length < line.length ? '…' : ''}`));
      }
      if (kept.length > MOST_LINES) kept.splice(0, kept.length - MOST_LINES);
    },
    lines: () => [...kept],
  };
}
