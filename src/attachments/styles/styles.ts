import { opendirSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from '#lib/brand.ts';
import { messageOf } from '#lib/errors.ts';
import { readFrontMatter } from '#lib/front-matter.ts';
import { oneLine } from '#lib/names.ts';
import { readSmallFile } from '#lib/small-file.ts';
import { cutToLength } from '#lib/text.ts';
import { isWithin, realPathOf } from '#lib/within.ts';
import type { OutputStyle } from '#domain/world.ts';
import concise from './concise.md';
import explanatory from './explanatory.md';
import learning from './learning.md';

/** A style as it is listed. `from` says where it was found. */
export interface ListedStyle extends OutputStyle {
  readonly description: string;
  readonly from: string;
}

export interface StyleFolder {
  readonly path: string;
  readonly from: string;
  /** Files that lead out of this folder by a link are left out. */
  readonly within?: string;
}

export interface Styles {
  /** One of each name; the strongest. */
  readonly all: readonly ListedStyle[];
  /** What could not be used, one line each. */
  readonly problems: readonly string[];
}

/** The style in which nothing is asked of answers. */
export const PLAIN_STYLE = 'default';

const BUILT_IN: readonly ListedStyle[] = [
  { name: PLAIN_STYLE, description: 'Brief answers, as the program has them by itself', body: '', from: 'built in' },
  { name: 'explanatory', description: 'Says with the work why it is done so, and what is worth knowing of the code base', body: explanatory, from: 'built in' },
  { name: 'learning', description: 'Leaves you a piece to write yourself and looks at it with you', body: learning, from: 'built in' },
  { name: 'concise', description: 'The shortest answers that are complete', body: concise, from: 'built in' },
];

/** A style is some paragraphs. */
const MOST_BYTES = 64 * 1024;
const MOST_FILES = 100;
const LONGEST_NAME = 60;
const LONGEST_DESCRIPTION = 200;
const LONGEST_INTRODUCTION = 1000;

/**
 * The built-in styles and those of the folders (Markdown files with front matter), the strongest folder last: a later one of the
 * same name takes an earlier one's place. What cannot be read is a line of `problems`; a folder that is missing is none.
 */
export async function readStyles(folders: readonly StyleFolder[]): Promise<Styles> {
  const problems: string[] = [];
  const all = new Map(BUILT_IN.map((style) => [keyOf(style.name), style]));
  for (const folder of folders) {
    for (const name of namesIn(folder.path, problems)) {
      const style = await readStyle(join(folder.path, name), name, folder, problems);
      if (style !== undefined) all.set(keyOf(style.name), style);
    }
  }
  return { all: [...all.values()], problems };
}

/** The style of a name, in any case. */
export function styleNamed(name: string, all: readonly ListedStyle[]): ListedStyle | undefined {
  return all.find((style) => keyOf(style.name) === keyOf(name));
}

const keyOf = (name: string): string => name.trim().normalize('NFC').toLowerCase();

function namesIn(folder: string, problems: string[]): readonly string[] {
  const names: string[] = [];
  try {
    const listing = opendirSync(folder);
    try {
      for (let entry = listing.readSync(); entry !== null; entry = listing.readSync()) {
        if (!entry.name.endsWith('.md') || entry.name.startsWith('.')) continue;
        if (names.length === MOST_FILES) {
          problems.push(`${oneLine(folder)}: more than ${MOST_FILES} files; the rest is left out.`);
          break;
        }
        names.push(entry.name);
      }
    } finally {
      listing.closeSync();
    }
  } catch (error) {
    if (!isMissing(error)) problems.push(`${oneLine(folder)} cannot be read: ${messageOf(error)}`);
  }
  return names.sort();
}

async function readStyle(file: string, fileName: string, { from, within }: StyleFolder, problems: string[]): Promise<ListedStyle | undefined> {
  const problem = (what: string): undefined => { problems.push(`output style ${oneLine(file)}: ${what}`); };
  try {
    if (within !== undefined && !isWithin(realPathOf(within), realPathOf(file))) return problem('it leads out of the project and is left out.');
    const { fields, body, problem: unread } = await readFrontMatter(readSmallFile(file, MOST_BYTES));
    if (unread !== undefined) problem(unread);
    const name = lineOf(fields['name'], LONGEST_NAME) ?? lineOf(fileName.replace(/\.md$/, ''), LONGEST_NAME);
    if (name === undefined) return problem('it has no name.');
    const companion = companionIn(fields['companion']);
    if (fields['companion'] !== undefined && companion === undefined) problem('"companion" must have the texts "name" and "text"; it was left out.');
    if (body.trim() === '' && companion === undefined) return problem('it says nothing.');
    return { name, body: body.trim(), description: lineOf(fields['description'], LONGEST_DESCRIPTION) ?? '', from, ...(companion !== undefined && { companion }) };
  } catch (error) {
    return problem(`it cannot be read: ${messageOf(error)}`);
  }
}

function lineOf(value: Json | undefined, longest: number): string | undefined {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value).replace(/[\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim() : '';
  return text === '' ? undefined : cutToLength(text, longest);
}

function companionIn(value: Json | undefined): OutputStyle['companion'] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const { name: named, text: said } = value as Readonly<Record<string, Json>>;
  const name = lineOf(named, LONGEST_NAME);
  const text = typeof said === 'string' ? cutToLength(said.trim(), LONGEST_INTRODUCTION) : '';
  return name === undefined || text === '' ? undefined : { name, text };
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}
