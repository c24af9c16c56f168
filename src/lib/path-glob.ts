/** Most spellings that the braces of one pattern may stand for. */
const MOST_SPELLINGS = 200;
const LONGEST_PATTERN = 1000;

type Token = { readonly type: 'any' | 'star' } | { readonly type: 'one'; readonly fits: (character: string) => boolean };
/** One segment of a pattern; `**` stands for any number of segments. */
type Segment = '**' | readonly Token[];

/**
 * A glob over paths with `/` between their segments, for patterns from anybody: `*`, `?`, `[…]`, `{a,b}`, `**` as a segment of
 * its own, `\` before a character that stands for itself. Names that begin with a dot are like any other, names of either Unicode
 * form fit, a pattern that ends in `/` means all that is below. Time grows with the product of the lengths, whatever the pattern.
 * Undefined for one that cannot be used: empty, too long, or with braces that stand for too much.
 */
export function pathGlob(pattern: string): ((path: string) => boolean) | undefined {
  const plain = pattern.normalize('NFC').trim().replace(/^(?:\.?\/)+/, '').replace(/\/+$/, '/**');
  if (plain === '' || plain.length > LONGEST_PATTERN) return undefined;
  const spellings = expand(plain);
  if (spellings === undefined) return undefined;
  const all = spellings.map((spelling) => spelling.split('/').filter((segment) => segment !== '').map(segmentOf));
  return (path) => {
    const names = path.normalize('NFC').split('/').filter((name) => name !== '').map((name) => Array.from(name));
    return all.some((segments) => matches(segments, names, fitsSegment));
  };
}

function segmentOf(text: string): Segment {
  if (text === '**') return '**';
  const tokens: Token[] = [];
  const characters = Array.from(text);
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] ?? '';
    const set = character === '[' ? classAt(characters, at) : undefined;
    if (character === '*') {
      if (tokens.at(-1)?.type !== 'star') tokens.push({ type: 'star' });
    } else if (character === '?') tokens.push({ type: 'any' });
    else if (set !== undefined) {
      tokens.push({ type: 'one', fits: set.fits });
      at = set.end;
    } else {
      if (character === '\\' && at + 1 < characters.length) at += 1;
      const wanted = characters[at] ?? '';
      tokens.push({ type: 'one', fits: (one) => one === wanted });
    }
  }
  return tokens;
}

/** `[abc]`, `[a-z]`, `[!a]`; undefined where the bracket is never closed. */
function classAt(characters: readonly string[], from: number): { readonly fits: (character: string) => boolean; readonly end: number } | undefined {
  const negated = characters[from + 1] === '!' || characters[from + 1] === '^';
  const start = from + (negated ? 2 : 1);
  const end = characters.indexOf(']', start + 1);
  if (end === -1) return undefined;
  const inside = characters.slice(start, end);
  const ranges: (readonly [string, string])[] = [];
  for (let at = 0; at < inside.length; at += 1) {
    const low = inside[at] ?? '';
    const high = inside[at + 1] === '-' ? inside[at + 2] : undefined;
    ranges.push([low, high ?? low]);
    if (high !== undefined) at += 2;
  }
  return { end, fits: (character) => ranges.some(([low, high]) => character >= low && character <= high) !== negated };
}

function isStar(part: Segment | Token): boolean {
  return part === '**' || (typeof part === 'object' && 'type' in part && part.type === 'star');
}

/** Goes back to the last star only: what an earlier one took more or less of would not help. */
function matches<P extends Segment | Token, T>(pattern: readonly P[], text: readonly T[], fits: (part: P, item: T) => boolean): boolean {
  let at = 0;
  let from = 0;
  let star = -1;
  let kept = 0;
  while (at < text.length) {
    const part = pattern[from];
    if (part !== undefined && isStar(part)) {
      star = from;
      from += 1;
      kept = at;
    } else if (part !== undefined && fits(part, text[at] as T)) {
      from += 1;
      at += 1;
    } else if (star >= 0) {
      from = star + 1;
      kept += 1;
      at = kept;
    } else return false;
  }
  return pattern.slice(from).every(isStar);
}

function fitsSegment(segment: Segment, name: readonly string[]): boolean {
  return segment !== '**' && matches(segment, name, (token, character) => token.type === 'any' || (token.type === 'one' && token.fits(character)));
}

/** The spellings that braces stand for; a brace without a comma, or without its other end, stands for itself. */
function expand(pattern: string): readonly string[] | undefined {
  const waiting = [pattern];
  const done: string[] = [];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const braces = firstBraces(next);
    if (braces === undefined) done.push(next);
    else for (const choice of braces.choices.toReversed()) waiting.push(braces.before + choice + braces.after);
    if (done.length + waiting.length > MOST_SPELLINGS) return undefined;
  }
  return done;
}

function firstBraces(pattern: string): { readonly before: string; readonly choices: readonly string[]; readonly after: string } | undefined {
  for (let open = pattern.indexOf('{'); open !== -1; open = pattern.indexOf('{', open + 1)) {
    if (pattern[open - 1] === '\\') continue;
    const choices: string[] = [];
    let depth = 0;
    let from = open + 1;
    for (let at = open; at < pattern.length; at += 1) {
      const character = pattern[at];
      if (character === '\\') at += 1;
      else if (character === '{') depth += 1;
      else if (character === '}') depth -= 1;
      if ((character === ',' && depth === 1) || depth === 0) {
        choices.push(pattern.slice(from, at));
        from = at + 1;
      }
      if (depth > 0) continue;
      if (choices.length < 2) break;
      return { before: pattern.slice(0, open), choices, after: pattern.slice(at + 1) };
    }
  }
  return undefined;
}
