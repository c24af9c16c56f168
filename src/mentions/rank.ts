import { Fzf } from 'fzf';

/** Paths that can be searched. A directory ends in `/`. */
export interface Ranking {
  /** Paths that are there already cost nothing; the folders above each path are added with it. */
  add(paths: readonly string[]): void;
  size(): number;
  /** Every match, best first, as far as it was ranked: the first {@link RANKED} by a rough score are put in order, none else are given. Names compare under NFC and whatever their case. */
  search(query: string): { readonly paths: readonly string[]; readonly matches: number };
  /** Shallow ones first; `limit` of them. */
  shallow(limit: number): readonly string[];
}

/** So many of the roughly best are put in order by the slow and good matcher. */
const RANKED = 500;
const MOST_PATHS = 400_000;

export function createRanking(): Ranking {
  const paths: string[] = [];
  const lower: string[] = [];
  const masks: number[] = [];
  const known = new Set<string>();
  let last: { readonly query: string; readonly size: number; readonly found: Int32Array } | undefined;

  const addOne = (path: string): void => {
    if (path === '' || known.has(path) || known.size >= MOST_PATHS) return;
    known.add(path);
    paths.push(path);
    const folded = foldOf(path);
    lower.push(folded);
    masks.push(maskOf(folded));
  };
  const addFolders = (path: string): void => {
    for (let at = path.lastIndexOf('/', path.length - 2); at > 0; at = path.lastIndexOf('/', at - 1)) {
      const folder = path.slice(0, at + 1);
      if (known.has(folder)) return;
      addOne(folder);
    }
  };
  const matchesOf = (query: string): Int32Array => {
    const narrower = last !== undefined && last.size === paths.length && query.startsWith(last.query);
    const found = filter(narrower ? last?.found : undefined, { lower, masks }, query);
    last = { query, size: paths.length, found };
    return found;
  };

  return {
    add(more) {
      for (const path of more) {
        addOne(path);
        addFolders(path);
      }
    },
    size: () => paths.length,
    search(query) {
      const folded = foldOf(query);
      const found = matchesOf(folded);
      const best = roughlyBest(found, lower, folded).map((at) => paths[at] ?? '');
      return { paths: inOrder(best, folded), matches: found.length };
    },
    shallow: (limit) => shallowest(paths, limit),
  };
}

function foldOf(text: string): string {
  return composed(text).toLowerCase();
}

function composed(text: string): string {
  return /[^\0-\x7f]/.test(text) ? text.normalize('NFC') : text;
}

/** One bit for each letter; digits, dots, dashes, slashes and everything else share one bit each. */
function maskOf(text: string): number {
  let mask = 0;
  for (let at = 0; at < text.length; at += 1) mask |= 1 << bitOf(text.charCodeAt(at));
  return mask;
}

function bitOf(code: number): number {
  if (code >= 97 && code <= 122) return code - 97;
  if (code >= 48 && code <= 57) return 26;
  if (code === 46) return 27;
  if (code === 45 || code === 95 || code === 32) return 28;
  return code === 47 ? 29 : 30;
}

function filter(among: Int32Array | undefined, { lower, masks }: { readonly lower: readonly string[]; readonly masks: readonly number[] }, query: string): Int32Array {
  const wanted = maskOf(query);
  const count = among?.length ?? lower.length;
  const found = new Int32Array(count);
  let length = 0;
  for (let index = 0; index < count; index += 1) {
    const at = among === undefined ? index : among[index] ?? 0;
    if (((masks[at] ?? 0) & wanted) === wanted && holdsInOrder(lower[at] ?? '', query)) {
      found[length] = at;
      length += 1;
    }
  }
  return found.subarray(0, length);
}

function holdsInOrder(text: string, query: string): boolean {
  let from = 0;
  for (let at = 0; at < query.length; at += 1) {
    from = text.indexOf(query.charAt(at), from) + 1;
    if (from === 0) return false;
  }
  return true;
}

/** Rough scores are whole numbers below this. */
const HIGHEST = 1024;

function roughlyBest(found: Int32Array, lower: readonly string[], query: string): readonly number[] {
  if (found.length <= RANKED) return [...found];
  const scores = new Int16Array(found.length);
  const counts = new Int32Array(HIGHEST);
  for (let index = 0; index < found.length; index += 1) {
    const score = roughScore(lower[found[index] ?? 0] ?? '', query);
    scores[index] = score;
    counts[score] = (counts[score] ?? 0) + 1;
  }
  let least = HIGHEST;
  for (let taken = 0; least > 0 && taken < RANKED;) {
    least -= 1;
    taken += counts[least] ?? 0;
  }
  const better: number[] = [];
  const equal: number[] = [];
  for (let index = 0; index < found.length; index += 1) {
    const score = scores[index] ?? 0;
    if (score > least) better.push(found[index] ?? 0);
    else if (score === least && equal.length < RANKED) equal.push(found[index] ?? 0);
  }
  return [...better, ...equal.slice(0, RANKED - better.length)];
}

/** Prefers names that begin with the query, then names and paths that hold it in one piece, then short and shallow paths. */
function roughScore(path: string, query: string): number {
  const base = path.lastIndexOf('/', path.length - 2) + 1;
  const whole = path.indexOf(query, base);
  let score = 300 - Math.min(path.length, 300);
  if (whole === base) score += path.length - base <= query.length + 5 ? 700 : 500;
  else if (whole !== -1) score += 350;
  else if (base > 0 && path.includes(query)) score += 200;
  return score;
}

/** What the matcher gives; its own declarations do not resolve under Node's rules. */
interface Ranked {
  readonly item: string;
}

/** By the matcher's order; what it does not see as a match (it folds single characters only) stays behind, in the order given. */
function inOrder(paths: readonly string[], query: string): readonly string[] {
  const shorterFirst = (a: Ranked, b: Ranked): number => a.item.length - b.item.length;
  const finder = new Fzf(paths, { selector: composed, casing: 'case-insensitive', forward: false, tiebreakers: [shorterFirst], normalize: false });
  const ranked: readonly Ranked[] = finder.find(query);
  return [...new Set([...ranked.map(({ item }) => item), ...paths])];
}

function shallowest(paths: readonly string[], limit: number): readonly string[] {
  const levels = new Map<number, string[]>();
  for (const path of paths) {
    const depth = depthOf(path);
    const level = levels.get(depth);
    if (level === undefined) levels.set(depth, [path]);
    else level.push(path);
  }
  const chosen: string[] = [];
  for (const depth of [...levels.keys()].sort((a, b) => a - b)) {
    if (chosen.length >= limit) break;
    chosen.push(...(levels.get(depth) ?? []).sort(hiddenLast));
  }
  return chosen.slice(0, limit);
}

function depthOf(path: string): number {
  let depth = 0;
  for (let at = path.indexOf('/'); at !== -1 && at < path.length - 1; at = path.indexOf('/', at + 1)) depth += 1;
  return depth;
}

function hiddenLast(a: string, b: string): number {
  const [hiddenA, hiddenB] = [a.startsWith('.'), b.startsWith('.')];
  return hiddenA === hiddenB ? (a < b ? -1 : 1) : hiddenA ? 1 : -1;
}
