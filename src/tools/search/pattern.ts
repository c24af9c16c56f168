/** A pattern that this process cannot take; the message says why. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

/** Classes that ripgrep reads by Unicode; JavaScript's own know ASCII only. */
const WORD = '\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}';
const CLASSES: Readonly<Record<string, string>> = { d: '\\p{Nd}', D: '\\P{Nd}', w: `[${WORD}]`, W: `[^${WORD}]`, s: '\\p{White_Space}', S: '\\P{White_Space}' };
const EDGE = `(?:(?<=[${WORD}])(?![${WORD}])|(?<![${WORD}])(?=[${WORD}]))`;
const NO_EDGE = `(?:(?<=[${WORD}])(?=[${WORD}])|(?<![${WORD}])(?![${WORD}]))`;
const PLACES: Readonly<Record<string, string>> = {
  b: EDGE, B: NO_EDGE, A: '(?<![^])', z: '(?![^])', Z: '(?![^])', '<': `(?<![${WORD}])(?=[${WORD}])`, '>': `(?<=[${WORD}])(?![${WORD}])`, a: '\\x07',
};
const POSIX: Readonly<Record<string, string>> = {
  alpha: 'a-zA-Z', digit: '0-9', alnum: 'a-zA-Z0-9', upper: 'A-Z', lower: 'a-z', space: '\\t\\n\\v\\f\\r ', blank: '\\t ', punct: '!-\\/:-@\\[-`\\{-~',
  xdigit: '0-9A-Fa-f', word: '\\w', cntrl: '\\x00-\\x1f\\x7f', print: ' -~', graph: '!-~', ascii: '\\x00-\\x7f',
};

/** Line ends are LF and CRLF, and nothing is between CR and LF. */
const LINE_START = '(?<![^\\n])';
const LINE_END = '(?=\\r?\\n|(?![^]))(?<!\\r(?=\\n))';

/** Escapes that mean the same in both languages. */
const SHARED = /^\\(?:[nrtvf]|[pP](?:\{[^}]+\}|[A-Z])|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|u\{[0-9a-fA-F]+\}|[1-9])/;

/** A pattern in ripgrep's language as a regular expression of this process. Throws {@link PatternError}. */
export function patternOf(source: string, options: { readonly ignoreCase: boolean; readonly multiline: boolean }): RegExp {
  const inline = /^\(\?([imsu]+)\)/.exec(source);
  const flags = inline?.[1] ?? '';
  const body = translate(source.slice(inline?.[0].length ?? 0));
  try {
    return new RegExp(body, `gsv${options.ignoreCase || flags.includes('i') ? 'i' : ''}`);
  } catch (error) {
    throw new PatternError(error instanceof Error ? error.message.replace(/^Invalid regular expression: /, '') : 'it cannot be read');
  }
}

function translate(source: string): string {
  let out = '';
  let depth = 0;
  let opened = false;
  for (let at = 0; at < source.length;) {
    const rest = source.slice(at, at + 80);
    const [piece, length] = pieceOf(rest, depth > 0, opened);
    opened = /^\[\^?$/.test(piece) && rest.startsWith(piece);
    if (opened) depth += 1;
    else if (piece === ']' && depth > 0) depth -= 1;
    out += piece;
    at += length;
  }
  return out;
}

/** What stands for the beginning of `rest`, and how many units of it. `]` and `-` right behind an opened class stand for themselves. */
function pieceOf(rest: string, inClass: boolean, opened: boolean): readonly [string, number] {
  if (rest.startsWith('\\')) return escapeOf(rest, inClass);
  if (opened && /^[\]-]/.test(rest)) return [`\\${rest.charAt(0)}`, 1];
  return inClass ? classPiece(rest) : plainPiece(rest);
}

function escapeOf(rest: string, inClass: boolean): readonly [string, number] {
  const wide = /^\\x\{([0-9a-fA-F]+)\}|^\\U([0-9a-fA-F]{8})/.exec(rest);
  if (wide !== null) return [`\\u{${(wide[1] ?? wide[2] ?? '').replace(/^0+(?=.)/, '')}}`, wide[0].length];
  const shared = SHARED.exec(rest);
  if (shared !== null) return [shared[0].replace(/^\\([pP])([A-Z])$/, '\\$1{$2}'), shared[0].length];
  const letter = rest.charAt(1);
  const special = CLASSES[letter] ?? (inClass ? undefined : PLACES[letter]);
  if (special !== undefined) return [special, 2];
  if (letter === '' || /[a-zA-Z0-9]/.test(letter)) throw new PatternError(`unknown escape ${rest.slice(0, 2)}`);
  return [literal(letter, inClass), 2];
}

/** A character that is to stand for itself. */
function literal(character: string, inClass: boolean): string {
  return (inClass ? /[()[\]{}/\-\\|&!#%,:;<=>@`~^]/ : /[\^$\\.*+?()[\]{}|/]/).test(character) ? `\\${character}` : character;
}

function plainPiece(rest: string): readonly [string, number] {
  const opening = /^\[\^?/.exec(rest);
  if (opening !== null) return [opening[0], opening[0].length];
  if (rest.startsWith('(?P<')) return ['(?<', 4];
  const repeat = /^\{(\d*)(,?)(\d*)\}/.exec(rest);
  if (repeat !== null && (repeat[1] !== '' || repeat[3] !== '')) return [`{${repeat[1] === '' ? '0' : repeat[1]}${repeat[2]}${repeat[3]}}`, repeat[0].length];
  if (rest.startsWith('^')) return [LINE_START, 1];
  if (rest.startsWith('$')) return [LINE_END, 1];
  const [first = ''] = rest;
  return [/[{}\]]/.test(first) ? `\\${first}` : first, first.length];
}

function classPiece(rest: string): readonly [string, number] {
  const posix = /^\[:(\^?)([a-z]+):\]/.exec(rest);
  const members = POSIX[posix?.[2] ?? ''];
  if (posix !== null && members !== undefined) return [posix[1] === '^' ? `[^${members}]` : members, posix[0].length];
  const opening = /^\[\^?/.exec(rest);
  if (opening !== null) return [opening[0], opening[0].length];
  if (rest.startsWith('&&') || rest.startsWith('--')) return [rest.slice(0, 2), 2];
  if (rest.startsWith('-]')) return ['\\-', 1];
  const [first = ''] = rest;
  return [/[(){}/|]/.test(first) ? `\\${first}` : first, first.length];
}
