import { appendFileSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import writeFileAtomic from 'write-file-atomic';

interface Line {
  readonly cwd: string;
  readonly text: string;
}

const MOST_LINES = 1000;
const LARGEST_BYTES = 4 * 1024 * 1024;

/** What was entered in a directory, oldest first, without neighbours that are the same. */
export function readHistory(file: string, cwd: string): readonly string[] {
  return lines(file).filter((line) => line.cwd === cwd).map(({ text }) => text)
    .filter((text, i, all) => text !== all[i - 1]).slice(-MOST_LINES);
}

/** Keeps one entered line. History is a comfort: a disk that takes nothing costs the line, not the work. */
export function keepHistory(file: string, cwd: string, text: string): void {
  if (text.trim() === '') return;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    appendFileSync(file, `${JSON.stringify({ cwd, text, at: new Date().toISOString() })}\n`, { mode: 0o600 });
    if (statSync(file).size > LARGEST_BYTES) writeFileAtomic.sync(file, `${lines(file).slice(-MOST_LINES).map((line) => JSON.stringify(line)).join('\n')}\n`, { mode: 0o600 });
  } catch {
    return;
  }
}

function lines(file: string): readonly Line[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return [];
  }
  return text.split('\n').flatMap((line): Line[] => {
    try {
      const value = JSON.parse(line) as Partial<Line> | null;
      return typeof value?.cwd === 'string' && typeof value.text === 'string' ? [value as Line] : [];
    } catch {
      return [];
    }
  });
}
