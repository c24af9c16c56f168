import { candidatesIn } from './candidates.ts';
import type { Candidate } from './candidates.ts';
import { looksLikePath, readingsOf, trimmed } from './readings.ts';
import type { LineRange, Reading } from './readings.ts';

/** What a path leads to; `undefined` where nothing is there, or nothing that can be looked at. */
export type Look<T> = (path: string) => Promise<T | undefined> | T | undefined;

/** A mention that names something. `raw` is the text from the `@` on; `start` and `end` are offsets in UTF-16 units. */
export interface Mention<T> {
  readonly found: T;
  readonly raw: string;
  readonly start: number;
  readonly end: number;
  readonly lines?: LineRange;
}

export interface Mentions<T> {
  readonly mentions: readonly Mention<T>[];
  /** Looks like a path and names nothing; one `@…` each. */
  readonly unresolved: readonly string[];
  /** Whether the text has more ways to be read than are tried; what came after that was not looked at. */
  readonly gaveUp: boolean;
}

/** Ways to read one candidate, and those of a whole text, that are tried. People write few; pasted data can hold any number. */
const MOST_READINGS_EACH = 256;
const MOST_READINGS = 32_768;
/** Most different paths that are looked at. */
const MOST_LOOKS = 2048;

/** Finds the mentions of a text. Never throws; a look that throws found nothing. `elsewhere`: a candidate names something else, and is neither looked up nor missing. */
export async function findMentions<T>(text: string, look: Look<T>, elsewhere: (candidate: Candidate) => boolean = () => false): Promise<Mentions<T>> {
  const mentions: Mention<T>[] = [];
  const unresolved = new Set<string>();
  const search = createSearch(look);
  let end = 0;
  for (const candidate of candidatesIn(text)) {
    if (candidate.start < end || elsewhere(candidate)) continue;
    const hit = await search.first(candidate);
    if (search.spent()) break;
    if (hit !== undefined) {
      const { found, reading: { lines, end: length } } = hit;
      end = candidate.start + length;
      mentions.push({ found, raw: text.slice(candidate.start, end), start: candidate.start, end, ...(lines === undefined ? {} : { lines }) });
    } else if (looksLikePath(candidate)) unresolved.add(`@${trimmed(candidate)}`);
  }
  return { mentions, unresolved: [...unresolved], gaveUp: search.spent() };
}

interface Search<T> {
  /** The best reading that names something. */
  first(candidate: Candidate): Promise<{ readonly found: T; readonly reading: Reading } | undefined>;
  spent(): boolean;
}

/** Looks at each path once, and tries no word twice that named nothing. */
function createSearch<T>(look: Look<T>): Search<T> {
  const known = new Map<string, T | undefined>();
  const inVain = new Set<string>();
  let left = MOST_READINGS;
  const at = async (path: string): Promise<T | undefined> => {
    try {
      return await look(path);
    } catch {
      return undefined;
    }
  };
  return {
    spent: () => left < 0 || known.size > MOST_LOOKS,
    async first(candidate) {
      if (candidate.form === 'bare' && inVain.has(candidate.text)) return undefined;
      const least = left - MOST_READINGS_EACH;
      for (const reading of readingsOf(candidate)) {
        left -= 1;
        if (left < Math.max(0, least) || known.size > MOST_LOOKS) break;
        if (!known.has(reading.path)) known.set(reading.path, await at(reading.path));
        const found = known.get(reading.path);
        if (found !== undefined) return { found, reading };
      }
      inVain.add(candidate.text);
      return undefined;
    },
  };
}
