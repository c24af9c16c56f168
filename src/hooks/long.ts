import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cutToLength } from '#lib/text.ts';

export const LONGEST = 10_000;
const PREVIEW = 2000;

/** A text as it is, or its beginning with the file that holds all of it. `kept` is told of the file. */
export function keepLong(text: string, folder: string, name: string, kept: (file: string) => void): string {
  if (text.length <= LONGEST) return text;
  const beginning = cutToLength(text, PREVIEW);
  const file = join(folder, `${name}.txt`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(file, text, { mode: 0o600 });
  } catch {
    return `${beginning}\n[cut: ${text.length} characters in all; they could not be kept]`;
  }
  kept(file);
  return `${beginning}\n[cut: ${text.length} characters in all, in ${file}]`;
}
