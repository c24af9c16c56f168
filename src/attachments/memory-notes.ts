import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type MiniSearch from 'minisearch';
import { fsPath, nameFromBytes } from '#lib/names.ts';
import { count, cutToBytes } from '#lib/text.ts';
import { realPathOf } from '#lib/within.ts';
import type { PathPort } from '#domain/documents.ts';
import type { MemoryFile } from '#domain/world.ts';
import type { MemoryText, MemoryTexts } from './memory-texts.ts';
import { wordsIn } from './memory-words.ts';

/** Folders of kept notes, absolute. */
export interface NotesOptions {
  /** Where the model may write them. */
  readonly folder: string;
  /** Those of other programs: read, never written. */
  readonly others: readonly string[];
}

export interface Notes {
  /** The index of each folder, cut; that of our own folder also where it is not there yet. */
  index(): Promise<readonly MemoryFile[]>;
  /** Notes that bear on a text, the likeliest first. */
  recall(text: string, except: ReadonlySet<string>, signal: AbortSignal): Promise<readonly MemoryFile[]>;
  /** Every note, whole. */
  all(): Promise<readonly MemoryFile[]>;
}

interface Doors {
  readonly texts: MemoryTexts;
  readonly paths: PathPort;
  readonly kept: () => NotesOptions | undefined;
}

interface Note {
  readonly path: string;
  readonly name: string;
  readonly text: MemoryText;
}

export const INDEX = 'MEMORY.md';
const INDEX_LINES = 200;
const INDEX_BYTES = 25 * 1024;
/** Of one note that is recalled. */
const NOTE_LINES = 200;
const NOTE_BYTES = 4 * 1024;
const MOST_RECALLED = 5;
/** Notes of one folder that are looked at. */
const MOST_NOTES = 500;
/** Words of a prompt by which notes are looked for. */
const MOST_WORDS = 300;
/** Characters of a note by which it is found. */
const SEARCHED = 16_000;
/** Milliseconds after which what is indexed by then must do; the rest is there at the next prompt. */
const INDEX_MS = 600;
/** A note counts if it is at least this near to the best one. */
const NEAR = 0.4;

const ABOUT = 'What outlasts a session may be written here: a topic a .md file in this folder, one line about each in this index.';

/** Kept notes: Markdown files that lie directly in a folder. Links and hidden files are none. The index in memory follows the disk. */
export function createNotes(doors: Doors): Notes {
  const search = createSearch();
  const all = async (): Promise<readonly Note[]> => {
    const kept = doors.kept();
    return kept === undefined ? [] : (await Promise.all([kept.folder, ...kept.others].map((folder) => notesIn(folder, doors)))).flat();
  };
  return {
    async index() {
      const kept = doors.kept();
      if (kept === undefined) return [];
      const own = await indexOf(kept.folder, doors, ABOUT);
      const others = await Promise.all(kept.others.map((folder) => indexOf(folder, doors)));
      return [own, ...others].filter((file) => file !== undefined);
    },
    async recall(text, except, signal) {
      const words = wordsIn(text).slice(0, MOST_WORDS);
      if (words.length === 0) return [];
      const notes = await all();
      signal.throwIfAborted();
      if (notes.length === 0) return [];
      const found = await search(notes, words);
      signal.throwIfAborted();
      return found.filter(({ path }) => !except.has(path)).slice(0, MOST_RECALLED).map((note) => fileOf(note, NOTE_LINES, NOTE_BYTES));
    },
    all: async () => (await all()).map((note) => fileOf(note, Infinity, Infinity)),
  };
}

async function indexOf(folder: string, { texts, paths }: Doors, about?: string): Promise<MemoryFile | undefined> {
  const path = join(realPathOf(folder), INDEX);
  const { kind, real, denied } = await paths.lookUp(path, folder);
  const text = kind === 'file' && real === path && !denied ? await texts(real) : undefined;
  if (typeof text !== 'object') return about === undefined ? undefined : { path, scope: 'notes', text: about, notes: text === undefined ? [] : [text] };
  const { text: shown, notes, hash } = fileOf({ path, name: INDEX, text }, INDEX_LINES, INDEX_BYTES);
  return { path, scope: 'notes', text: [about, shown.trim()].filter((part) => part !== undefined && part !== '').join('\n\n'), notes, ...(hash !== undefined && { hash }) };
}

async function notesIn(folder: string, { texts, paths }: Doors): Promise<readonly Note[]> {
  const real = realPathOf(folder);
  const entries = await readdir(fsPath(real), { withFileTypes: true, encoding: 'buffer' }).catch(() => []);
  const names = entries.filter((entry) => entry.isFile()).map(({ name }) => nameFromBytes(name)).filter((name) => /^[^.].*\.md$/i.test(name) && name !== INDEX).sort().slice(0, MOST_NOTES);
  const notes = await Promise.all(names.map(async (name): Promise<Note | undefined> => {
    const path = join(real, name);
    const found = await paths.lookUp(path, real);
    const text = found.denied || found.real !== path ? undefined : await texts(path);
    return typeof text === 'object' ? { path, name, text } : undefined;
  }));
  return notes.filter((note) => note !== undefined);
}

function fileOf({ path, text }: Note, mostLines: number, mostBytes: number): MemoryFile {
  const lines = text.text.split('\n');
  const shown = cutToBytes(lines.slice(0, mostLines).join('\n'), mostBytes);
  const whole = shown.length === text.text.length;
  const shownLines = shown.split('\n').length;
  return {
    path, scope: 'notes', text: shown,
    notes: [
      ...(whole ? [] : [`the first ${shownLines} of ${count(lines.length, 'line')}`]),
      ...(text.removed > 0 ? [`${text.removed} invisible characters were taken out`] : []),
    ],
    changedOn: new Date(text.changedAtMs).toISOString().slice(0, 10),
    ...(whole && text.exact && { hash: text.hash }),
  };
}

interface Indexed {
  readonly id: string;
  readonly title: string;
  readonly body: string;
}

/** Words of notes, kept from prompt to prompt: what changed on disk is put in anew, in pieces that leave room for other work. */
function createSearch(): (notes: readonly Note[], words: readonly string[]) => Promise<readonly Note[]> {
  let made: Promise<MiniSearch<Indexed>> | undefined;
  const held = new Map<string, MemoryText>();
  let updating: Promise<void> = Promise.resolve();
  const update = async (index: MiniSearch<Indexed>, notes: readonly Note[]): Promise<void> => {
    const there = new Map(notes.map((note) => [note.path, note]));
    for (const [path, text] of held) {
      if (there.get(path)?.text.hash === text.hash) continue;
      held.delete(path);
      index.discard(path);
    }
    for (const note of notes.filter(({ path }) => !held.has(path))) {
      index.add({ id: note.path, title: titleOf(note), body: note.text.text.slice(0, SEARCHED) });
      held.set(note.path, note.text);
      await new Promise((resolve) => { setImmediate(resolve); });
    }
  };
  return async (notes, words) => {
    const index = await (made ??= newIndex());
    updating = updating.then(() => update(index, notes));
    await within(INDEX_MS, updating);
    return fitting(index, notes, words);
  };
}

async function newIndex(): Promise<MiniSearch<Indexed>> {
  const { default: Search } = await import('minisearch');
  return new Search<Indexed>({ fields: ['title', 'body'], tokenize: (text) => [...wordsIn(text)], processTerm: (word) => word });
}

/** The file's name, its headings and its description are what a note says of itself. */
function titleOf({ name, text }: Note): string {
  const lines = text.text.slice(0, SEARCHED).split('\n').filter((line) => /^(?:#{1,3} |(?:name|title|description):)/.test(line));
  return [name.replace(/\.md$/i, ''), ...lines.slice(0, 20)].join('\n');
}

/** Nothing where nothing fits: a word in common is chance, the more so the longer the text, unless the note is about it. */
function fitting(index: MiniSearch<Indexed>, notes: readonly Note[], words: readonly string[]): readonly Note[] {
  const common = new Set(words.filter((word) => isCommon(index, word, notes.length)));
  const query = words.filter((word) => !common.has(word));
  if (query.length === 0) return [];
  const results = index.search(query.join(' '), { boost: { title: 3 }, prefix: (word) => word.length >= 4, combineWith: 'OR' });
  const needed = Math.max(2, Math.ceil(Math.sqrt(query.length) / 2));
  const sound = results.filter(({ queryTerms, match }) => queryTerms.length + Object.values(match).filter((fields) => fields.includes('title')).length >= needed);
  const best = sound[0]?.score ?? 0;
  const byPath = new Map(notes.map((note) => [note.path, note]));
  return sound.filter(({ score }) => score >= best * NEAR).map(({ id }) => byPath.get(String(id))).filter((note) => note !== undefined);
}

/** A word of most notes tells none from another. */
function isCommon(index: MiniSearch<Indexed>, word: string, all: number): boolean {
  return all >= 4 && index.search(word, { fields: ['title', 'body'] }).length > all * 0.6;
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([work, new Promise<void>((resolve) => { timer = setTimeout(resolve, ms); })]);
  clearTimeout(timer);
}
